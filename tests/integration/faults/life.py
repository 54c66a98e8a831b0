"""Many lives under faults: what is asked for, and what the cluster must show.

What lives is a scenario's: extensions (extensions.py), Subscriptions (subscriptions.py). Each life
has a key, which is part of the name or the namespace of every object that belongs to it. What an
undisturbed life leaves behind is the measure: a life with a fault must end with the same objects
and the same status.
"""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

import httpx
import orjson

from api.objects import KubeObject, metadata
from e2e.harness.controlplane import ControlPlane
from e2e.harness.faults import KILLS, MACHINE, Fault, FaultPlan
from e2e.harness.machine import Machine
from e2e.harness.process import ChildProcess

KEY = "fx[0-9]{4}x"
PATIENCE_SECONDS = 120.0
SETTLE_SECONDS = 120.0
POLL_SECONDS = 0.2
BROKEN_SECONDS = 3.0
"""How long a machine stays broken: longer than the first few tries take."""
QUIET_SECONDS = 3.5
"""Longer than a request that is answered 429 waits, and than a revision rests."""
SHOWN_WRITES = 5

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
    """What happens in a life, in this order."""

    INSTALL = "install"
    UPDATE = "update"
    ROLLBACK = "rollback"
    DELETE = "delete"


Picture = tuple[str, ...]
"""All objects of a life, as sorted text without what differs from one life to the next."""


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


class Scenario(Protocol):
    """What lives, and the program that is to see to it."""

    @property
    def control_plane(self) -> ControlPlane:
        """Where it lives."""

    @property
    def phases(self) -> Sequence[Phase]:
        """What happens in a life."""

    @property
    def program(self) -> ChildProcess | None:
        """What is killed."""

    @property
    def machine(self) -> Machine | None:
        """What it runs on, if that can be broken."""

    @property
    def writes_at_start(self) -> int:
        """How often the program may write to a life that is as it shall be when it starts."""

    def start(self) -> None:
        """Starts the program, which does not run."""

    def publish(self, keys: Sequence[str]) -> None:
        """Offers what lives of these keys will ask for."""

    def request(self, phase: Phase, key: str) -> None:
        """Requests a phase, as a user does."""

    def found(self) -> Mapping[str, KubeObject]:
        """The objects that tell of the lives, by key."""

    def has_arrived(self, phase: Phase, obj: KubeObject | None) -> bool:
        """Whether that is the end of a phase."""

    def lie(self, phase: Phase, obj: KubeObject) -> str:
        """What it may never say, whatever happens to a request on the way; empty if it does not."""

    def line(self, obj: KubeObject, key: str) -> str:
        """An object as `line_of` has it, without what else differs from life to life."""

    def plausible(self, phase: Phase, picture: Picture) -> bool:
        """Whether it may be the measure: one that is wrong would let everything pass."""


