"""update-service as a process, and the folders of graph data that it serves."""

import ssl
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
import yaml

from e2e.harness.client import PATIENCE_SECONDS
from e2e.harness.ports import free_port
from e2e.harness.process import ChildProcess
from e2e.harness.running import Running
from e2e.olm.daemons import HOST, metrics_of, start_daemon

PROGRAM = "update-service"
POLL_INTERVAL = 0.05


class UpdateService(Running):
    """The program with its flags, where the graph data is among them."""

    def __init__(self, work_dir: Path, *flags: str, ca_file: Path | None = None) -> None:
        """Describe it; nothing is started yet.

        With `ca_file` it serves over TLS, and flags name its certificate.
        """
        self.log = work_dir / f"{PROGRAM}.log"
        self.program: ChildProcess | None = None
        self._flags = flags
        self._scheme = "https" if ca_file else "http"
        self._trust = ssl.create_default_context(cafile=ca_file) if ca_file else False
        self._port, self._metrics_port, self._health_port = (free_port(HOST) for _ in range(3))

    @property
    def address(self) -> str:
        """What a ClusterVersion has as its `spec.upstream`."""
        return f"{self._scheme}://{HOST}:{self._port}/api/upgrades_info/v1/graph"

    def start(self) -> None:
        """Start, and wait until there is a graph. Errors: ProcessFailed."""
        self.program = start_daemon(
            PROGRAM,
            [
                f"--bind-address={HOST}:{self._port}",
                f"--metrics-bind-address={HOST}:{self._metrics_port}",
                "--reload-interval=100ms",
                *self._flags,
            ],
            health_port=self._health_port,
            log=self.log,
        )

    def stop(self) -> None:
        """Stop the program. Idempotent."""
        if self.program is not None:
            self.program.stop()

    def graph(self, channel: str, **more: str) -> dict[str, Any]:
        """The graph of a channel. Errors: httpx.HTTPStatusError."""
        params = {"channel": channel, **more}
        answer = httpx.get(
            self.address,
            params=params,
            trust_env=False,
            verify=self._trust,
            timeout=PATIENCE_SECONDS,
        )
        graph: dict[str, Any] = answer.raise_for_status().json()
        return graph

    def wait_for_nodes(self, channel: str, number: int) -> dict[str, Any]:
        """The graph of a channel once it has so many releases. Errors: TimeoutError."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            graph = self.graph(channel)
            if len(graph["nodes"]) == number:
                return graph
            time.sleep(POLL_INTERVAL)
        raise TimeoutError(f"{channel} has not {number} releases: {self.log}")

    def metrics(self) -> str:
        """What the program says of itself."""
        return metrics_of(self._metrics_port)


def write_graph_data(
    folder: Path,
    *,
    channels: Mapping[str, Sequence[str]],
    blocked: Sequence[Mapping[str, Any]] = (),
    releases: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Writes a folder of graph data, over one that may be there."""
    files: dict[str, Any] = {
        f"channels/{name}.yaml": {"name": name, "versions": list(versions)}
        for name, versions in channels.items()
    }
    files |= {f"blocked-edges/{number}.yaml": dict(each) for number, each in enumerate(blocked)}
    files |= {f"releases/{number}.yaml": dict(each) for number, each in enumerate(releases)}
    for path, document in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(yaml.safe_dump(document))
    (folder / "version").write_text("1.1.0\n")
