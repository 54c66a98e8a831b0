"""What works in a cluster next to the programs of OLM Classic, as far as it goes without nodes.

olm-operator  where it does not run itself: gives OperatorGroups their namespaces, has
              ClusterServiceVersions succeed, and deletes those that are replaced
nodes         run the pods of catalogs: `opm serve` for the content that a test gave to the image;
              all other pods they have ready at once, unless a test says why not
"""

import asyncio
import itertools
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from api.objects import GVK, KubeObject, labels_of, metadata, name_of, namespace_of
from e2e.harness.controlplane import ControlPlane
from e2e.olm.catalog_servers import Blobs, CatalogServer, digest_of, written
from e2e.olm.kubelet import Door
from olm_classic.kinds import CLUSTER_SERVICE_VERSION, OPERATOR_GROUP
from olm_classic.names import LABEL_COPIED_FROM
from olm_runtime.clocks import utc_now
from olm_runtime.kube.access import load_access
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError, NotFoundError
from olm_runtime.watch.informer import Hooks, Informer, Selection
from olm_runtime.watch.packed_store import PackedStore
from olm_runtime.watch.store import Event, Store

POD = GVK("", "v1", "Pod")
CATALOG_LABEL = "olm.catalogSource"
REGISTRY_PORT = 50051
RETRY_SECONDS = 0.2

Change = Event[KubeObject]


@dataclass(slots=True)
class OperatorRules:
    """What tests have the stand-in of olm-operator do.

    phases  of ClusterServiceVersions by name; Succeeded for all others, "" leaves it as it is
    """

    phases: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class NodeRules:
    """What tests have the stand-in of nodes do.

    waiting  why containers of pods wait, by image: a reason and a message; pods that are there
             already stay as they are
    """

    waiting: dict[str, tuple[str, str]] = field(default_factory=dict)


class StandIns:
    """They, while it is open, in a thread and event loop of their own."""

    def __init__(
        self, work_dir: Path, control_plane: ControlPlane, *, operator_runs: bool = False
    ) -> None:
        """Describe them; nothing is started yet. `operator_runs` where olm-operator itself does."""
        self.operator = OperatorRules()
        self.nodes = NodeRules()
        self.images: dict[str, bytes] = {}
        """The content of catalog images by reference."""
        self._work_dir = work_dir
        self._control_plane = control_plane
        self._operator_runs = operator_runs
        self._pods: dict[str, _Pod] = {}
        self._numbers = itertools.count()
        self._servers: dict[str, CatalogServer] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._begun = threading.Event()
        self._thread = threading.Thread(target=self._live, name="stand-ins", daemon=True)

    def push(self, image: str, blobs: Blobs) -> None:
        """Has an image contain a catalog from now on; pods that run keep what they have."""
        self.images[image] = written(blobs)

    def __enter__(self) -> Self:
        """Start."""
        self._thread.start()
        self._begun.wait()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        if self._loop is not None and self._task is not None:
            self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join()
        for pod in self._pods.values():
            pod.door.close()
        for server in self._servers.values():
            server.stop()

    def _live(self) -> None:
        async def live() -> None:
            self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
            self._begun.set()
            async with KubeClient.connect(load_access(str(self._control_plane.kubeconfig))) as c:
                await self._follow(c)

        with suppress(asyncio.CancelledError):  # it was asked to
            asyncio.run(live())

    async def _follow(self, client: KubeClient) -> None:
        follow: dict[Selection, Callable[[Store[KubeObject], Change], Any]] = {
            Selection(POD, labels=CATALOG_LABEL): partial(self._catalog_pod, client),
            Selection(POD, labels=f"!{CATALOG_LABEL}"): partial(self._pod, client),
        }
        if not self._operator_runs:
            operator = _Operator(client, self.operator)
            copies = f"!{LABEL_COPIED_FROM}"
            follow[Selection(OPERATOR_GROUP)] = operator.group
            follow[Selection(CLUSTER_SERVICE_VERSION, labels=copies)] = operator.csv
        async with asyncio.TaskGroup() as group:
            for selection, handle in follow.items():
                store = PackedStore()

                def on_event(
                    event: Change,
                    handle: Callable[..., Any] = handle,
                    store: Store[KubeObject] = store,
                ) -> None:
                    group.create_task(_again_on_error(partial(handle, store, event)))

                store.add_event_handler(on_event)
                hooks = Hooks(delay=lambda _: RETRY_SECONDS)
                group.create_task(Informer(client, selection, store, hooks).run())

    async def _pod(self, client: KubeClient, _: Store[KubeObject], event: Change) -> None:
        pod = event.new
        if pod is None or (pod.get("status") or {}).get("containerStatuses"):
            return
        container = pod["spec"]["containers"][0]
        why = self.nodes.waiting.get(container["image"])
        if why is not None:
            state = {"waiting": {"reason": why[0], "message": why[1]}}
        else:
            state = {"running": {"startedAt": utc_now().strftime("%Y-%m-%dT%H:%M:%SZ")}}
        status = _pod_status(container, {"state": state}, ready=why is None)
        await client.patch(pod, {"status": status}, subresource="status")

    async def _catalog_pod(self, client: KubeClient, _: Store[KubeObject], event: Change) -> None:
        key = str(metadata(event.object).get("uid"))
        if event.new is None:
            gone = self._pods.pop(key, None)
            if gone is not None:
                gone.door.close()
            return
        if key in self._pods or (event.new.get("status") or {}).get("phase") == "Running":
            return
        container = event.new["spec"]["containers"][0]
        content = self.images.get(_catalog_image(event.new))
        if content is None:
            waiting = {"reason": "ImagePullBackOff", "message": "there is no such image"}
            status = _pod_status(container, {"state": {"waiting": waiting}}, ready=False)
            await client.patch(event.new, {"status": status}, subresource="status")
            return
        number = next(self._numbers)
        host = f"127.1.{number // 250}.{number % 250 + 1}"
        pod = self._pods[key] = _Pod(Door(host, REGISTRY_PORT))
        server = await asyncio.to_thread(self._server, content)
        pod.door.behind = [server.port]
        running = {"startedAt": utc_now().strftime("%Y-%m-%dT%H:%M:%SZ")}
        ran = {"imageID": digest_of(content), "state": {"running": running}}
        status = _pod_status(container, ran, ready=True) | {"podIP": host}
        await client.patch(event.new, {"status": status}, subresource="status")

    def _server(self, content: bytes) -> CatalogServer:
        """The one process that serves a content, whichever pods have it."""
        digest = digest_of(content)
        if digest not in self._servers:
            server = CatalogServer(self._work_dir / digest.removeprefix("sha256:")[:12])
            server.serve_file(content)
            self._servers[digest] = server
        return self._servers[digest]


