"""Nodes that KWOK simulates: it acts for the kubelets of all nodes of a control plane."""

from pathlib import Path

from e2e.harness.binaries import kwok_binary
from e2e.harness.client import plain_client
from e2e.harness.controlplane import ControlPlane, answers_ok
from e2e.harness.ports import free_port
from e2e.harness.process import ChildProcess
from e2e.harness.running import Running


class SimulatedNodes(Running):
    """KWOK, which takes objects of kind Node and their pods through stages.

    `stages` is a file with objects of its kind Stage: what becomes of which object, and when.
    """

    def __init__(self, work_dir: Path, control_plane: ControlPlane, stages: Path) -> None:
        """Describe it; nothing is started, written or built yet."""
        self._control_plane = control_plane
        self._port = free_port()
        self._stages = stages
        self._log = work_dir / "kwok.log"
        self._child: ChildProcess | None = None

    def start(self) -> None:
        """Start it and wait until it answers. Errors: ProcessFailed, BuildFailed."""
        address = f"127.0.0.1:{self._port}"
        self._child = ChildProcess(
            "kwok",
            (
                *kwok_binary().argv,
                *(f"--kubeconfig={self._control_plane.kubeconfig}", f"--config={self._stages}"),
                *("--manage-all-nodes", f"--server-address={address}"),
            ),
            log=self._log,
        )
        self._child.start()
        with plain_client() as client:
            self._child.wait_ready(lambda: answers_ok(client, f"http://{address}/healthz"))

    def stop(self) -> None:
        """Stop it; nodes stay as they are. Idempotent."""
        if self._child is not None:
            self._child.stop()
            self._child = None
