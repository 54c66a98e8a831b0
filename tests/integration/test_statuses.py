"""Statuses are written over what they were computed from, and over nothing else."""

import secrets
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from api.objects import GVK, KubeObject, condition, is_true
from e2e.olm.api import OLM, Api
from e2e.olm.bundles import BundleSpec
from e2e.olm.manifests import with_administrator
from e2e.olm.programs import Olm
from olm_runtime.controller.status_writer import StatusWriter
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ConflictError

pytestmark = pytest.mark.integration

NODE = GVK("", "v1", "Node")
"""A kind whose status nobody but this test writes."""
SETTLED_SECONDS = 5.0
"""Whatever was still to be looked at after the install has been."""


@pytest.fixture
async def node(client: KubeClient) -> AsyncIterator[KubeObject]:
    name = f"node-{secrets.token_hex(4)}"
    wanted: KubeObject = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}
    made: KubeObject = await client.create(wanted, field_manager="test")
    yield made
    await client.delete(made)


def status(address: str) -> dict[str, Any]:
    return {"addresses": [{"type": "Hostname", "address": address}]}


async def status_of(client: KubeClient, node: KubeObject) -> Any:
    found = await client.get(NODE, node["metadata"]["name"])
    return {"addresses": found["status"].get("addresses")}


async def test_a_leader_that_slept_takes_nothing_back(client: KubeClient, node: KubeObject) -> None:
    assert await StatusWriter(client).write(node, status("next-leader"))
    with pytest.raises(ConflictError):
        await StatusWriter(client).write(node, status("slept"))
    assert await status_of(client, node) == status("next-leader")


async def test_an_annotation_that_changed_meanwhile_is_no_obstacle(
    client: KubeClient, node: KubeObject
) -> None:
    await client.patch(node, {"metadata": {"annotations": {"a": "b"}}})
    assert await StatusWriter(client).write(node, status("x"))
    assert await status_of(client, node) == status("x")


async def test_what_took_the_name_meanwhile_gets_no_status(
    client: KubeClient, node: KubeObject
) -> None:
    await client.delete(node)
    assert not await StatusWriter(client).write(node, status("x"))
    wanted = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node["metadata"]["name"]}}
    await client.create(wanted, field_manager="test")
    with pytest.raises(ConflictError):
        await StatusWriter(client).write(node, status("x"))


async def test_statuses_of_others_are_distinguished_from_ours(
    client: KubeClient, node: KubeObject
) -> None:
    writer = StatusWriter(client)
    assert not writer.is_of_others(node)
    await writer.write(node, status("ours"))
    ours = await client.get(NODE, node["metadata"]["name"])
    assert not writer.is_of_others(ours)
    await client.patch(node, {"status": status("theirs")}, subresource="status")
    theirs = await client.get(NODE, node["metadata"]["name"])
    assert writer.is_of_others(theirs)
    assert await writer.write(theirs, theirs["status"]) is None
    assert not writer.is_of_others(theirs)


@pytest.mark.parametrize(
    "path", ["clusterobjectsets/{}-1", "clusterextensions/{}"], ids=["revision", "extension"]
)
def test_a_status_that_somebody_else_wrote_is_made_right(
    path: str,
    olm: Olm,
    api: Api,
    package: str,
    publish_catalog: Callable[..., str],
    serve_catalog: Callable[[str, str], None],
) -> None:
    serve_catalog(package, publish_catalog(BundleSpec(package=package, version="1.0.0")))
    olm.control_plane.apply(with_administrator(package, "1.0.0"))
    api.wait_installed(package, "1.0.0")
    time.sleep(SETTLED_SECONDS)
    where = f"{OLM}/{path.format(package)}"
    with olm.control_plane.client() as admin:
        headers = {"Content-Type": "application/merge-patch+json"}
        taken: dict[str, Any] = {"status": {"conditions": [], "install": None}}
        admin.patch(f"{where}/status", json=taken, headers=headers).raise_for_status()

    def is_right(obj: KubeObject | None) -> bool:
        kind = "Succeeded" if "objectsets" in where else "Installed"
        return obj is not None and is_true(obj, kind) and condition(obj, "Progressing") is not None

    api.wait(where, is_right, what=f"the conditions of {where} are back")
    api.wait_installed(package, "1.0.0")
