"""The lives of many extensions under faults: what is asked for, and what the cluster must show.

Extensions live in one namespace and are distinguished by their key, which is part of the name of
every object that belongs to them. What an undisturbed life leaves behind is the measure: a life
with a fault must end with the same objects and the same status.
"""

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import httpx
import orjson

from api.objects import KubeObject, condition, metadata, name_of
from e2e.harness.faults import KILLS, MACHINE, Fault, FaultPlan
from e2e.harness.images import catalog_image
from e2e.olm.api import OLM, Api, catalog_path, conditions_text, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.fbc import catalog_files, package_blobs
from e2e.olm.manifests import catalog, installer, namespace
from e2e.olm.programs import Olm

NAMESPACE = "faults"
KEY = "fx[0-9]{4}x"
PATIENCE_SECONDS = 120.0
SETTLE_SECONDS = 40.0
POLL_SECONDS = 0.2
BROKEN_SECONDS = 3.0
"""How long a machine stays broken: longer than the first few tries take."""
QUIET_SECONDS = 3.5
"""Longer than a request that is answered 429 waits, and than a revision rests."""
VERSIONS = ("1.0.0", "1.1.0")
SHOWN_WRITES = 5
OBJECTS_COUNTED = 3
"""ConfigMaps and definitions in each version of `_bundles`."""

NOT_OURS = frozenset({"Event", "ReplicaSet", "Pod", "Lease", "ControllerRevision"})
"""Kinds that controllers of Kubernetes make of our objects."""
NOISE = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "generation")
HASH = re.compile(
    r"(\bfx[0-9x]*-)?\b(?=[0-9a-z]*[0-9])[0-9a-z]{12,64}\b"  # perhaps after the start of a key
    r"|(?<=\"key\":\")[\w-]{43}(?=\")"
)
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Phase(StrEnum):
    """What happens to an extension, in this order."""

    INSTALL = "install"
    UPDATE = "update"
    ROLLBACK = "rollback"
    DELETE = "delete"


TARGET = {Phase.INSTALL: "1.0.0", Phase.UPDATE: "1.1.0", Phase.ROLLBACK: "1.0.0"}

Picture = tuple[str, ...]
"""All objects of an extension, as sorted text without what differs from one life to the next."""


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """What a phase is like without faults: the world after it, and how many writes it takes.

    As many as `fewest` are certain; more come of events in between.
    """

    picture: Picture
    fewest: int
    most: int


@dataclass(slots=True)
class Result:
    """What a disturbed phase came to. `met` is the write that met the fault, if one did."""

    key: str
    phase: Phase
    fault: Fault
    number: int
    met: str = ""
    problems: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        where = f"{self.key} {self.phase} write {self.number} ({self.met or 'not met'})"
        return "\n  ".join([f"{where} {self.fault}:", *self.problems])


