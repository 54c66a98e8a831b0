"""The packages of catalogs: who may see them, and while they are being read."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from socket import create_server
from typing import Any

import pytest

from api.olm.v1.kinds import CATALOG
from console import warming
from console.offers import check_readable, of_catalog, offers_of, warm
from console.sessions import Session
from console.shown_pages import Made, Viewer
from console.users import User
from e2e.harness.controlplane import ControlPlane
from olm_client.catalogs.cluster import Served
from olm_client.reach import ClusterOptions, Reach
from olm_runtime.errors import TerminalError
from olm_runtime.kube.overrides import Overrides

pytestmark = pytest.mark.integration

INSIDE = Served("team", "sha256:0", "https://catalogd.olmv1-system.svc/catalogs/team", True)
OUTSIDE = Served("team", "sha256:0", "https://catalogs.example.com/catalogs/team", True)


async def test_a_catalog_is_for_those_who_may_ask_for_it(control_plane: ControlPlane) -> None:
    config = str(control_plane.kubeconfig)
    administrator = User.connect("me", ClusterOptions(Reach(config)))
    stranger = User.connect("you", ClusterOptions(Reach(config, Overrides(as_user="stranger"))))
    try:
        await check_readable(administrator, INSIDE)
        await check_readable(stranger, OUTSIDE)
        with pytest.raises(TerminalError, match='you may not read catalog "team"') as raised:
            await check_readable(stranger, INSIDE)
        assert "services/proxy in namespace olmv1-system" in raised.value.hint
    finally:
        await administrator.close()
        await stranger.close()


@pytest.fixture
def silent(control_plane: ControlPlane) -> Iterator[str]:
    """A catalog whose server takes requests and does not answer."""
    name = "silent"
    with create_server(("127.0.0.1", 0)) as server:
        kind = "/apis/olm.operatorframework.io/v1/clustercatalogs"
        spec = {"source": {"type": "Image", "image": {"ref": "registry.example.com/a:latest"}}}
        made = {"apiVersion": CATALOG.api_version, "kind": CATALOG.kind, "spec": spec}
        digest = "registry.example.com/a@sha256:" + "0" * 64
        status: dict[str, Any] = {
            "resolvedSource": {"type": "Image", "image": {"ref": digest}},
            "urls": {"base": f"https://127.0.0.1:{server.getsockname()[1]}/catalogs/{name}"},
        }
        with control_plane.client() as api:
            api.post(kind, json={**made, "metadata": {"name": name}}).raise_for_status()
            api.patch(
                f"{kind}/{name}/status",
                json={"status": status},
                headers={"Content-Type": "application/merge-patch+json"},
            ).raise_for_status()
            yield name
            api.delete(f"{kind}/{name}").raise_for_status()


async def test_a_list_waits_for_no_catalog(
    control_plane: ControlPlane, silent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    user = User.connect("me", ClusterOptions(Reach(str(control_plane.kubeconfig))))
    try:
        await warm(user)
        offers = await offers_of(user)
        assert silent in offers.reading
        assert silent not in dict(offers.faults)
        package = asyncio.create_task(of_catalog(user, silent, lambda content: content.digests()))
        done, _ = await asyncio.wait([package], timeout=1)
        assert not done, "what is of that catalog alone waits"
        package.cancel()
    finally:
        await user.close()


async def test_catalogs_are_read_once_a_browser_shows_a_page(
    control_plane: ControlPlane, silent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    user = User.connect("me", ClusterOptions(Reach(str(control_plane.kubeconfig))))
    monkeypatch.setattr(warming, "UNSEEN_SECONDS", 600.0)
    session, viewer = Session(user), Viewer()
    try:
        begun = asyncio.create_task(warming.warm_up(user))
        done, _ = await asyncio.wait([begun], timeout=2)
        assert not done, "the first page goes first"

        async def no_page(_: str) -> Made:
            raise AssertionError("nothing is shown")

        session.shown.show(viewer, {}, no_page)
        await begun
        assert silent in (await offers_of(user)).reading
        session.shown.leave(viewer)
    finally:
        await user.close()


async def test_what_stands_against_reading_is_shown(
    control_plane: ControlPlane, silent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a-file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a-file"))
    user = User.connect("me", ClusterOptions(Reach(str(control_plane.kubeconfig))))
    try:
        fault = dict((await offers_of(user, None)).faults)[silent]
        assert "cannot keep the catalog" in fault.message
        assert "XDG_CACHE_HOME" in fault.hint
    finally:
        await user.close()
