"""Pull secrets of a real API server, and the registry that asks for them."""

import asyncio
import base64
import json
import secrets
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from e2e.harness.controlplane import ControlPlane
from e2e.harness.images import build_image
from e2e.harness.registry import PasswordAuth, Registry
from e2e.olm.api import Api
from e2e.olm.manifests import namespace, service_account
from olm_runtime.kube.access import load_access
from olm_runtime.kube.client import KubeClient
from olm_runtime.registry.errors import UnauthorizedError
from olm_runtime.registry.image_store import ImageStore
from olm_runtime.registry.pull_secrets import ObjectName, PullSecrets
from olm_runtime.registry.settings import PullSettings

pytestmark = pytest.mark.integration

ACCOUNT = "puller"


class World:
    """A namespace of its own with a service account, and who reads its pull secrets."""

    def __init__(self, control_plane: ControlPlane, client: KubeClient) -> None:
        self.namespace = f"pulls-{secrets.token_hex(4)}"
        self.control_plane = control_plane
        account = service_account(self.namespace, ACCOUNT)
        control_plane.apply(namespace(self.namespace) + "---" + account)
        self.secrets = PullSecrets(
            client,
            global_secret=ObjectName(self.namespace, "global"),
            account=ObjectName(self.namespace, ACCOUNT),
            prefix="test-pull-secret-",
        )

    def apply_secret(self, name: str, config: dict[str, Any]) -> None:
        content = base64.b64encode(json.dumps(config).encode()).decode()
        secret = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": name, "namespace": self.namespace},
            "type": "kubernetes.io/dockerconfigjson",
            "data": {".dockerconfigjson": content},
        }
        self.control_plane.apply([secret])

    def name_in_account(self, *names: str) -> None:
        account = f"/api/v1/namespaces/{self.namespace}/serviceaccounts/{ACCOUNT}"
        with Api(self.control_plane) as api:
            api.patch(account, {"imagePullSecrets": [{"name": name} for name in names]})

    async def auths(self) -> dict[str, Any]:
        """What the file says after a look at the cluster."""
        await self.secrets.refresh()
        file = self.secrets.file
        return json.loads(file.read_bytes())["auths"] if file else {}


@pytest.fixture
async def world(control_plane: ControlPlane) -> AsyncIterator[World]:
    async with KubeClient.connect(load_access(str(control_plane.kubeconfig))) as client:
        made = World(control_plane, client)
        yield made
        made.secrets.close()


def config(registry: str, auth: str) -> dict[str, Any]:
    return {"auths": {registry: {"auth": auth}}}


async def test_the_accounts_secrets_and_the_global_one_are_joined(world: World) -> None:
    assert await world.auths() == {}
    world.apply_secret("one", {"auths": {"a.test": {"auth": "1"}, "b.test": {"auth": "1"}}})
    world.apply_secret("two", config("b.test", "2"))
    assert await world.auths() == {}, "a secret that the account does not name"
    world.name_in_account("one", "absent", "two")
    assert await world.auths() == {"a.test": {"auth": "1"}, "b.test": {"auth": "2"}}
    world.apply_secret("global", config("a.test", "3"))
    assert await world.auths() == {"a.test": {"auth": "3"}, "b.test": {"auth": "2"}}


async def test_a_secret_that_may_not_be_read_holds_up_no_other(
    world: World, control_plane: ControlPlane, caplog: pytest.LogCaptureFixture
) -> None:
    world.apply_secret("locked", config("a.test", "1"))
    world.apply_secret("open", config("b.test", "2"))
    world.name_in_account("locked", "open")
    reader = f"--serviceaccount={world.namespace}:{ACCOUNT}"
    for role, *rights in (
        ("open", "--verb=get", "--resource=secrets", "--resource-name=open"),
        ("account", "--verb=get", "--resource=serviceaccounts"),
    ):
        kubectl = control_plane.kubectl
        kubectl("create", "role", role, *rights, "-n", world.namespace)
        kubectl("create", "rolebinding", role, f"--role={role}", reader, "-n", world.namespace)
    kubeconfig = control_plane.kubeconfig_for_service_account(world.namespace, ACCOUNT)
    async with KubeClient.connect(load_access(str(kubeconfig))) as client:
        account = ObjectName(world.namespace, ACCOUNT)
        own = PullSecrets(client, global_secret=None, account=account, prefix="test-pull-secret-")
        async with asyncio.timeout(60):
            while own.file is None:  # the server may not have heard of the account's rights yet
                await own.refresh()
        assert json.loads(own.file.read_bytes())["auths"] == {"b.test": {"auth": "2"}}
        own.close()
    assert f"pull secret {world.namespace}/locked may not be read" in caplog.text


async def test_the_file_follows_the_secrets_and_is_ours_alone(world: World) -> None:
    world.apply_secret("global", config("a.test", "1"))
    await world.auths()
    file = world.secrets.file
    assert file is not None
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    before = file.stat().st_mtime_ns
    await world.auths()
    assert file.stat().st_mtime_ns == before, "the same secrets are not written again"
    world.apply_secret("global", config("a.test", "2"))
    assert await world.auths() == {"a.test": {"auth": "2"}}
    world.control_plane.end(f"/api/v1/namespaces/{world.namespace}/secrets/global")
    assert await world.auths() == {}
    assert not file.exists()
    world.secrets.close()
    assert not file.parent.exists()


async def test_a_changed_secret_counts_at_the_next_pull(world: World, tmp_path: Path) -> None:
    with Registry(tmp_path / "registry", auth=PasswordAuth()) as registry:
        published = registry.push(build_image([{"a": b"b"}]), "org/locked", tag="v1")
        assert registry.ca_file is not None
        cas = registry.ca_file.parent
        images = ImageStore(
            tmp_path / "i",
            lambda: PullSettings(cas_dir=cas, auth_file=world.secrets.file),
            jitter=lambda: 0.0,
        )
        wrong = base64.b64encode(b"user:wrong").decode()
        world.apply_secret("global", config(registry.address, wrong))
        await world.secrets.refresh()
        with pytest.raises(UnauthorizedError):
            await images.pull(published.tag_reference, owner="o")
        world.apply_secret("global", registry.docker_config())
        await world.secrets.refresh()
        assert await (await images.pull(published.tag_reference, owner="o")).read() == {"a": b"b"}
