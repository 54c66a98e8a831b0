"""What benchmarks run over: real programs on this machine, in a folder that goes with them."""

import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from e2e.harness.controlplane import ControlPlane
from e2e.harness.registry import Registry
from e2e.olm.api import Api
from e2e.olm.classic import Classic
from e2e.olm.programs import Olm

PREFIX = "olmv1-bench-"


@contextmanager
def classic_world(*, whole: bool = False) -> Iterator[Classic]:
    """catalog-operator, and olm-operator if it is `whole`."""
    with tempfile.TemporaryDirectory(prefix=PREFIX) as name:
        folder = Path(name)
        with (
            ControlPlane(folder / "control-plane") as control_plane,
            Registry(folder / "registry") as registry,
            Classic(folder / "classic", control_plane, registry, whole=whole) as classic,
        ):
            yield classic


@contextmanager
def olm_world() -> Iterator[tuple[Path, Olm, Api]]:
    """catalogd and operator-controller, and the folder that they run in."""
    with tempfile.TemporaryDirectory(prefix=PREFIX) as name:
        folder = Path(name)
        with (
            ControlPlane(folder / "control-plane") as control_plane,
            Registry(folder / "registry") as registry,
            Olm(folder / "olm", control_plane, registry) as olm,
            Api(control_plane) as api,
        ):
            yield folder, olm, api


@contextmanager
def in_thread(name: str, work: Callable[[threading.Event], None]) -> Iterator[None]:
    """Has a thread work meanwhile, until the event that it is given is set."""
    over = threading.Event()
    thread = threading.Thread(target=work, args=(over,), name=name)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
