"""Subscriptions of OLM Classic, each in a namespace with a catalog of its own."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from api.objects import KubeObject, condition, namespace_of
from api.operators.names import V1ALPHA1
from e2e.harness.controlplane import ControlPlane
from e2e.harness.machine import Machine
from e2e.harness.process import ChildProcess
from e2e.olm.api import conditions_text
from e2e.olm.bundles import BundleSpec
from e2e.olm.catalog_servers import CatalogServer
from e2e.olm.classic import Classic, Place, status
from e2e.olm.fbc import package_blobs
from tests.integration.faults.life import Phase, Picture, line_of

TARGET = {Phase.INSTALL: "1.0.0", Phase.UPDATE: "1.1.0"}
NOT_ANSWERED = "EnsureInstallPlanFailed"
"""Says that a plan could not be written, which is true until the next try."""
KINDS_OF_ONE_LIFE = {
    Phase.INSTALL: {"Subscription": 1, "InstallPlan": 1, "ClusterServiceVersion": 1},
    Phase.UPDATE: {"Subscription": 1, "InstallPlan": 2, "ClusterServiceVersion": 1},
}
STATUS_COUNTS = ("Subscription", "InstallPlan", "CatalogSource")
RANDOM = (
    (re.compile(r"\binstall-[a-z0-9]{5}\b"), "install-RANDOM"),
    (re.compile(r'("resourceVersion"|"olm\.[a-z.-]*generation"):"\d+"'), r'\1:"NUMBER"'),
    (re.compile(r"\b(?=[0-9A-Za-z]*[0-9])[0-9A-Za-z]{34,}\b"), "HASH"),
    # Of a step whose write was done and not answered the next try finds that its object is there.
    (re.compile(r'"status":"Present"'), '"status":"Created"'),
    (re.compile(r"127\.0\.0\.1:\d+"), "ADDRESS"),
)
"""What differs from life to life, and is right."""


class Subscriptions:
    """A scenario: install, and update by another channel, by catalog-operator."""

    phases = (Phase.INSTALL, Phase.UPDATE)
    machine: Machine | None = None
    writes_at_start = 3
    """States of the connection to the catalog, which begins anew."""

    def __init__(self, classic: Classic) -> None:
        self._classic = classic
        self._served: dict[str, CatalogServer] = {}

    @property
    def control_plane(self) -> ControlPlane:
        return self._classic.control_plane

    @property
    def program(self) -> ChildProcess | None:
        return self._classic.program

    def start(self) -> None:
        self._classic.start()

    def publish(self, keys: Sequence[str]) -> None:
        blobs = [blob for key in keys for blob in self._package(key)]
        self._served |= dict.fromkeys(keys, self._classic.serve(blobs))

    def _package(self, key: str) -> Iterable[Mapping[str, Any]]:
        """A package whose channel `stable` has 1.0.0, and `fast` the update of it."""
        versions = [
            self._bundle(key, version).publish(self._classic.registry)
            for version in TARGET.values()
        ]
        package, fast, *bundles = package_blobs(versions)
        first = fast["entries"][:1]
        yield package
        yield {**fast, "name": "fast"}
        yield {**fast, "entries": first}
        yield from bundles

    def _bundle(self, key: str, version: str) -> BundleSpec:
        group = f"{key}.example.com"
        named = ("settings", f"of-{version}")
        return BundleSpec(package=key, version=version, configmaps=named, crd_group=group)

    def request(self, phase: Phase, key: str) -> None:
        if phase is Phase.UPDATE:
            place = Place(self._classic, key)
            place.patch("subscriptions", key, {"spec": {"channel": "fast"}})
            return
        place = self._classic.place(name=key)
        address = {"sourceType": "grpc", "address": self._served[key].address}
        place.create(V1ALPHA1, "CatalogSource", "operators", address)
        place.subscribe(key, source="operators", channel="stable")

    def found(self) -> Mapping[str, KubeObject]:
        every = self._classic.api.list(f"/apis/{V1ALPHA1}/subscriptions")
        return {namespace_of(each): each for each in every}

    def has_arrived(self, phase: Phase, obj: KubeObject | None) -> bool:
        if obj is None:
            return False
        csv = f"{namespace_of(obj)}.v{TARGET[phase]}"
        return (status(obj, "state"), status(obj, "installedCSV")) == ("AtLatestKnown", csv)

    def lie(self, phase: Phase, obj: KubeObject) -> str:
        for kind in ("InstallPlanFailed", "ResolutionFailed", "BundleUnpackFailed"):
            found = condition(obj, kind)
            if found and found["status"] == "True" and found["reason"] != NOT_ANSWERED:
                return f"{kind} during {phase}:\n{conditions_text(obj)}"
        return ""

    def line(self, obj: KubeObject, key: str) -> str:
        content = dict(obj)
        if obj["kind"] not in STATUS_COUNTS:
            content.pop("status", None)
        if "binaryData" in obj:  # compressed, and has the key in it
            content["binaryData"] = sorted(obj["binaryData"])
        if obj["kind"] == "CustomResourceDefinition":  # named by hashes of their values
            noted = sorted((obj["metadata"].get("annotations") or {}).values())
            content["metadata"] = {**obj["metadata"], "annotations": noted}
        text = line_of(content, key)
        for pattern, instead in RANDOM:
            text = pattern.sub(instead, text)
        return text

    def plausible(self, phase: Phase, picture: Picture) -> bool:
        kinds = KINDS_OF_ONE_LIFE[phase]
        counts = {kind: sum(line.startswith(f"{kind} ") for line in picture) for kind in kinds}
        return counts == kinds