class World:
    """The running product behind a proxy, and the extensions that live in it."""

    def __init__(self, olm: Olm, api: Api, plan: FaultPlan) -> None:
        self.olm = olm
        self.plan = plan
        self._api = api
        self._admin = olm.control_plane.client()
        self._paths = _collections(self._admin)
        self._next = 0
        self._lies: dict[str, str] = {}

    def close(self) -> None:
        """Closes connections."""
        self._admin.close()

    def prepare(self) -> None:
        """The namespace and the account that all extensions share."""
        self.olm.control_plane.apply(namespace(NAMESPACE) + "---" + installer(NAMESPACE))

    def publish(self, count: int) -> list[str]:
        """Serves a catalog with packages of as many new keys; the keys."""
        keys = [f"fx{self._next + i:04}x" for i in range(count)]
        self._next += count
        blobs = [package_blobs(b.publish(self.olm.registry) for b in _bundles(k)) for k in keys]
        name = f"faults-{self._next}"
        image = self.olm.registry.push(catalog_image(catalog_files(blobs)), name, tag="latest")
        text = catalog(name, image.tag_reference)
        self.olm.control_plane.apply(text)
        self._api.wait_condition(catalog_path(name), "Serving", "True")
        return keys

    def request(self, phase: Phase, key: str) -> None:
        """Requests a phase, as a user does."""
        path = extension_path(key)
        source: dict[str, Any] = {"packageName": key, "version": TARGET.get(phase, "")}
        match phase:
            case Phase.INSTALL:
                body = _extension(key, source)
                self._admin.post(f"{OLM}/clusterextensions", json=body).raise_for_status()
            case Phase.UPDATE | Phase.ROLLBACK:
                if phase is Phase.ROLLBACK:
                    source["upgradeConstraintPolicy"] = "SelfCertified"
                self._api.patch(path, {"spec": {"source": {"catalog": source}}})
            case Phase.DELETE:
                self._api.delete(path)

    def live(self, phase: Phase, cases: Mapping[str, tuple[Fault, int] | None]) -> None:
        """One phase of many extensions side by side; returns when the program has nothing to do.

        A program that is killed is started again at once. Whether all is well is asked later.
        """
        for key, planned in cases.items():
            self.plan.begin(key, *(planned or (None, 0)))
        for key in cases:
            self.request(phase, key)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not self._done(phase, cases) and time.monotonic() < deadline:
            self.revive()
            self._mend(phase)
            time.sleep(POLL_SECONDS)
        self.revive()
        self.mend()

    def mend(self) -> None:
        """Puts the machine right."""
        if self.olm.machine is not None:
            self.olm.machine.mend()

    def _mend(self, phase: Phase) -> None:
        """Puts it right after a while; a deletion has to do with it as it is."""
        machine = self.olm.machine
        if machine and phase is not Phase.DELETE and machine.seconds_broken() > BROKEN_SECONDS:
            machine.mend()

    def revive(self) -> None:
        """Starts operator-controller if it was killed."""
        child = self.olm.operator_controller
        if child is None or child.pid is None:
            self.olm.start_operator_controller()

    def _done(self, phase: Phase, keys: Iterable[str]) -> bool:
        found = {name_of(o): o for o in self._api.list(f"{OLM}/clusterextensions")}
        done = True
        for key in keys:
            if phase is not Phase.DELETE:
                self._note_lies(phase, key, found[key])
            done &= _has_arrived(phase, found.get(key))
        return done

    def _note_lies(self, phase: Phase, key: str, obj: KubeObject) -> None:
        """What a status may never say, whatever happens to a request on the way."""
        installed, progressing = condition(obj, "Installed"), condition(obj, "Progressing")
        if phase is not Phase.INSTALL and not (installed and installed["status"] == "True"):
            self._lies[key] = f"Installed is not True during {phase}:\n{conditions_text(obj)}"
        if progressing and progressing["status"] != "True":
            self._lies[key] = f"Progressing is not True:\n{conditions_text(obj)}"

    def pictures(self, keys: Sequence[str]) -> dict[str, Picture]:
        """Everything in the cluster that has a key in its name or labels."""
        finder = re.compile(KEY)
        lines: dict[str, list[str]] = {key: [] for key in keys}
        for path in self._paths:
            for obj in self._objects(path):
                meta = metadata(obj)
                labels = " ".join((meta.get("labels") or {}).values())
                found = finder.search(f"{meta['name']} {labels}")
                if found and found.group() in lines:
                    lines[found.group()].append(_line(obj, found.group()))
        return {key: tuple(sorted(each)) for key, each in lines.items()}

    def _objects(self, path: str) -> list[KubeObject]:
        answer = self._admin.get(path)
        if answer.status_code in (404, 405):
            return []
        content = orjson.loads(answer.raise_for_status().content)
        kind = str(content["kind"]).removesuffix("List")
        return [] if kind in NOT_OURS else [{**o, "kind": kind} for o in content["items"]]

    def judge(
        self,
        phase: Phase,
        cases: Mapping[str, tuple[Fault, int]],
        expected: Undisturbed,
    ) -> list[Result]:
        """Compares the world of each extension with the undisturbed one, when it has come right."""
        pictures, busy = self._settled(list(cases), expected.picture)
        results = [Result(k, phase, f, n, self.plan.case(k).met) for k, (f, n) in cases.items()]
        for result in results:
            key, picture = result.key, pictures[result.key]
            writes = self.plan.case(key).writes
            result.problems += [f"missing: {x}" for x in expected.picture if x not in picture]
            result.problems += [f"left over: {x}" for x in picture if x not in expected.picture]
            if len(writes) > most_writes(expected.most):
                result.problems.append(f"{len(writes)} writes: {writes}")
            if phase is Phase.DELETE:
                made = [write for write in writes if write.startswith("POST")]
                result.problems += [f"made anew in a deletion: {write}" for write in made]
            if key in busy:
                result.problems.append(f"writes without end: {writes[-SHOWN_WRITES:]}")
            if key in self._lies:
                result.problems.append(self._lies.pop(key))
        return results

    def _settled(
        self, keys: Sequence[str], expected: Picture
    ) -> tuple[dict[str, Picture], frozenset[str]]:
        """All pictures when they are right and nothing is written any more, or it took too long.

        And the keys of those of which something still is written.
        """
        deadline = time.monotonic() + SETTLE_SECONDS
        written = dict.fromkeys(keys, (0, time.monotonic()))
        while True:
            self.revive()  # the write to be killed at may be one of the last, after the phase
            now = time.monotonic()
            for key, (known, _) in written.items():
                count = len(self.plan.case(key).writes)
                if count != known:
                    written[key] = count, now
            busy = frozenset(k for k, (_, since) in written.items() if now - since < QUIET_SECONDS)
            if not busy or now > deadline:  # a picture takes a list of each kind there is
                pictures = self.pictures(keys)
                if now > deadline or all(p == expected for p in pictures.values()):
                    return pictures, busy
            time.sleep(2 * POLL_SECONDS)

    def measure(self, keys: Sequence[str]) -> dict[Phase, Undisturbed]:
        """Undisturbed lives: the world after each phase, and how many writes they took.

        Raises AssertionError when two undisturbed lives differ: nothing could be judged by them.
        """
        found = {}
        for phase in Phase:
            self.live(phase, dict.fromkeys(keys))
            picture = self._common_picture(phase, keys)
            writes = [len(self.plan.case(key).writes) for key in keys]
            found[phase] = Undisturbed(picture, min(writes), max(writes))
        return found

    def _common_picture(self, phase: Phase, keys: Sequence[str]) -> Picture:
        deadline = time.monotonic() + SETTLE_SECONDS
        while True:
            before = self.pictures(keys)
            time.sleep(QUIET_SECONDS)
            pictures = self.pictures(keys)
            same = set(pictures.values())
            if before == pictures and len(same) == 1 and _plausible(phase, min(same)):
                return same.pop()
            assert time.monotonic() < deadline, (
                f"{phase}: undisturbed lives differ:\n{_difference(same)}"
            )


