"""Several replicas of catalogd: all serve, one writes, and killing any hurts nobody else."""

import secrets
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import httpx
import pytest

from api.objects import KubeObject, condition
from e2e.harness.controlplane import ControlPlane
from e2e.harness.images import catalog_image
from e2e.harness.registry import Registry
from e2e.olm.api import Api, catalog_path
from e2e.olm.manifests import catalog as catalog_manifest
from e2e.olm.programs import SYSTEM_NAMESPACE, Olm

pytestmark = pytest.mark.integration

BLOB = b'{"schema":"olm.bundle","package":"p","name":"%s","x":"' + b"y" * 50_000 + b'"}\n'
CLIENTS = 2


class Replicas:
    """catalogds that each have a disk and an address of their own, and one catalog."""

    def __init__(self, running: list[Olm], registry: Registry, api: Api) -> None:
        self.all = running
        self.registry = registry
        self.api = api
        self.name = f"catalog-{secrets.token_hex(4)}"
        self.path = catalog_path(self.name)

    def push(self, version: bytes) -> str:
        image = catalog_image({"a.json": (BLOB % version) * 20})
        return self.registry.push(image, self.name, tag="latest").digest

    def apply(self) -> None:
        manifest = catalog_manifest(self.name, f"{self.registry.address}/{self.name}:latest")
        self.all[0].control_plane.apply(manifest)

    def wait_all_serve(self, version: bytes) -> None:
        deadline = time.monotonic() + 60
        waiting = list(self.all)
        while waiting:
            assert time.monotonic() < deadline, f"{len(waiting)} replicas do not serve {version!r}"
            waiting = [olm for olm in waiting if version not in self.content(olm)]
            time.sleep(0.1)

    def content(self, olm: Olm) -> bytes:
        with olm.client() as client:
            answer = client.get(f"/catalogs/{self.name}/api/v1/all")
            return answer.content if answer.status_code == 200 else b""

    def leader(self) -> Olm:
        """Who wrote the status: it says its own address."""
        base = (self.api.get(self.path) or {})["status"]["urls"]["base"]
        [leading] = [olm for olm in self.all if base.startswith(olm.catalogs_url)]
        return leading


@pytest.fixture(scope="module")
def running(
    tmp_path_factory: pytest.TempPathFactory, control_plane: ControlPlane, registry: Registry
) -> Iterator[list[Olm]]:
    with ExitStack() as stack:
        forget_leader(control_plane)
        stack.callback(forget_leader, control_plane)
        started = []
        for _ in range(3):
            olm = Olm(tmp_path_factory.mktemp("replica"), control_plane, registry)
            stack.callback(olm.stop)
            olm.install()
            olm.start_catalogd("--leader-elect")
            started.append(olm)
        yield started


def forget_leader(control_plane: ControlPlane) -> None:
    """A leader that was killed holds its lease a while longer."""
    leases = f"/apis/coordination.k8s.io/v1/namespaces/{SYSTEM_NAMESPACE}/leases"
    control_plane.remove(f"{leases}/catalogd-operator-lock")


@pytest.fixture
def replicas(running: list[Olm], registry: Registry) -> Iterator[Replicas]:
    with Api(running[0].control_plane) as api:
        made = Replicas(running, registry, api)
        made.push(b"v1")
        made.apply()
        made.wait_all_serve(b"v1")
        yield made
        # Nobody may lead now to remove it.
        api.patch(made.path, {"metadata": {"finalizers": None}})
        api.delete(made.path)
        api.wait_gone(made.path)


class Load:
    """Clients that ask one replica without a pause, and note every answer that is not whole."""

    def __init__(self, olm: Olm, path: str, expected: bytes) -> None:
        self.failures: list[str] = []
        self.answers = 0
        self._olm, self._path, self._expected = olm, path, expected
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run) for _ in range(CLIENTS)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _run(self) -> None:
        with self._olm.client() as client:
            while not self._stop.is_set():
                try:
                    answer = client.get(self._path)
                    whole = answer.status_code == 200 and answer.content == self._expected
                    fault = "" if whole else f"{answer.status_code}, {len(answer.content)} bytes"
                except httpx.HTTPError as error:
                    fault = repr(error)
                self.answers += 1
                if fault:
                    self.failures.append(fault)


def test_only_the_leader_writes_and_followers_take_what_it_resolved(replicas: Replicas) -> None:
    leading = replicas.leader()
    uid = (replicas.api.get(replicas.path) or {})["metadata"]["uid"]

    second = replicas.push(b"v2")
    image = {"pollIntervalMinutes": 5}
    replicas.api.patch(replicas.path, {"spec": {"source": {"image": image}}})
    replicas.wait_all_serve(b"v2")

    found = replicas.api.get(replicas.path) or {}
    assert found["status"]["resolvedSource"]["image"]["ref"].endswith(second)
    assert replicas.leader() is leading
    assert found["metadata"]["uid"] == uid
    controllers = {e["reportingInstance"] for e in events(replicas)}
    assert len(controllers) == 1, controllers
    assert len({replicas.content(olm) for olm in replicas.all}) == 1


