"""The client against a real API server."""

import asyncio
import gc
import os
import signal
import tracemalloc
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from api.objects import GVK, KubeObject, metadata, name_of
from e2e.harness.controlplane import ControlPlane
from e2e.harness.pytest_plugin import Kubectl
from olm_rollout.owned import field_migration, fingerprint, needs_migration
from olm_runtime.kube import client as kube
from olm_runtime.kube import long_answers
from olm_runtime.kube.access import load_access
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.discovery import of_every_server
from olm_runtime.kube.errors import (
    AlreadyExistsError,
    ConflictError,
    ForbiddenError,
    GoneError,
    InvalidError,
    NotFoundError,
)
from olm_runtime.kube.media_types import JSON_PATCH
from olm_runtime.watch.informer import Hooks, Informer, Selection
from olm_runtime.watch.packed_store import PackedStore
from olm_runtime.watch.store import Store
from operator_controller.apply.owners import APPLIER
from tests.integration.clusters import own_control_plane

pytestmark = pytest.mark.integration

CONFIG_MAP = GVK("", "v1", "ConfigMap")
NAMESPACE = GVK("", "v1", "Namespace")
DEPLOYMENT = GVK("apps", "v1", "Deployment")
FIELD_MANAGER = APPLIER.field_manager
RETRIED = Hooks(delay=lambda _: 0.2)
NO_UID = "00000000-0000-0000-0000-000000000000"


@pytest.fixture(params=[KubeClient.connect, KubeClient.briefly], ids=["program", "command"])
async def client(
    control_plane: ControlPlane, request: pytest.FixtureRequest
) -> AsyncIterator[KubeClient]:
    async with request.param(load_access(str(control_plane.kubeconfig))) as client:
        yield client


async def test_what_commands_take_for_granted_is_what_the_server_says(
    control_plane: ControlPlane,
) -> None:
    async with KubeClient.connect(load_access(str(control_plane.kubeconfig))) as asking:
        for kinds in of_every_server().values():
            for resource in kinds.values():
                assert await asking.resource(resource.gvk) == resource


@pytest.fixture(params=[long_answers.FEW, 0], ids=["a connection each", "shared connections"])
def _connections_of_watches(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_answers, "FEW", request.param)


both_connections = pytest.mark.usefixtures("_connections_of_watches")


def config_map(namespace: str, name: str = "x", **data: str) -> KubeObject:
    meta = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}


async def test_create_get_and_create_again(client: KubeClient, namespace: str) -> None:
    created = await client.create(config_map(namespace, a="1"), field_manager="m")
    assert await client.get(CONFIG_MAP, "x", namespace) == created
    with pytest.raises(AlreadyExistsError, match='configmaps "x" already exists'):
        await client.create(config_map(namespace), field_manager="m")


async def test_what_is_missing(client: KubeClient, namespace: str) -> None:
    assert await client.find(CONFIG_MAP, "x", namespace) is None
    assert await client.find(GVK("example.com", "v1", "No"), "x", namespace) is None
    with pytest.raises(NotFoundError, match='configmaps "x" not found'):
        await client.get(CONFIG_MAP, "x", namespace)
    with pytest.raises(NotFoundError, match="no matches for kind"):
        await client.get(GVK("apps", "v1", "No"), "x", namespace)


async def test_a_dry_run_leaves_nothing(client: KubeClient, namespace: str) -> None:
    await client.create(config_map(namespace), field_manager="m", dry_run=True)
    await client.apply(config_map(namespace), field_manager="m", dry_run=True)
    assert await client.find(CONFIG_MAP, "x", namespace) is None


async def test_applying_the_same_twice_writes_once(client: KubeClient, namespace: str) -> None:
    first = await client.apply(config_map(namespace, a="1"), field_manager="m")
    second = await client.apply(config_map(namespace, a="1"), field_manager="m")
    assert metadata(first)["resourceVersion"] == metadata(second)["resourceVersion"]


async def test_fields_of_others_are_taken_by_force_only(client: KubeClient, namespace: str) -> None:
    await client.apply(config_map(namespace, a="theirs"), field_manager="other")
    with pytest.raises(ConflictError, match='conflict with "other"'):
        await client.apply(config_map(namespace, a="ours"), field_manager="m", force=False)
    taken = await client.apply(config_map(namespace, a="ours"), field_manager="m")
    assert taken["data"] == {"a": "ours"}


