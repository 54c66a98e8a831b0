"""Many extensions in one life: installed, updated, restarted, deleted; what each phase costs.

    python -m tests.bench.many_extensions                      # 1 000 of them
    python -m tests.bench.many_extensions --count 100 --json FILE
    python -m tests.bench.many_extensions --without-looks      # four minutes less

API server, registry and TLS are real. Each extension brings a definition, a Deployment, its rights
and a ConfigMap, in a namespace and by an account of its own; its pods are ready at once. While a
phase lasts, one more extension after another is installed: how long each takes is its latency.
"""

import argparse
import json
import statistics
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from e2e.olm.api import Api
from e2e.olm.stand_ins import StandIns
from tests.bench.controller_world import World
from tests.bench.processes import cpu_seconds, status_mib
from tests.bench.worlds import in_thread, olm_world

FEW = 10
"""Of them looks are measured, when there are no others and when there are all."""
NEWCOMERS = 20
"""At most so many are installed while a phase lasts; a long one would leave none for the next."""
PHASES_WITH_NEWCOMERS = 4
NEWCOMER_PAUSE_SECONDS = 5.0
CALM_SECONDS = 20.0
"""Until memory is read again after the last phase."""
SERVERS = ("kube-apiserver", "etcd")


@dataclass(slots=True)
class Phase:
    """What one phase took; sizes at its end."""

    name: str
    seconds: float = 0.0
    controller_cpu: float = 0.0
    api_server_cpu: float = 0.0
    etcd_cpu: float = 0.0
    resident_mib: float = 0.0
    api_server_mib: float = 0.0
    descriptors: int = 0
    newcomers: list[float] = field(default_factory=list)
    """Seconds from creation to Installed of each that was created meanwhile."""


class Life:
    """The phases of one life of `count` extensions."""

    def __init__(self, world: World, count: int) -> None:
        self._world, self._count = world, count
        self._visitor = Api(world.olm.control_plane)
        self.phases: list[Phase] = []
        self.looks: dict[int, float] = {}
        """CPU milliseconds of a look at a settled extension, by how many there are."""

    def run(self, *, looks: bool) -> None:
        """All of it; `looks` take four minutes."""
        world = self._world
        few = world.take(FEW)
        self._phase("install a few", lambda: world.install(few), newcomers=0)
        if looks:
            self.looks[FEW] = world.look(few)
        others = world.take(self._count - FEW)
        self._phase("install", lambda: world.install(others))
        self._phase("update", lambda: world.update([*few, *others]))
        if looks:
            self.looks[self._count] = world.look(few)
        # More than the one that is asked for as it begins would keep it from being quiet.
        self._phase("restart", self._restart, newcomers=1)
        self._phase("delete", lambda: world.delete([*few, *others]))
        self._phase("afterwards", self._wait, newcomers=0)

    def _restart(self) -> float:
        olm, started = self._world.olm, time.monotonic()
        olm.stop_operator_controller()
        olm.start_operator_controller()
        begun = time.monotonic() - started
        return begun + self._world.quiet()

    def _wait(self) -> float:
        time.sleep(CALM_SECONDS)
        return CALM_SECONDS

    def _phase(self, name: str, act: Callable[[], float], *, newcomers: int = NEWCOMERS) -> None:
        """Until all is done and the controller is quiet again."""
        phase, before = Phase(name), self._used()
        with self._arriving(phase, newcomers):
            phase.seconds = act()
        self._world.quiet()
        after = self._used()
        # What restarts begins again at nothing.
        phase.controller_cpu = after[0] - (0.0 if name == "restart" else before[0])
        phase.api_server_cpu, phase.etcd_cpu = after[1] - before[1], after[2] - before[2]
        phase.resident_mib = self._world.resident()
        children = self._world.olm.control_plane.children
        phase.api_server_mib = status_mib(children["kube-apiserver"], "VmRSS")
        phase.descriptors = len(list(Path(f"/proc/{self._world.controller.pid}/fd").iterdir()))
        self.phases.append(phase)
        print(_line(phase), flush=True)

    def _used(self) -> tuple[float, ...]:
        children = self._world.olm.control_plane.children
        return self._world.cpu(), *(cpu_seconds(children[each]) for each in SERVERS)

    def _arriving(self, phase: Phase, newcomers: int) -> AbstractContextManager[None]:
        """One more extension after another, while this lasts."""
        packages = self._world.take(newcomers)

        def arrive(over: threading.Event) -> None:
            while packages and not over.is_set():
                phase.newcomers.append(self._world.arrive(packages.pop(), self._visitor))
                over.wait(NEWCOMER_PAUSE_SECONDS)

        return in_thread("newcomers", arrive)


def _line(phase: Phase) -> str:
    late = phase.newcomers
    latency = f"{statistics.median(late):.2f} ({max(late):.2f}) s of {len(late)}" if late else "-"
    return (
        f"{phase.name:14} {phase.seconds:7.1f} s  CPU {phase.controller_cpu:6.1f} s, API server "
        f"{phase.api_server_cpu:6.1f} s, etcd {phase.etcd_cpu:5.1f} s  resident "
        f"{phase.resident_mib:6.1f} MiB, API server {phase.api_server_mib:7.1f} MiB  "
        f"{phase.descriptors} descriptors  new one {latency}"
    )


def main() -> None:
    """Measure, print a line a phase; JSON where it was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--count", type=int, default=1000, help="extensions, more than ten")
    parser.add_argument("--without-looks", action="store_true")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    given = parser.parse_args()
    with (
        olm_world() as (folder, olm, api),
        StandIns(folder / "pods", olm.control_plane, operator_runs=True),
    ):
        # The garbage collector learns of new kinds at its start, else every half minute.
        olm.control_plane.restart_controller_manager()
        world = World(olm, api, given.count + PHASES_WITH_NEWCOMERS * NEWCOMERS)
        world.publish()
        life = Life(world, given.count)
        life.run(looks=not given.without_looks)
    for count, milliseconds in life.looks.items():
        print(f"a look at a settled extension of {count}: CPU {milliseconds:.2f} ms")
    figures = {
        "count": given.count,
        "phases": [asdict(phase) for phase in life.phases],
        "looks": {str(count): round(value, 3) for count, value in life.looks.items()},
    }
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