def all_of(replicas: Replicas) -> str:
    return f"/catalogs/{replicas.name}/api/v1/all"


def events(replicas: Replicas) -> list[dict[str, str]]:
    with replicas.all[0].control_plane.client() as client:
        found = client.get("/apis/events.k8s.io/v1/namespaces/default/events").json()
    return [e for e in found["items"] if e["regarding"]["name"] == replicas.name]


def test_a_leader_that_ends_hands_over(replicas: Replicas) -> None:
    leading = replicas.leader()
    request_refresh(replicas, "one")
    answered = replicas.api.wait_condition(
        replicas.path, "Refreshed", "True", message='"one": nothing new'
    )
    leading.stop()
    second = replicas.push(b"v2")
    image = {"pollIntervalMinutes": 5}
    replicas.api.patch(replicas.path, {"spec": {"source": {"image": image}}})
    replicas.api.wait(
        replicas.path,
        lambda obj: (obj or {})["status"]["resolvedSource"]["image"]["ref"].endswith(second),
        what="another leader's answer",
        timeout=180,
    )
    assert replicas.leader() is not leading
    current = replicas.api.get(replicas.path) or {}
    assert condition(current, "Refreshed") == condition(answered, "Refreshed")
    leading.start_catalogd("--leader-elect")
    third = replicas.push(b"v3")
    request_refresh(replicas, "two")
    replicas.api.wait_condition(replicas.path, "Refreshed", "True", message=third)
    replicas.wait_all_serve(b"v3")


def request_refresh(replicas: Replicas, request: str) -> None:
    annotations = {"olm.operatorframework.io/refresh-requested-at": request}
    replicas.api.patch(replicas.path, {"metadata": {"annotations": annotations}})


def test_a_follower_that_is_promoted_asks_for_the_reference_that_nobody_resolved(
    replicas: Replicas,
) -> None:
    """It fetched the old content while the specification had the new reference already."""
    leading = replicas.leader()
    promoted, away = (olm for olm in replicas.all if olm is not leading)
    leading.kill(leading.catalogd)
    for olm in (promoted, away):
        olm.stop()
    image = catalog_image({"a.json": (BLOB % b"v2") * 20})
    pushed = replicas.registry.push(image, replicas.name, tag="next")
    source = {"image": {"ref": pushed.tag_reference}}
    replicas.api.patch(replicas.path, {"spec": {"source": source}})
    shutil.rmtree(promoted.work_dir / "catalogd")
    promoted.start_catalogd("--leader-elect")
    assert b"v1" in replicas.content(promoted)

    forget_leader(promoted.control_plane)
    replicas.api.wait(
        replicas.path,
        lambda obj: (obj or {})["status"]["resolvedSource"]["image"]["ref"].endswith(pushed.digest),
        what="the new reference resolved",
        timeout=180,
    )
    for olm in (leading, away):
        olm.start_catalogd("--leader-elect")
    replicas.wait_all_serve(b"v2")


def test_a_replica_that_joins_is_ready_when_it_has_what_the_others_have(
    replicas: Replicas, tmp_path: Path
) -> None:
    joining = Olm(tmp_path, replicas.all[0].control_plane, replicas.registry)
    joining.install()
    try:
        joining.start_catalogd("--leader-elect")  # which waits until it says that it is ready
        assert b"v1" in replicas.content(joining)
    finally:
        joining.stop()


def test_killing_any_replica_under_load_hurts_nobody_else(replicas: Replicas) -> None:
    """A follower first: when the leader is killed, nobody leads for the time of its lease."""

    def reported() -> KubeObject:
        """But for the address, which is the leader's."""
        return {**(replicas.api.get(replicas.path) or {})["status"], "urls": None}

    before = reported()
    leading = replicas.leader()
    follower = next(olm for olm in replicas.all if olm is not leading)
    for victim in (follower, leading):
        kill_under_load(replicas, victim)
    assert reported() == before


def kill_under_load(replicas: Replicas, victim: Olm) -> None:
    others = [olm for olm in replicas.all if olm is not victim]
    expected = replicas.content(victim)
    with ExitStack() as stack:
        loads = [stack.enter_context(Load(olm, all_of(replicas), expected)) for olm in others]
        wait_more(loads, 20)
        victim.kill(victim.catalogd)
        wait_more(loads, 100)
        victim.start_catalogd("--leader-elect")
        wait_more(loads, 20)
    assert [load.failures for load in loads] == [[], []]
    assert replicas.content(victim) == expected


def wait_more(loads: list[Load], answers: int) -> None:
    deadline = time.monotonic() + 60
    wanted = [load.answers + answers for load in loads]
    while any(load.answers < count for load, count in zip(loads, wanted, strict=True)):
        assert time.monotonic() < deadline
        time.sleep(0.02)
