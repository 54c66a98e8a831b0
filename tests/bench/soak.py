"""Hours of life under faults: what grows, and what is left over at the end.

    python -m tests.bench.soak --minutes 120 --json FILE --plot FILE.png

Both programs run with a limit of memory (control groups, as root). Each minute the catalog has new
content, and extensions are installed, updated, rolled back and deleted, while others stay; their
writes meet faults (`e2e/harness/faults.py`), but for those that end the program, after which its
memory would begin anew. The end fails if memory grows, if something is left over, or if one of the
alarms fires that upstream's tests have; its rules are in `samples.py`.
"""

import argparse
import json
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from e2e.harness.api_proxy import ApiProxy
from e2e.harness.controlplane import ControlPlane
from e2e.harness.faults import KILLS, MACHINE, Fault, FaultPlan
from e2e.harness.images import catalog_image
from e2e.harness.ports import free_port
from e2e.harness.process import ChildProcess
from e2e.harness.registry import Registry
from e2e.olm.api import Api, catalog_path
from e2e.olm.fbc import catalog_files, package_blobs
from e2e.olm.manifests import catalog
from e2e.olm.programs import SYSTEM_NAMESPACE, Olm
from tests.bench.controller_world import until
from tests.bench.memory_limits import limited
from tests.bench.plots import Chart, Series, write
from tests.bench.processes import cpu_seconds, status_mib
from tests.bench.samples import Sample, alarms, growth
from tests.bench.worlds import in_thread
from tests.integration.faults.extensions import Extensions, bundles
from tests.integration.faults.life import KEY, Phase, World, injecting
from tests.integration.scraping import Scraper, account, may_read_metrics

STANDING, EACH_ROUND = 10, 4
"""Extensions that stay, and that come and go in each round."""
ROUND_SECONDS, SAMPLE_SECONDS, CALM_SECONDS = 60.0, 5.0, 45.0
LIMIT_BYTES = 256 << 20
GROWTH_WANTED = 100_000 / 3600
"""Bytes a second: 100 kB an hour."""
FAULTS = sorted(frozenset(Fault) - KILLS - MACHINE)
SHOWN_FILES = 20
MEBIBYTE = 1 << 20
PANIC = "Traceback (most recent call last)"


class ChangingCatalog(Extensions):
    """Extensions from one catalog, whose content is replaced."""

    def __init__(self, olm: Olm, api: Api) -> None:
        super().__init__(olm, api)
        self._registry, self._reader = olm.registry, api
        self.standing: list[str] = []

    def publish(self, keys: Sequence[str]) -> None:
        offered = [*self.standing, *keys]
        blobs = [package_blobs(b.publish(self._registry) for b in bundles(key)) for key in offered]
        pushed = self._registry.push(catalog_image(catalog_files(blobs)), "soak", tag="latest")
        reference = pushed.reference
        self.control_plane.apply(catalog("soak", reference))
        until(lambda: self._serves(reference), "the new content is served")

    def _serves(self, reference: str) -> bool:
        status = (self._reader.get(catalog_path("soak")) or {}).get("status") or {}
        resolved = (status.get("resolvedSource") or {}).get("image") or {}
        return bool(resolved.get("ref") == reference)


@dataclass(slots=True)
class Left:
    """What there is while nothing happens; of both programs together, where both may have it."""

    descriptors: int
    threads: int
    watches: int
    files: int
    secrets: int
    temporary: int


@dataclass(slots=True)
class Soak:
    """What is measured."""

    olm: Olm
    world: World
    scraper: Scraper
    token: str
    temporary: Path
    samples: dict[str, list[Sample]] = field(default_factory=dict)
    rounds: int = 0
    faults: int = 0
    new_files: list[str] = field(default_factory=list)
    """Those at the end that were not there at the beginning."""

    def programs(self) -> dict[str, ChildProcess]:
        """Those that run, by name."""
        found = {"catalogd": self.olm.catalogd, "operator-controller": self.olm.operator_controller}
        return {name: child for name, child in found.items() if child is not None}

    def run(self, minutes: float) -> tuple[Left, Left]:
        """Rounds for so long; what there is before and after them."""
        time.sleep(CALM_SECONDS)
        before, ends = self.left(), time.monotonic() + 60 * minutes
        known = self.files()
        with self._sampling():
            while time.monotonic() < ends:
                self._round(time.monotonic() + ROUND_SECONDS)
            self.world.publish(0)
            time.sleep(CALM_SECONDS)
        self.new_files = sorted(self.files() - known)
        return before, self.left()

    def _round(self, ends: float) -> None:
        keys = self.world.publish(EACH_ROUND)
        for phase in self.world.phases:
            planned = {key: (random.choice(FAULTS), random.randint(1, 8)) for key in keys}
            self.world.live(phase, planned)
            self.faults += sum(bool(self.world.plan.case(key).met) for key in keys)
        self.rounds += 1
        time.sleep(max(0.0, ends - time.monotonic()))

    def _sampling(self) -> AbstractContextManager[None]:
        begun = time.monotonic()

        def sample(over: threading.Event) -> None:
            while not over.wait(SAMPLE_SECONDS):
                for name, child in self.programs().items():
                    taken = sample_of(child, time.monotonic() - begun)
                    self.samples.setdefault(name, []).append(taken)

        return in_thread("samples", sample)

    def left(self) -> Left:
        """What there is now."""
        proc = [Path(f"/proc/{child.pid}") for child in self.programs().values()]
        secrets = f"/api/v1/namespaces/{SYSTEM_NAMESPACE}/secrets"
        with self.olm.control_plane.client() as client:
            items = client.get(secrets).raise_for_status().json()["items"]
        return Left(
            descriptors=sum(len(list((each / "fd").iterdir())) for each in proc),
            threads=sum(len(list((each / "task").iterdir())) for each in proc),
            watches=self._watches(),
            files=len(self.files()),
            secrets=len(items),
            temporary=len(list(self.temporary.iterdir())),
        )

    def files(self) -> set[str]:
        """What both programs have on disk."""
        root = self.olm.work_dir
        caches = [root / name for name in ("catalogd", "operator-controller")]
        found = (path for each in caches for path in each.rglob("*") if path.is_file())
        return {str(path.relative_to(root)) for path in found}

    def _watches(self) -> int:
        text = self.scraper.scrape(self.token).raise_for_status().text
        lines = [x for x in text.splitlines() if x.startswith("operator_controller_watches ")]
        return int(float(lines[0].rsplit(" ", 1)[1]))


