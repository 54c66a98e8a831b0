"""The console of a cluster: who signs in by a token acts with the rights of that token."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from console.__main__ import COOKIE, serve
from console.flags import parse_settings
from e2e.harness.client import PATIENCE_SECONDS
from e2e.harness.controlplane import ControlPlane
from e2e.harness.pki import CertificateAuthority
from e2e.harness.ports import free_port
from e2e.harness.pytest_plugin import Kubectl

HOST = "127.0.0.1"

pytestmark = pytest.mark.integration


@pytest.fixture
async def browser(tmp_path: Path, control_plane: ControlPlane) -> AsyncIterator[httpx.AsyncClient]:
    """A browser that has never been at the console, which runs."""
    authority = CertificateAuthority.load_or_create(tmp_path, "ca")
    certificate, key = authority.issue_server("console", hosts=[HOST]).write(tmp_path, "console")
    host, health = f"{HOST}:{free_port()}", f"{HOST}:{free_port()}"
    settings = parse_settings(
        [
            f"--host={host}",
            f"--bind-address={host}",
            f"--health-probe-bind-address={health}",
            f"--server={control_plane.url}",
            f"--certificate-authority={control_plane.ca_file}",
            f"--tls-cert={certificate}",
            f"--tls-key={key}",
        ]
    )
    serving = asyncio.create_task(serve(settings))
    async with httpx.AsyncClient(
        base_url=f"https://{host}",
        verify=False,
        headers={"Origin": f"https://{host}"},
        timeout=PATIENCE_SECONDS,
    ) as client:
        while not await _answers(f"http://{health}/readyz"):
            await asyncio.wait([serving], timeout=0.05)
            assert not serving.done(), serving
        yield client
    serving.cancel()
    await asyncio.wait([serving])


async def _answers(address: str) -> bool:
    async with httpx.AsyncClient(timeout=PATIENCE_SECONDS) as client:
        try:
            return (await client.get(address)).status_code == httpx.codes.OK
        except httpx.ConnectError:
            return False


async def _sign_in(browser: httpx.AsyncClient, token: str) -> httpx.Response:
    return await browser.post("/sign-in", data={"token": token})


async def test_a_token_signs_in_with_its_own_rights(
    browser: httpx.AsyncClient, control_plane: ControlPlane, kubectl: Kubectl, namespace: str
) -> None:
    tokens = {}
    for name in ("nobody", "reader"):
        kubectl("create", "serviceaccount", name, "-n", namespace)
        tokens[name] = kubectl("create", "token", name, "-n", namespace).strip()
    role = f"reader-of-{namespace}"
    kinds = "clustercatalogs.olm.operatorframework.io,clusterextensions.olm.operatorframework.io"
    kubectl("create", "clusterrole", role, "--verb=get,list,watch", f"--resource={kinds}")
    account = f"--serviceaccount={namespace}:reader"
    kubectl("create", "clusterrolebinding", role, f"--clusterrole={role}", account)

    assert "/sign-in" in (await browser.get("/catalogs")).text
    for wrong in ("", "nonsense", "a b", tokens["reader"][:-4] + "AAAA", "a\r\nX: y"):
        assert (await _sign_in(browser, wrong)).status_code == 401
    assert COOKIE not in browser.cookies

    refused = await _sign_in(browser, tokens["nobody"])
    assert (refused.status_code, refused.headers["location"]) == (303, "/")
    assert "forbidden" in (await browser.get("/catalogs")).text
    before = browser.cookies[COOKIE]

    entered = await _sign_in(browser, tokens["reader"])
    flags = entered.headers["set-cookie"].lower()
    assert all(each in flags for each in ("httponly", "secure", "samesite=strict", "path=/"))
    assert browser.cookies[COOKIE] != before
    catalogs = await browser.get("/catalogs")
    assert (catalogs.status_code, tokens["reader"] in catalogs.text) == (200, False)
    assert f"signed in as system:serviceaccount:{namespace}:reader" in catalogs.text
    assert "Not allowed to you: to create ClusterCatalogs." in catalogs.text

    session = browser.cookies[COOKIE]
    token = catalogs.text.split('name="token" value="')[1].split('"')[0]
    left = await browser.post("/sign-out", data={"token": token})
    assert (left.status_code, left.headers["location"]) == (303, "/sign-in")
    browser.cookies.set(COOKIE, session)
    assert (await browser.get("/catalogs")).status_code == 401
    kubectl("delete", "clusterrole,clusterrolebinding", role)
