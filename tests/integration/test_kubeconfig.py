"""Every way in which a kubeconfig says how to reach an API server, on a real one."""

import asyncio
import base64
import contextlib
import getpass
import json
import socket
import stat
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from api.objects import GVK, KubeObject
from e2e.harness.controlplane import ControlPlane
from olm_cli.jsonpath import parse_template
from olm_runtime.errors import TerminalError
from olm_runtime.kube.access import load_access
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError, ForbiddenError
from olm_runtime.kube.overrides import Overrides
from olm_runtime.watch.packed_store import PackedStore
from olm_runtime.watch.source import Source
from olm_runtime.watch.watcher import Watcher

pytestmark = pytest.mark.integration

NAMESPACES = GVK("", "v1", "Namespace")
Change = Callable[[dict[str, Any], dict[str, Any]], None]


@pytest.fixture
def kubeconfig(control_plane: ControlPlane, tmp_path: Path) -> Callable[[Change], Path]:
    """Writes the administrator's kubeconfig with its cluster and user entries changed."""

    def write(change: Change) -> Path:
        content = yaml.safe_load(control_plane.kubeconfig.read_text())
        change(content["clusters"][0]["cluster"], content["users"][0]["user"])
        path = tmp_path / "kubeconfig.yaml"
        path.write_text(yaml.safe_dump(content))
        return path

    return write


@pytest.fixture
def token(control_plane: ControlPlane, namespace: str) -> str:
    """A token of the namespace's default account, which may ask who it is and no more."""
    return control_plane.kubectl("create", "token", "default", "-n", namespace).strip()


async def namespaces(path: Path) -> list[KubeObject]:
    async with KubeClient.connect(load_access(str(path))) as client:
        return (await client.list_all(NAMESPACES))[0]


async def user(client: KubeClient) -> str:
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    answer = await client.request("POST", path, body=body)
    return str(answer["status"]["userInfo"]["username"])


async def whoami(path: Path, **overrides: Any) -> dict[str, Any]:
    """Who we are to the server: username, uid, groups."""
    async with KubeClient.connect(load_access(str(path), Overrides(**overrides))) as client:
        path_ = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        answer = await client.request("POST", path_, body=body)
    info: dict[str, Any] = answer["status"]["userInfo"]
    return info


async def first_watch(path: Path) -> None:
    """Returns when kopf has opened a watch."""
    source = Source(NAMESPACES, "namespaces", PackedStore())
    watcher = Watcher(load_access(str(path)), [source])
    watching = asyncio.create_task(watcher.run())
    try:
        async with asyncio.timeout(60):
            await watcher.synced.wait()
            while source.path not in watcher._health._opened:  # noqa: ASYNC110 - it signals nobody
                await asyncio.sleep(0.05)
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


async def test_a_client_certificate(kubeconfig: Callable[[Change], Path]) -> None:
    path = kubeconfig(lambda _cluster, _user: None)
    assert await namespaces(path)
    await first_watch(path)