def most_writes(undisturbed: int) -> int:
    """A bound for a phase with a fault: all once more, and a few to say what went wrong."""
    return 2 * undisturbed + 10


def injecting(olm: Olm) -> Callable[[Fault], None]:
    """Ends operator-controller as a crash would, until it is dead, or breaks its machine."""

    def inject(fault: Fault) -> None:
        child = olm.operator_controller
        if fault in MACHINE:
            if olm.machine is not None:
                olm.machine.inject(fault)
        elif child is not None and child.pid is not None:
            os.kill(child.pid, 9)
            child.wait(10.0)

    return inject


def one_at_a_time(fault: Fault) -> bool:
    """Whether a fault concerns the whole program, so that cases must not overlap."""
    return fault in KILLS | MACHINE


def _has_arrived(phase: Phase, obj: KubeObject | None) -> bool:
    if phase is Phase.DELETE or obj is None:
        return obj is None
    bundle = ((obj.get("status") or {}).get("install") or {}).get("bundle") or {}
    progressing = condition(obj, "Progressing")
    reached = progressing is not None and progressing["reason"] == "Succeeded"
    return reached and bundle.get("version") == TARGET[phase]


def _plausible(phase: Phase, picture: Picture) -> bool:
    """A measure that itself is wrong would let everything pass."""
    objects = sum(line.startswith(("ConfigMap", "CustomResourceDefinition")) for line in picture)
    return not picture if phase is Phase.DELETE else objects == OBJECTS_COUNTED


def _difference(pictures: Iterable[Picture]) -> str:
    """The lines that not all pictures have; all lines if they agree."""
    counts = Counter(line for picture in pictures for line in set(picture))
    odd = [line for line, count in counts.items() if count < max(counts.values())]
    return "\n".join(sorted(odd or counts))


def _bundles(key: str) -> list[BundleSpec]:
    group = f"{key}.example.com"
    return [
        BundleSpec(package=key, version=v, configmaps=("settings", f"of-{v}"), crd_group=group)
        for v in VERSIONS
    ]


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


def _collections(admin: httpx.Client) -> list[str]:
    """The URL path of every kind that can be listed."""
    groups = admin.get("/apis").raise_for_status().json()["groups"]
    roots = ["/api/v1", *(f"/apis/{g['preferredVersion']['groupVersion']}" for g in groups)]
    return [
        f"{root}/{found['name']}"
        for root in roots
        for found in admin.get(root).raise_for_status().json()["resources"]
        if "list" in found["verbs"] and found["kind"] not in NOT_OURS
    ]


def _line(obj: KubeObject, key: str) -> str:
    """An object as one line that is the same for the same object of another extension."""
    meta = {k: v for k, v in metadata(obj).items() if k not in NOISE}
    content = {k: v for k, v in obj.items() if k not in ("metadata", "apiVersion", "kind")}
    if obj["kind"] not in ("ClusterExtension", "ClusterObjectSet"):
        content.pop("status", None)
    if obj["kind"] == "Secret":  # its content is compressed, and has the key in it
        content.pop("data", None)
    text = orjson.dumps([meta, content], option=orjson.OPT_SORT_KEYS).decode()
    text = UID.sub("UID", MOMENT.sub("TIME", text.replace(key, "KEY")))
    return f"{obj['kind']} {HASH.sub('HASH', text)}"