async def test_applying_to_another_uid_or_version_is_a_conflict(
    client: KubeClient, namespace: str
) -> None:
    created = await client.create(config_map(namespace, a="1"), field_manager="m")
    body = config_map(namespace, a="2")
    body["metadata"]["resourceVersion"] = "1"
    with pytest.raises(ConflictError):
        await client.apply(body, field_manager="m")
    body["metadata"] = {**config_map(namespace)["metadata"], "uid": NO_UID}
    with pytest.raises(InvalidError, match=r"metadata\.uid"):
        await client.apply(body, field_manager="m")
    await client.delete(created)
    body = config_map(namespace, a="2")
    body["metadata"]["uid"] = metadata(created)["uid"]
    with pytest.raises(ConflictError):
        await client.apply(body, field_manager="m")


async def test_what_was_posted_becomes_applied_and_can_be_taken_back(
    client: KubeClient, namespace: str
) -> None:
    """Without the migration, a field of the POST would stay when it is applied no more."""
    posted = await client.create(config_map(namespace, a="1", b="1"), field_manager=FIELD_MANAGER)
    assert needs_migration(posted, APPLIER)
    migrated = await client.patch(posted, field_migration(posted, APPLIER), content_type=JSON_PATCH)
    assert not needs_migration(migrated, APPLIER)
    applied = await client.apply(config_map(namespace, a="1"), field_manager=FIELD_MANAGER)
    assert applied["data"] == {"a": "1"}


async def test_a_migration_by_a_stale_look_is_refused(client: KubeClient, namespace: str) -> None:
    posted = await client.create(config_map(namespace, a="1"), field_manager=FIELD_MANAGER)
    await client.patch(posted, {"data": {"b": "theirs"}})
    with pytest.raises(ConflictError):
        await client.patch(posted, field_migration(posted, APPLIER), content_type=JSON_PATCH)


@pytest.mark.parametrize(
    ("patch", "noticed"),
    [
        pytest.param({"data": {"a": "2"}}, True, id="a value of ours"),
        pytest.param({"data": {"a": None}}, True, id="a field of ours that was removed"),
        pytest.param({"data": {"c": "3"}}, False, id="a field of somebody else"),
        pytest.param({"metadata": {"labels": {"a": "b"}}}, False, id="a label of somebody else"),
        pytest.param({"data": {"a": "1"}}, False, id="the same value again"),
    ],
)
@pytest.mark.parametrize("applied", [False, True], ids=["posted", "applied"])
async def test_the_servers_notes_tell_which_changes_are_ours_to_mend(
    client: KubeClient, namespace: str, patch: dict[str, Any], *, noticed: bool, applied: bool
) -> None:
    write = client.apply if applied else client.create
    before = await write(config_map(namespace, a="1", b="2"), field_manager=FIELD_MANAGER)
    await client.patch(before, patch, field_manager="kubectl-edit")
    after = await client.get(CONFIG_MAP, "x", namespace, metadata_only=True)
    assert (fingerprint(before, APPLIER) != fingerprint(after, APPLIER)) is noticed


async def test_patches_reach_subresources_and_demand_what_they_test(
    client: KubeClient, namespace: str
) -> None:
    found = await client.get(NAMESPACE, namespace)
    wrong = [{"op": "test", "path": "/metadata/uid", "value": "other"}]
    with pytest.raises(InvalidError):
        await client.patch(found, wrong, content_type=JSON_PATCH)
    status = {"status": {"conditions": [{"type": "Reported", "status": "True"}]}}
    await client.patch(found, status, subresource="status")
    conditions = (await client.get(NAMESPACE, namespace))["status"]["conditions"]
    assert [c["type"] for c in conditions] == ["Reported"]


async def test_deleting_demands_its_preconditions_and_is_idempotent(
    client: KubeClient, namespace: str
) -> None:
    created = await client.create(config_map(namespace), field_manager="m")
    with pytest.raises(ConflictError):
        await client.delete(created, uid=NO_UID)
    with pytest.raises(ConflictError):
        await client.delete(created, resource_version="1")
    meta = metadata(created)
    await client.delete(created, uid=meta["uid"], resource_version=meta["resourceVersion"])
    await client.delete(created)


async def test_the_servers_rules_are_errors_that_say_so(client: KubeClient, namespace: str) -> None:
    with pytest.raises(InvalidError, match="a lowercase RFC 1123 subdomain"):
        await client.create(config_map(namespace, "UPPER"), field_manager="m")