def sample_of(child: ChildProcess, at: float) -> Sample:
    """A program as it is now."""
    proc = Path(f"/proc/{child.pid}")
    return Sample(
        at=at,
        memory=status_mib(child, "VmRSS") * MEBIBYTE,
        cpu=cpu_seconds(child),
        descriptors=len(list((proc / "fd").iterdir())),
        threads=len(list((proc / "task").iterdir())),
        panics=child.log.read_text().count(PANIC),
    )


def judged(soak: Soak, before: Left, after: Left) -> list[str]:
    """What is not as it shall be."""
    found = []
    for program, samples in soak.samples.items():
        found += alarms(program, samples)
        if growth(samples) > GROWTH_WANTED:
            found.append(f"{program} grows by {growth(samples) * 3.6:.0f} kB/h")
    found += [
        f"{name}: {getattr(before, name)} at the beginning, {getattr(after, name)} at the end"
        for name in Left.__slots__
        if getattr(after, name) > getattr(before, name)
    ]
    return found


def charts(samples: dict[str, list[Sample]]) -> list[Chart]:
    """What is drawn."""
    values: dict[str, Callable[[Sample], float]] = {
        "Resident memory, MiB": lambda s: s.memory / MEBIBYTE,
        "Descriptors": lambda s: s.descriptors,
        "Threads": lambda s: s.threads,
        "Processor time since the start, s": lambda s: s.cpu,
    }
    return [
        Chart(title, "minutes", [Series(program, [(each.at / 60, value(each)) for each in taken])
              for program, taken in samples.items()])
        for title, value in values.items()
    ]  # fmt: skip


@contextmanager
def living(folder: Path) -> Iterator[Soak]:
    """Both programs under their limits, and the extensions that stay."""
    temporary = folder / "temporary"
    temporary.mkdir()
    with ExitStack() as stack:
        control_plane = stack.enter_context(ControlPlane(folder / "control-plane"))
        registry = stack.enter_context(Registry(folder / "registry"))
        olm, plan = Olm(folder / "olm", control_plane, registry), FaultPlan(KEY)
        olm.environment = {"TMPDIR": str(temporary)}
        scenario = ChangingCatalog(olm, stack.enter_context(Api(control_plane)))
        proxy = ApiProxy(control_plane.endpoint, folder / "proxy", plan, injecting(scenario))
        olm.api_for_operator_controller = stack.enter_context(proxy).endpoint
        stack.enter_context(olm)
        scraper = Scraper(olm, free_port())
        token = stack.enter_context(account(olm))
        stack.enter_context(may_read_metrics(olm))
        olm.stop_operator_controller()
        olm.start_operator_controller(*scraper.flags)
        control_plane.restart_controller_manager()
        scenario.prepare()
        world = World(scenario, plan)
        stack.callback(world.close)
        soak = Soak(olm, world, scraper, token, temporary)
        for name, child in soak.programs().items():
            group = f"olmv1-soak-{child.pid}-{name}"
            stack.enter_context(limited(group, child, LIMIT_BYTES))
        scenario.standing = world.publish(STANDING)
        world.live(Phase.INSTALL, dict.fromkeys(scenario.standing))
        yield soak


def main() -> None:
    """Live, print what was found; a file with the samples and a picture where asked for."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--json", type=Path, help="a file for the samples")
    parser.add_argument("--plot", type=Path, help="a picture of them: .svg or .png")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="olmv1-soak-") as name, living(Path(name)) as soak:
        try:
            before, after = soak.run(given.minutes)
        finally:  # hours are not to be lost
            if given.json:
                taken = {
                    program: [asdict(s) for s in each] for program, each in soak.samples.items()
                }
                given.json.write_text(json.dumps(taken) + "\n")
        wrong = judged(soak, before, after)
    print(f"{soak.rounds} rounds, {soak.faults} faults met")
    for program, samples in soak.samples.items():
        most = max(each.memory for each in samples) / MEBIBYTE
        print(f"{program}: at most {most:.1f} MiB, {growth(samples) * 3.6:+.0f} kB/h")
    print(f"before {before}\nafter  {after}")
    print("new files:", *soak.new_files[:SHOWN_FILES], sep="\n  ")
    print("\n".join(wrong) or "nothing grows, nothing is left over, no alarm")
    if given.plot:
        write(charts(soak.samples), given.plot)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