async def test_watching_needs_no_name_of_the_user(
    kubeconfig: Callable[[Change], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody() -> str:
        raise KeyError("getpwuid(): uid not found: 65532")  # as in a container

    monkeypatch.setattr(getpass, "getuser", nobody)
    await first_watch(kubeconfig(lambda _cluster, _user: None))


async def test_the_certificate_is_checked_for_tls_server_name(
    kubeconfig: Callable[[Change], Path],
) -> None:
    known = kubeconfig(lambda cluster, _: cluster.update({"tls-server-name": "kubernetes.default"}))
    assert await namespaces(known)
    await first_watch(known)
    other = kubeconfig(lambda cluster, _: cluster.update({"tls-server-name": "other.example.com"}))
    with pytest.raises(ApiError, match=r"other\.example\.com"):
        await namespaces(other)


async def test_a_token_file_is_read_again(
    kubeconfig: Callable[[Change], Path], tmp_path: Path, token: str, namespace: str
) -> None:
    def use_file(_: dict[str, Any], entry: dict[str, Any]) -> None:
        entry.clear()
        entry["tokenFile"] = "token"

    (tmp_path / "token").write_text("an old token\n")
    async with KubeClient.connect(load_access(str(kubeconfig(use_file)))) as client:
        with pytest.raises(ForbiddenError):
            await user(client)
        (tmp_path / "token").write_text(token + "\n")
        assert await user(client) == f"system:serviceaccount:{namespace}:default"
        (tmp_path / "token").unlink()
        with pytest.raises(ApiError, match=r"cannot read the token file .*/token: No such file"):
            await user(client)


async def test_an_exec_plugin_gives_the_token(
    kubeconfig: Callable[[Change], Path], tmp_path: Path, token: str, namespace: str
) -> None:
    plugin = tmp_path / "plugin"
    version = "client.authentication.k8s.io/v1"
    answer = {"apiVersion": version, "kind": "ExecCredential", "status": {"token": token}}
    plugin.write_text(f"#!/bin/sh\ncat <<'EOF'\n{json.dumps(answer)}\nEOF\n")
    plugin.chmod(plugin.stat().st_mode | stat.S_IXUSR)

    def use_plugin(_: dict[str, Any], entry: dict[str, Any]) -> None:
        entry.clear()
        entry["exec"] = {
            "apiVersion": version,
            "command": str(plugin),
            "interactiveMode": "Never",
        }

    async with KubeClient.connect(load_access(str(kubeconfig(use_plugin)))) as client:
        assert await user(client) == f"system:serviceaccount:{namespace}:default"


class Tunnels:
    """An HTTP proxy that knows CONNECT alone; counts what it was asked for."""

    def __init__(self) -> None:
        self.targets: list[str] = []
        self.port = 0

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        _, target, _ = head.split(" ", 2)
        self.targets.append(target)
        host, _, port = target.rpartition(":")
        inner_reader, inner_writer = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(_copy(reader, inner_writer), _copy(inner_reader, writer))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    writer.close()


@pytest.fixture
async def tunnels() -> AsyncIterator[Tunnels]:
    tunnels = Tunnels()
    server = await asyncio.start_server(tunnels.handle, "127.0.0.1", 0)
    tunnels.port = server.sockets[0].getsockname()[1]
    yield tunnels
    server.close()


async def test_everything_goes_through_proxy_url(
    kubeconfig: Callable[[Change], Path], control_plane: ControlPlane, tunnels: Tunnels
) -> None:
    address = f"http://127.0.0.1:{tunnels.port}"
    path = kubeconfig(lambda cluster, _: cluster.update({"proxy-url": address}))
    assert await namespaces(path)
    asked = len(tunnels.targets)
    assert asked >= 1
    await first_watch(path)
    assert len(tunnels.targets) > asked
    assert set(tunnels.targets) == {control_plane.url.removeprefix("https://")}


@pytest.fixture(params=["plain", "by the official client"])
def two_clusters(
    request: pytest.FixtureRequest, control_plane: ControlPlane, tmp_path: Path
) -> Path:
    """The real cluster is that of no context's pairing but `right`; `jane` is next to `admin`."""
    content = yaml.safe_load(control_plane.kubeconfig.read_text())
    jane = yaml.safe_load(control_plane.kubeconfig_for("jane").read_text())["users"][0]["user"]
    right, admin = content["clusters"][0]["cluster"], content["users"][0]["user"]
    wrong: dict[str, Any] = {
        "server": "https://127.0.0.1:1",
        "tls-server-name": "wrong.example.com",
    }
    content["clusters"] = [{"name": "right", "cluster": right}, {"name": "wrong", "cluster": wrong}]
    content["users"] = [{"name": "admin", "user": admin}, {"name": "jane", "user": jane}]
    content["contexts"] = [
        {"name": name, "context": {"cluster": name, "user": "admin"}} for name in ("right", "wrong")
    ]
    content["current-context"] = "wrong"
    if request.param != "plain":  # a field that no plain kubeconfig has
        for each in (right, wrong):
            each |= {"disable-compression": True}
    path = tmp_path / "two.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


async def test_what_is_said_beside_the_kubeconfig_counts(
    two_clusters: Path, control_plane: ControlPlane, token: str, namespace: str, tmp_path: Path
) -> None:
    with pytest.raises(ApiError, match="cannot reach the API server"):
        await whoami(two_clusters)
    assert (await whoami(two_clusters, context="right"))["username"] == "admin"
    assert (await whoami(two_clusters, cluster="right", user="jane"))["username"] == "jane"
    account = f"system:serviceaccount:{namespace}:default"
    assert (await whoami(two_clusters, context="right", token=token))["username"] == account
    # For another server neither the name nor the CAs of the context's are taken.
    with pytest.raises(ApiError, match="certificate verify failed"):
        await whoami(two_clusters, server=control_plane.url)
    authority = tmp_path / "ca.crt"
    authority.write_bytes(base64.b64decode(_authority(control_plane)))
    known = {"server": control_plane.url, "authority": str(authority)}
    assert (await whoami(two_clusters, **known))["username"] == "admin"
    assert (await whoami(two_clusters, server=control_plane.url, insecure=True))["username"]
    with pytest.raises(ApiError, match=r"other\.example\.com"):
        await whoami(two_clusters, **known, server_name="other.example.com")
    assert await whoami(two_clusters, **known, server_name="kubernetes.default")


def _authority(control_plane: ControlPlane) -> str:
    content = yaml.safe_load(control_plane.kubeconfig.read_text())
    return str(content["clusters"][0]["cluster"]["certificate-authority-data"])


async def test_somebody_else_is_acted_as(two_clusters: Path) -> None:
    found = await whoami(
        two_clusters, context="right", as_user="bob", as_groups=("a", "b"), as_uid="7"
    )
    assert (found["username"], found["uid"]) == ("bob", "7")
    assert {"a", "b", "system:authenticated"} == set(found["groups"])
    with pytest.raises(ForbiddenError, match='User "jane" cannot impersonate'):
        await whoami(two_clusters, context="right", user="jane", as_user="bob")
    with pytest.raises(TerminalError, match="and no user"):
        await whoami(two_clusters, context="right", as_groups=("a",))
    _add_to_admin(two_clusters, {"as": "carol", "as-groups": ["c"]})
    assert (await whoami(two_clusters, context="right"))["username"] == "carol"
    overrides = Overrides(context="right", as_user="bob", as_groups=("a",))
    async with KubeClient.connect(load_access(str(two_clusters), overrides)) as client:
        account = client.as_service_account("default", "default")
        assert await user(account) == "system:serviceaccount:default:default"


def _add_to_admin(path: Path, fields: dict[str, Any]) -> None:
    content = yaml.safe_load(path.read_text())
    content["users"][0]["user"] |= fields
    path.write_text(yaml.safe_dump(content))


async def test_entries_that_are_not_there_are_named(two_clusters: Path) -> None:
    asked = {
        "right": Overrides(context="rightx"),
        "wrong": Overrides(cluster="wrongx"),
        "jane": Overrides(user="janex"),
    }
    for near, overrides in asked.items():
        with pytest.raises(
            TerminalError, match=f'has no (context|cluster|user) "{near}x"'
        ) as caught:
            load_access(str(two_clusters), overrides)
        assert caught.value.hint == f"did you mean {near}?"


async def test_an_address_suffices_without_any_kubeconfig(
    control_plane: ControlPlane, token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    overrides = Overrides(server=control_plane.url, token=token, insecure=True)
    async with KubeClient.connect(load_access(None, overrides)) as client:
        assert (await user(client)).endswith(":default")


async def test_a_request_ends_when_it_was_given_no_more_time(two_clusters: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(ApiError, match=r"no answer from the API server within 0\.2 s: POST"):
            await whoami(two_clusters, server=f"https://127.0.0.1:{port}", request_seconds=0.2)


def test_templates_of_jsonpath_are_written_as_kubectl_writes_them(
    control_plane: ControlPlane,
) -> None:
    config = json.loads(control_plane.kubectl("config", "view", "-o", "json"))
    for template in (
        "{.contexts[*].name}",
        r'{range .contexts[*]}{.name}{"\t"}{.context.user}{"\n"}{end}',
        '{.users[?(@.name=="admin")].name}',
        "x {.nope} y",
        "{.clusters[-1:].cluster.server}",
        "{.contexts[0].context}",
        "{.users[0].user.client-certificate-data}",
        "{@.kind}{$.apiVersion}",
        "{range .contexts[*]}{range .context}{.user}{end};{end}",
    ):
        asked = control_plane.kubectl("config", "view", "-o", f"jsonpath={template}")
        assert parse_template(template).render(config) == asked, template
    asked = control_plane.kubectl("config", "view", "-o", "jsonpath={..user}")  # in any order
    assert sorted(parse_template("{..user}").render(config).split()) == sorted(asked.split())