async def test_lists_are_read_page_by_page_and_whole(
    client: KubeClient, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kube, "PAGE_SIZE", 3)
    for number in range(8):
        obj = config_map(namespace, f"m{number}")
        obj["metadata"]["labels"] = {"parity": str(number % 2)}
        await client.create(obj, field_manager="m")
    everything, version = await client.list_all(CONFIG_MAP, namespace)
    assert {name_of(o) for o in everything} >= {f"m{n}" for n in range(8)}
    assert int(version) > 0
    odd, _ = await client.list_all(CONFIG_MAP, namespace, labels="parity=1")
    assert [name_of(o) for o in odd] == ["m1", "m3", "m5", "m7"]
    assert {(o["apiVersion"], o["kind"]) for o in odd} == {("v1", "ConfigMap")}


async def test_of_a_page_no_more_is_held_than_is_asked_for(
    client: KubeClient, namespace: str
) -> None:
    for number in range(5):
        await client.create(config_map(namespace, f"m{number}", a="1"), field_manager="m")
    asked = client.answers["GET", "200"]
    found, _ = await client.list_all(
        CONFIG_MAP, namespace, page_size=2, keep=lambda obj: {"name": name_of(obj)}
    )
    assert {f"m{n}" for n in range(5)} <= {obj["name"] for obj in found}
    assert client.answers["GET", "200"] - asked >= 3


async def test_metadata_only_is_metadata_with_the_true_kind(
    client: KubeClient, namespace: str
) -> None:
    await client.create(config_map(namespace, a="1"), field_manager="m")
    one = await client.get(CONFIG_MAP, "x", namespace, metadata_only=True)
    listed, version = await client.list_all(CONFIG_MAP, namespace, metadata_only=True)
    watched = client.watch(CONFIG_MAP, namespace, resource_version="0", metadata_only=True)
    seen = [(await anext(watched))["object"] for _ in listed]
    await watched.aclose()
    for obj in (one, *listed, *seen):
        assert (obj["apiVersion"], obj["kind"]) == ("v1", "ConfigMap")
        assert "data" not in obj
    assert metadata(one)["managedFields"]
    assert version


@both_connections
async def test_a_watch_sends_what_happens_after_the_list(
    client: KubeClient, namespace: str
) -> None:
    await client.create(config_map(namespace, "before"), field_manager="m")
    _, version = await client.list_all(CONFIG_MAP, namespace, labels="team=red")
    opened = asyncio.Event()
    seen: list[tuple[str, str]] = []

    async def follow() -> None:
        async for event in client.watch(
            CONFIG_MAP,
            namespace,
            resource_version=version,
            labels="team=red",
            opened=opened.set,
        ):
            seen.append((event["type"], name_of(event["object"])))
            if event["type"] == "DELETED":
                return

    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        group.create_task(follow())
        await opened.wait()
        assert seen == []
        red = config_map(namespace, "red")
        red["metadata"]["labels"] = {"team": "red"}
        await client.create(red, field_manager="m")
        await client.create(config_map(namespace, "blue"), field_manager="m")
        await client.patch(red, {"data": {"a": "1"}})
        # leaving the selector looks like a deletion
        await client.patch(red, {"metadata": {"labels": {"team": None}}})
    assert seen == [("ADDED", "red"), ("MODIFIED", "red"), ("DELETED", "red")]


@both_connections
async def test_a_watch_that_ends_by_itself_ends_without_error(
    client: KubeClient, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kube, "WATCH_SECONDS", 1)
    _, version = await client.list_all(CONFIG_MAP, namespace, labels="team=red")
    await client.create(config_map(namespace), field_manager="m")  # outside the selector
    async with asyncio.timeout(60):
        events = [
            event["type"]
            async for event in client.watch(
                CONFIG_MAP, namespace, resource_version=version, labels="team=red"
            )
        ]
    assert set(events) <= {"BOOKMARK"}


@both_connections
async def test_a_watch_that_is_left_leaves_no_connection_even_to_a_server_that_hangs(
    client: KubeClient, control_plane: ControlPlane
) -> None:
    _, version = await client.list_all(CONFIG_MAP)
    opened = asyncio.Event()
    before = open_files()
    events = client.watch(CONFIG_MAP, resource_version=version, opened=opened.set)
    watching = asyncio.create_task(collect(events))
    await asyncio.wait_for(opened.wait(), 60)
    with frozen(control_plane):
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        await asyncio.sleep(0)
        assert open_files() == before


