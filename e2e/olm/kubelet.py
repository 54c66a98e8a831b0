"""Enough of a kubelet for the chart's Deployments to become available where there is no node.

Each pod is a process (e2e/olm/pods.py). It is started when its volumes are there, ready when it
says so, started again when it ends, and ended when it is deleted. Pods have no node and no address:
a loopback port leads to catalogd, which reports it as its own address.
"""

import http.client
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from api.objects import KubeObject, name_of
from e2e.harness.controlplane import ControlPlane
from e2e.harness.errors import ProcessFailed
from e2e.harness.ports import free_port
from e2e.olm.api import Api
from e2e.olm.pods import PodProcess

HOST = "127.0.0.1"
LOOK_SECONDS = 0.3
READY_SECONDS = 120.0
"""catalogd may wait a minute for what catalogs resolved to."""
REFRESH_SECONDS = 5.0
"""How often volumes are filled anew; real kubelets take up to a minute or two."""


class Door:
    """A port of this machine that leads to any of several others, as a Service does."""

    def __init__(self, host: str = HOST, port: int = 0) -> None:
        """Listens at once; connections are refused until there is somewhere to go."""
        self._listening = socket.create_server((host, port))
        self.port: int = self._listening.getsockname()[1]
        self.behind: list[int] = []
        threading.Thread(target=self._serve, name="door", daemon=True).start()

    def close(self) -> None:
        """No new connections."""
        with suppress(OSError):  # not on every system
            self._listening.shutdown(socket.SHUT_RDWR)  # wakes who waits in accept
        self._listening.close()

    def _serve(self) -> None:
        with suppress(OSError):  # closed
            while True:
                near, _ = self._listening.accept()
                threading.Thread(target=self._join, args=(near,), daemon=True).start()

    def _join(self, near: socket.socket) -> None:
        with near:
            for port in list(self.behind):
                with suppress(OSError), socket.create_connection((HOST, port)) as far:
                    back = threading.Thread(target=_copy, args=(far, near), daemon=True)
                    back.start()
                    _copy(near, far)
                    back.join()
                    return


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


class Kubelet:
    """Runs the pods of a namespace while it is open."""

    def __init__(
        self,
        work_dir: Path,
        control_plane: ControlPlane,
        namespace: str,
        *,
        environment: Mapping[str, str],
    ) -> None:
        """Describe it; nothing is started yet. `environment` is that of the image."""
        self.environment = environment
        self.work_dir = work_dir.absolute()
        self.control_plane = control_plane
        self.namespace = namespace
        self.catalogs = Door()
        self.pods: dict[str, _Pod] = {}
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._look, name="kubelet", daemon=True)

    def __enter__(self) -> Self:
        """Start."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End all pods."""
        self._ending.set()
        self._thread.join()
        self.catalogs.close()

    def _look(self) -> None:
        path = f"/api/v1/namespaces/{self.namespace}/pods"
        with Api(self.control_plane) as api:
            while not self._ending.wait(LOOK_SECONDS):
                with suppress(httpx.HTTPError):
                    self._follow({name_of(pod): pod for pod in api.list(path)})
        self._follow({})

    def _follow(self, desired: dict[str, KubeObject]) -> None:
        ended = [self.pods.pop(name) for name in self.pods.keys() - desired.keys()]
        for pod in ended:
            pod.ending.set()
        for name in desired.keys() - self.pods.keys():
            self.pods[name] = _Pod(self, desired[name])
        if not desired:
            for pod in ended:
                pod.thread.join()


class _Pod:
    """One pod, and the thread that runs it."""

    def __init__(self, kubelet: Kubelet, pod: KubeObject) -> None:
        self._kubelet = kubelet
        self._name = name_of(pod)
        self._component = pod["metadata"]["labels"]["app.kubernetes.io/name"]
        self._path = f"/api/v1/namespaces/{kubelet.namespace}/pods/{self._name}"
        folder = kubelet.work_dir / self._name
        self._process = PodProcess(
            folder,
            kubelet.control_plane,
            kubelet.namespace,
            self._path,
            environment=kubelet.environment,
        )
        self.health, self.metrics = free_port(HOST), free_port(HOST)
        self._content = free_port(HOST)
        self._restarts = 0
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self._live, name=self._name, daemon=True)
        self.thread.start()

    def _live(self) -> None:
        while not self.ending.wait(LOOK_SECONDS):
            try:
                self._run()
            except (TimeoutError, LookupError, ProcessFailed, httpx.HTTPError):
                pass  # not there yet, or not any more: a volume, the pod, what the program needs
            finally:
                self._process.stop()

    def _run(self) -> None:
        child = self._process.start(*self._addresses())
        probe = partial(_answers, self.health)
        child.wait_ready(probe, timeout=READY_SECONDS, interval=LOOK_SECONDS)
        self._report("True")
        behind = self._kubelet.catalogs.behind if self._component == "catalogd" else []
        behind.append(self._content)
        try:
            refreshed = time.monotonic()
            while child.pid is not None and not self.ending.wait(LOOK_SECONDS):
                if time.monotonic() - refreshed > REFRESH_SECONDS:
                    self._process.refresh()
                    refreshed = time.monotonic()
        finally:
            behind.remove(self._content)
        if child.pid is None:
            self._restarts += 1
            self._report("False")

    def _addresses(self) -> Sequence[str]:
        health = f"--health-probe-bind-address={HOST}:{self.health}"
        metrics = f"--metrics-bind-address={HOST}:{self.metrics}"
        if self._component != "catalogd":
            return health, metrics
        return (
            health,
            metrics,
            f"--catalogs-server-addr={HOST}:{self._content}",
            f"--external-address=localhost:{self._kubelet.catalogs.port}",
        )

    def _report(self, ready: str) -> None:
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        container: dict[str, Any] = {
            "name": "manager",
            "image": "",
            "imageID": "",
            "ready": ready == "True",
            "restartCount": self._restarts,
            "state": {"running": {"startedAt": now}},
        }
        conditions = [
            {"type": kind, "status": ready, "lastTransitionTime": now}
            for kind in ("ContainersReady", "Ready")
        ]
        status = {
            "phase": "Running",
            "conditions": conditions,
            "containerStatuses": [container],
        }
        with Api(self._kubelet.control_plane) as api:
            api.patch(f"{self._path}/status", {"status": status})


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection(HOST, port, timeout=2.0)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == httpx.codes.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