@dataclass(slots=True)
class _Pod:
    door: Door


def _catalog_image(pod: KubeObject) -> str:
    """Whose catalog it serves: where the content is extracted, that of the second container."""
    spec = pod["spec"]
    images = [each["image"] for each in (*(spec.get("initContainers") or ()), *spec["containers"])]
    return str(images[1] if len(images) > 2 else images[-1])


def _pod_status(
    container: Mapping[str, Any], state: Mapping[str, Any], *, ready: bool
) -> dict[str, Any]:
    conditions = [
        {"type": kind, "status": str(ready)} for kind in ("Initialized", "ContainersReady", "Ready")
    ]
    ran = {"name": container["name"], "image": container["image"], "imageID": "", "ready": ready}
    return {
        "phase": "Running" if ready else "Pending",
        "conditions": conditions,
        "containerStatuses": [{**ran, "restartCount": 0, **state}],
    }


class _Operator:
    """The stand-in of olm-operator."""

    def __init__(self, client: KubeClient, rules: OperatorRules) -> None:
        self._client = client
        self._rules = rules

    async def group(self, _: Store[KubeObject], event: Change) -> None:
        """Gives an OperatorGroup its namespaces; those of a selector are none."""
        group = event.new
        if group is None:
            return
        spec, namespace = group.get("spec") or {}, namespace_of(group)
        account = spec.get("serviceAccountName")
        ref = {"kind": "ServiceAccount", "namespace": namespace, "name": account}
        wanted = {"namespaces": spec.get("targetNamespaces") or [""]}
        wanted |= {"serviceAccountRef": ref} if account else {}
        status = group.get("status") or {}
        if {key: status.get(key) for key in wanted} != wanted:
            wanted["lastUpdated"] = utc_now().strftime("%Y-%m-%dT%H:%M:%SZ")
            await self._client.patch(group, {"status": wanted}, subresource="status")

    async def csv(self, store: Store[KubeObject], event: Change) -> None:
        """Has a version succeed; then the one that it replaces goes."""
        csv = store.get(name_of(event.object), namespace_of(event.object))
        if csv is None or LABEL_COPIED_FROM in labels_of(csv):
            return
        phase = self._rules.phases.get(name_of(csv), "Succeeded")
        if phase and (csv.get("status") or {}).get("phase") != phase:
            now = utc_now().strftime("%Y-%m-%dT%H:%M:%SZ")
            reason = {"Succeeded": "InstallSucceeded", "Failed": "InstallCheckFailed"}.get(phase)
            status = {"phase": phase, "lastUpdateTime": now, "lastTransitionTime": now}
            status |= {"reason": reason} if reason else {}
            await self._client.patch(csv, {"status": status}, subresource="status")
        replaced = store.get(csv["spec"].get("replaces") or "", namespace_of(csv))
        if phase == "Succeeded" and replaced is not None:
            await self._client.delete(replaced)


async def _again_on_error(act: Callable[[], Any]) -> None:
    while True:
        try:
            await act()
        except NotFoundError:
            return
        except ApiError:  # a conflict, or an API server that is away or busy
            await asyncio.sleep(RETRY_SECONDS)
        else:
            return