async def test_a_watch_sends_first_what_there_is_of_a_name(
    client: KubeClient, namespace: str
) -> None:
    await client.create(config_map(namespace, "one"), field_manager="m")
    await client.create(config_map(namespace, "other"), field_manager="m")
    stores = {name: PackedStore() for name in ("one", "missing")}
    before = client.answers["GET", "200"]
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        tasks = []
        for name, store in stores.items():
            selection = Selection(
                CONFIG_MAP,
                namespace,
                fields=f"metadata.name={name}",
                metadata_only=True,
                cached=True,
                streamed=True,
            )
            informer = Informer(client, selection, store, RETRIED)
            tasks.append(group.create_task(informer.run()))
            await informer.settled.wait()
            assert informer.problem == ""
        # The server's cache may not have heard of it yet.
        while not stores["one"].objects():  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        assert stores["missing"].objects() == []
        assert client.answers["GET", "200"] - before == len(stores), "no list"
        await client.create(config_map(namespace, "missing"), field_manager="m")
        while not stores["missing"].objects():  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        for task in tasks:
            task.cancel()


LARGE = 1_000_000
"""Bytes of an object of which a name is to be held; a new connection with TLS has 256 KiB."""


@both_connections
async def test_a_watch_holds_nothing_of_what_it_has_read(
    client: KubeClient, namespace: str
) -> None:
    store = _names()

    async def seen(name: str, size: int) -> None:
        made = config_map(namespace, name, data="x" * size)
        await client.create(made, field_manager="m", metadata_only=True)
        await _stored(store, name, namespace)

    async with _informed(client, Selection(CONFIG_MAP, namespace), store):
        await seen("small", 1)  # its connections are there
        with _bytes_held() as held:
            await seen("large", LARGE)
            assert held() < LARGE / 2


@both_connections
async def test_a_watch_holds_nothing_of_what_there_was(client: KubeClient, namespace: str) -> None:
    for name, size in (("small", 1), ("large", LARGE)):
        made = config_map(namespace, name, data="x" * size)
        await client.create(made, field_manager="m", metadata_only=True)

    @asynccontextmanager
    async def watched(name: str) -> AsyncIterator[None]:
        of_one = Selection(
            CONFIG_MAP, namespace, fields=f"metadata.name={name}", cached=True, streamed=True
        )
        store = _names()
        async with _informed(client, of_one, store):
            await _stored(store, name, namespace)
            yield

    async with watched("small"):
        with _bytes_held() as held:
            async with watched("large"):
                assert held() < LARGE / 2


def _names() -> Store[str]:
    return Store(lambda obj: str(metadata(obj)["name"]))


async def _stored(store: Store[str], name: str, namespace: str) -> None:
    while store.get(name, namespace) is None:  # noqa: ASYNC110
        await asyncio.sleep(0.02)


@asynccontextmanager
async def _informed(
    client: KubeClient, selection: Selection, store: Store[str]
) -> AsyncIterator[None]:
    """A store that is kept up to date for a while, at most a minute."""
    informer = Informer(client, selection, store, RETRIED)
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        task = group.create_task(informer.run())
        try:
            yield
        finally:
            task.cancel()


@contextmanager
def _bytes_held() -> Iterator[Callable[[], int]]:
    """Of what Python allocated since, those that are in use when asked."""

    def held() -> int:
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        yield held
    finally:
        tracemalloc.stop()


own = own_control_plane(controller_manager=False)
"""Its API server is stopped and started again."""


async def test_many_watches_need_few_connections_and_go_on_after_a_restart(
    own: ControlPlane,
) -> None:
    many = long_answers.FEW + 150
    async with KubeClient.connect(load_access(str(own.kubeconfig))) as client:
        await client.find(NAMESPACE, "default")
        before = open_files()
        stores = [PackedStore() for _ in range(many)]
        selection = Selection(CONFIG_MAP, "default", cached=True)
        informers = [Informer(client, selection, store, RETRIED) for store in stores]

        async def seen_by_all(name: str) -> None:
            await client.create(config_map("default", name), field_manager="m")
            while any(s.get(name, "default") is None for s in stores):  # noqa: ASYNC110
                await asyncio.sleep(0.05)

        async with asyncio.timeout(300), asyncio.TaskGroup() as group:
            tasks = []
            for informer in informers:  # each has listed before the next one does
                tasks.append(group.create_task(informer.run()))
                await informer.settled.wait()
            await seen_by_all("one")
            assert open_files() - before < long_answers.FEW + 150 / 10
            await asyncio.to_thread(own.stop_apiserver)
            await asyncio.to_thread(own.start_apiserver)
            await seen_by_all("other")
            for task in tasks:
                task.cancel()