class World:
    """The running product behind a proxy, and what lives in it."""

    def __init__(self, scenario: Scenario, plan: FaultPlan, *, first: int = 0) -> None:
        """`first` numbers the first life: no two worlds of a cluster may share a key."""
        self.plan = plan
        self._scenario = scenario
        self._admin = scenario.control_plane.client()
        self._paths = _collections(self._admin)
        self._next = first
        self._starts = 0
        self._lies: dict[str, str] = {}

    @property
    def phases(self) -> Sequence[Phase]:
        """What happens in a life."""
        return self._scenario.phases

    def close(self) -> None:
        """Closes connections."""
        self._admin.close()

    def publish(self, count: int) -> list[str]:
        """Offers what as many new lives will ask for; their keys."""
        keys = [f"fx{self._next + i:04}x" for i in range(count)]
        self._next += count
        self._scenario.publish(keys)
        return keys

    def live(self, phase: Phase, cases: Mapping[str, tuple[Fault, int] | None]) -> None:
        """One phase of many lives side by side; returns when the program has nothing to do.

        A program that is killed is started again at once. Whether all is well is asked later.
        """
        for key, planned in cases.items():
            self.plan.begin(key, *(planned or (None, 0)))
        for key in cases:
            self._scenario.request(phase, key)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not self._done(phase, cases) and time.monotonic() < deadline:
            self.revive()
            self._mend(phase)
            time.sleep(POLL_SECONDS)
        self.revive()
        self.mend()

    def mend(self) -> None:
        """Puts the machine right."""
        if self._scenario.machine is not None:
            self._scenario.machine.mend()

    def _mend(self, phase: Phase) -> None:
        """Puts it right after a while; a deletion has to do with it as it is."""
        machine = self._scenario.machine
        if machine and phase is not Phase.DELETE and machine.seconds_broken() > BROKEN_SECONDS:
            machine.mend()

    def revive(self) -> None:
        """Starts the program if it was killed."""
        child = self._scenario.program
        if child is None or child.pid is None:
            self._scenario.start()
            self._starts += 1

    def _done(self, phase: Phase, keys: Iterable[str]) -> bool:
        found = self._scenario.found()
        done = True
        for key in keys:
            obj = found.get(key)
            if phase is not Phase.DELETE and obj is not None:
                self._note_lie(key, self._scenario.lie(phase, obj))
            done &= self._scenario.has_arrived(phase, obj)
        return done

    def _note_lie(self, key: str, lie: str) -> None:
        if lie:
            self._lies[key] = lie

    def pictures(self, keys: Sequence[str]) -> dict[str, Picture]:
        """Everything in the cluster that has a key in its name, namespace or labels."""
        finder = re.compile(KEY)
        lines: dict[str, list[str]] = {key: [] for key in keys}
        for path in self._paths:
            for obj in self._objects(path):
                meta = metadata(obj)
                labels = " ".join((meta.get("labels") or {}).values())
                found = finder.search(f"{meta['name']} {meta.get('namespace', '')} {labels}")
                if found and found.group() in lines:
                    lines[found.group()].append(self._scenario.line(obj, found.group()))
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
        """Compares the world of each life with the undisturbed one, when it has come right."""
        pictures, busy = self._settled(list(cases), expected.picture)
        started, self._starts = self._starts * self._scenario.writes_at_start, 0
        results = [Result(k, phase, f, n, self.plan.case(k).met) for k, (f, n) in cases.items()]
        for result in results:
            key, picture = result.key, pictures[result.key]
            writes = self.plan.case(key).writes
            wanted, there = Counter(expected.picture), Counter(picture)
            result.problems += [f"missing: {x}" for x in (wanted - there).elements()]
            result.problems += [f"left over: {x}" for x in (there - wanted).elements()]
            if len(writes) > most_writes(expected.most) + started:
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
        for phase in self.phases:
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
            if before == pictures and len(same) == 1 and self._scenario.plausible(phase, min(same)):
                return same.pop()
            assert time.monotonic() < deadline, (
                f"{phase}: undisturbed lives differ:\n{_difference(same)}"
            )


def most_writes(undisturbed: int) -> int:
    """A bound for a phase with a fault: all once more, and a few to say what went wrong."""
    return 2 * undisturbed + 10


def injecting(scenario: Scenario) -> Callable[[Fault], None]:
    """Ends the program as a crash would, until it is dead, or breaks its machine."""

    def inject(fault: Fault) -> None:
        child = scenario.program
        if fault in MACHINE:
            if scenario.machine is not None:
                scenario.machine.inject(fault)
        elif child is not None:
            child.kill()

    return inject


def one_at_a_time(fault: Fault) -> bool:
    """Whether a fault concerns the whole program, so that cases must not overlap."""
    return fault in KILLS | MACHINE


def _difference(pictures: Iterable[Picture]) -> str:
    """The lines that not all pictures have; all lines if they agree."""
    counts = Counter(line for picture in pictures for line in set(picture))
    odd = [line for line, count in counts.items() if count < max(counts.values())]
    return "\n".join(sorted(odd or counts))


def _collections(admin: httpx.Client) -> list[str]:
    """The URL path of every kind that can be listed, in one of its versions."""
    groups = admin.get("/apis").raise_for_status().json()["groups"]
    roots = {("", "v1"): "/api/v1"}
    roots |= {
        (g["name"], v["groupVersion"]): f"/apis/{v['groupVersion']}"
        for g in groups
        for v in g["versions"]
    }
    return list(
        {
            (group, found["name"]): f"{root}/{found['name']}"
            for (group, _), root in roots.items()
            for found in admin.get(root).raise_for_status().json()["resources"]
            if "list" in found["verbs"] and found["kind"] not in NOT_OURS
        }.values()
    )


def line_of(obj: KubeObject, key: str) -> str:
    """An object as one line that is the same for the same object of another life."""
    meta = {k: v for k, v in metadata(obj).items() if k not in NOISE}
    content = {k: v for k, v in obj.items() if k not in ("metadata", "apiVersion", "kind")}
    text = orjson.dumps([meta, content], option=orjson.OPT_SORT_KEYS).decode()
    text = UID.sub("UID", MOMENT.sub("TIME", text.replace(key, "KEY")))
    return f"{obj['kind']} {HASH.sub('HASH', text)}"
