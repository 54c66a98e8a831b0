"""Extensions of OLM v1, in one namespace, from catalogs of their packages."""

from collections.abc import Mapping, Sequence
from typing import Any

from api.objects import KubeObject, condition, name_of
from e2e.harness.controlplane import ControlPlane
from e2e.harness.images import catalog_image
from e2e.harness.machine import Machine
from e2e.harness.process import ChildProcess
from e2e.olm.api import OLM, Api, catalog_path, conditions_text, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.fbc import catalog_files, package_blobs
from e2e.olm.manifests import catalog, installer, namespace
from e2e.olm.programs import Olm
from tests.integration.faults.life import Phase, Picture, line_of

NAMESPACE = "faults"
VERSIONS = ("1.0.0", "1.1.0")
TARGET = {Phase.INSTALL: "1.0.0", Phase.UPDATE: "1.1.0", Phase.ROLLBACK: "1.0.0"}
OBJECTS_COUNTED = 3
"""ConfigMaps and definitions in each version of `bundles`."""


def bundles(key: str) -> list[BundleSpec]:
    """Two versions that differ in their ConfigMaps."""
    group = f"{key}.example.com"
    return [
        BundleSpec(package=key, version=v, configmaps=("settings", f"of-{v}"), crd_group=group)
        for v in VERSIONS
    ]


class Extensions:
    """A scenario: install, update, rollback, deletion by operator-controller."""

    phases = tuple(Phase)
    writes_at_start = 0

    def __init__(self, olm: Olm, api: Api) -> None:
        self._olm = olm
        self._api = api
        self._catalogs = 0

    @property
    def control_plane(self) -> ControlPlane:
        return self._olm.control_plane

    @property
    def program(self) -> ChildProcess | None:
        return self._olm.operator_controller

    @property
    def machine(self) -> Machine | None:
        return self._olm.machine

    def prepare(self) -> None:
        """The namespace and the account that all extensions share."""
        self.control_plane.apply(namespace(NAMESPACE) + "---" + installer(NAMESPACE))

    def start(self) -> None:
        self._olm.start_operator_controller()

    def publish(self, keys: Sequence[str]) -> None:
        registry = self._olm.registry
        blobs = [package_blobs(b.publish(registry) for b in bundles(key)) for key in keys]
        self._catalogs += 1
        name = f"faults-{self._catalogs}"
        image = registry.push(catalog_image(catalog_files(blobs)), name, tag="latest")
        self.control_plane.apply(catalog(name, image.tag_reference))
        self._api.wait_condition(catalog_path(name), "Serving", "True")

    def request(self, phase: Phase, key: str) -> None:
        path = extension_path(key)
        source: dict[str, Any] = {"packageName": key, "version": TARGET.get(phase, "")}
        match phase:
            case Phase.INSTALL:
                self._api.create(f"{OLM}/clusterextensions", _extension(key, source))
            case Phase.UPDATE | Phase.ROLLBACK:
                if phase is Phase.ROLLBACK:
                    source["upgradeConstraintPolicy"] = "SelfCertified"
                self._api.patch(path, {"spec": {"source": {"catalog": source}}})
            case Phase.DELETE:
                self._api.delete(path)

    def found(self) -> Mapping[str, KubeObject]:
        return {name_of(each): each for each in self._api.list(f"{OLM}/clusterextensions")}

    def has_arrived(self, phase: Phase, obj: KubeObject | None) -> bool:
        if phase is Phase.DELETE or obj is None:
            return obj is None
        bundle = ((obj.get("status") or {}).get("install") or {}).get("bundle") or {}
        progressing = condition(obj, "Progressing")
        reached = progressing is not None and progressing["reason"] == "Succeeded"
        return reached and bundle.get("version") == TARGET[phase]

    def lie(self, phase: Phase, obj: KubeObject) -> str:
        installed, progressing = condition(obj, "Installed"), condition(obj, "Progressing")
        if progressing and progressing["status"] != "True":
            return f"Progressing is not True:\n{conditions_text(obj)}"
        if phase is not Phase.INSTALL and not (installed and installed["status"] == "True"):
            return f"Installed is not True during {phase}:\n{conditions_text(obj)}"
        return ""

    def line(self, obj: KubeObject, key: str) -> str:
        content = dict(obj)
        if obj["kind"] not in ("ClusterExtension", "ClusterObjectSet"):
            content.pop("status", None)
        if obj["kind"] == "Secret":  # its content is compressed, and has the key in it
            content.pop("data", None)
        return line_of(content, key)

    def plausible(self, phase: Phase, picture: Picture) -> bool:
        kinds = ("ConfigMap", "CustomResourceDefinition")
        objects = sum(line.startswith(kinds) for line in picture)
        return not picture if phase is Phase.DELETE else objects == OBJECTS_COUNTED


def _extension(key: str, source: Mapping[str, Any]) -> KubeObject:
    return {
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterExtension",
        "metadata": {"name": key},
        "spec": {
            "namespace": NAMESPACE,
            "serviceAccount": {"name": "installer"},
            "source": {"sourceType": "Catalog", "catalog": dict(source)},
        },
    }