async def test_a_client_that_is_closed_leaves_no_connection_of_a_request_that_was_cut(
    control_plane: ControlPlane,
) -> None:
    before = open_files()
    async with KubeClient.connect(load_access(str(control_plane.kubeconfig))) as client:
        await client.find(NAMESPACE, "default")
        with frozen(control_plane):
            asking = asyncio.create_task(client.find(NAMESPACE, "default"))
            await asyncio.sleep(0.1)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            assert open_files() > before
            await client.close()
            assert open_files() == before


@contextmanager
def frozen(control_plane: ControlPlane) -> Iterator[None]:
    """An API server that does nothing for a while."""
    server = control_plane.children["kube-apiserver"].pid
    assert server
    os.kill(server, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server, signal.SIGCONT)


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


async def collect(events: AsyncIterator[dict[str, Any]]) -> list[dict[str, Any]]:
    return [event async for event in events]


@pytest.fixture(scope="module")
def restarted(own: ControlPlane) -> ControlPlane:
    """A server that was started anew knows nothing of what was before."""
    own.stop_apiserver()
    own.start_apiserver()
    return own


@both_connections
async def test_watching_from_a_version_that_is_too_old_is_gone(restarted: ControlPlane) -> None:
    async with KubeClient.connect(load_access(str(restarted.kubeconfig))) as client:
        events = client.watch(CONFIG_MAP, "default", resource_version="1")
        with pytest.raises(GoneError, match="too old resource version"):
            await asyncio.wait_for(anext(aiter(events)), 60)


async def test_acting_as_a_service_account_has_its_rights_and_no_others(
    client: KubeClient, namespace: str, kubectl: Kubectl
) -> None:
    kubectl("create", "serviceaccount", "reader", "-n", namespace)
    reader = client.as_service_account(namespace, "reader")
    with pytest.raises(ForbiddenError, match=f"system:serviceaccount:{namespace}:reader"):
        await reader.get(CONFIG_MAP, "kube-root-ca.crt", namespace)
    bind = ("rolebinding", "reader", "--clusterrole=view", "-n", namespace)
    kubectl("create", *bind, f"--serviceaccount={namespace}:reader")
    await client.create(config_map(namespace), field_manager="m")
    async with asyncio.timeout(60):
        while True:
            try:
                assert name_of(await reader.get(CONFIG_MAP, "x", namespace)) == "x"
                break
            except ForbiddenError:  # the authorizer learns of the binding in moments
                await asyncio.sleep(0.05)
    with pytest.raises(ForbiddenError):
        await reader.apply(config_map(namespace, a="1"), field_manager="m")
    with pytest.raises(ForbiddenError):
        await anext(aiter(reader.watch(NAMESPACE, resource_version="0")))
    assert await client.get(NAMESPACE, namespace)


async def test_a_definition_that_comes_back_with_another_scope_is_found_at_its_new_address(
    client: KubeClient, namespace: str
) -> None:
    group = f"{namespace}.example.com"
    thing = GVK(group, "v1", "Thing")
    for scope, home in (("Namespaced", namespace), ("Cluster", "")):
        await client.create(definition(group, scope), field_manager="m")
        obj = {"apiVersion": f"{group}/v1", "kind": "Thing", "metadata": {"name": "x"}}
        if home:
            obj["metadata"]["namespace"] = home  # type: ignore[index]
        await make(client, obj)
        assert await client.get(thing, "x", home)
        await client.delete(definition(group, scope))
        crd = GVK("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
        async with asyncio.timeout(60):
            while await client.find(crd, f"things.{group}"):  # noqa: ASYNC110
                await asyncio.sleep(0.05)


async def make(client: KubeClient, obj: KubeObject) -> None:
    """Creates an object as soon as its kind is served, as a reconcile would: try, try again."""
    async with asyncio.timeout(60):
        while True:
            try:
                await client.create(obj, field_manager="m")
            except (NotFoundError, InvalidError):
                await asyncio.sleep(0.1)
            else:
                return


def definition(group: str, scope: str) -> KubeObject:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"things.{group}"},
        "spec": {
            "group": group,
            "scope": scope,
            "names": {"plural": "things", "singular": "thing", "kind": "Thing"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }
