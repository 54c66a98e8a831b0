"""Open pages while people sign in, sign out, and get what was refused to them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from playwright.async_api import Browser, BrowserContext, Page, expect

from console.app import console_app
from console.attempts import Attempts
from console.identities import IdentitySessions
from console.local import LOOPBACK
from console.settings import Place
from console.signing_in import SIGN_IN, SignIn, TokenReach, sign_in_routes
from e2e.harness.controlplane import ControlPlane
from olm_runtime.http.server import listen, serve
from tests.integration.console.visits import add_catalog
from tests.integration.console_alone.loop import IN_LOOP_OF_BROWSER

pytestmark = [pytest.mark.integration, IN_LOOP_OF_BROWSER]

CATALOGS = "/apis/olm.operatorframework.io/v1/clustercatalogs"
RBAC = "rbac.authorization.k8s.io"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
ALONE = "delete window.SharedWorker"
"""What some browsers do not have."""


@asynccontextmanager
async def _console(control_plane: ControlPlane) -> AsyncIterator[str]:
    """The address of one where people sign in by tokens. Browsers trust loopback as they do TLS."""
    listener, sessions = listen((LOOPBACK, 0)), IdentitySessions()
    host = f"{LOOPBACK}:{listener.getsockname()[1]}"
    place = Place(frozenset({host}), secure=False, cookie="__Host-c", sign_in=SIGN_IN)
    reach = TokenReach(server=control_plane.url, authority=control_plane.ca_file.read_text())
    how = SignIn(place, sessions, reach, None, Attempts())
    app = console_app(place, sessions, sign_in_routes(how))
    serving = asyncio.create_task(serve(app, listener, None, sessions.stop))
    try:
        yield f"http://{host}"
    finally:
        serving.cancel()
        await asyncio.wait([serving])
        await sessions.close()


def _token(control_plane: ControlPlane, name: str) -> str:
    """Of an account that is made for it."""
    control_plane.create(
        ACCOUNTS, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}}
    )
    with control_plane.client() as client:
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        answer = client.post(f"{ACCOUNTS}/{name}/token", json=request).raise_for_status()
    token: str = answer.json()["status"]["token"]
    return token


def _allow_all(control_plane: ControlPlane, name: str) -> None:
    binding: dict[str, Any] = {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", "namespace": "default", "name": name}],
    }
    control_plane.create(f"/apis/{RBAC}/v1/clusterrolebindings", binding)


async def _sign_in(context: BrowserContext, console: str, token: str) -> Page:
    page = await context.new_page()
    await page.goto(console + SIGN_IN)
    await page.get_by_label("Token of the API server").fill(token)
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_text("signed in as")).to_be_visible()
    return page


async def _shows_who(page: Page, name: str) -> None:
    shown = page.get_by_text(f"signed in as system:serviceaccount:default:{name}")
    await expect(shown).to_be_visible()


@pytest.mark.parametrize("script", ["", ALONE])
async def test_pages_become_those_of_who_signs_in_next(
    control_plane: ControlPlane, browser: Browser, script: str
) -> None:
    first, second = (f"{each}-{len(script)}" for each in ("first", "second"))
    tokens = {
        name: await asyncio.to_thread(_token, control_plane, name) for name in (first, second)
    }
    await asyncio.to_thread(_allow_all, control_plane, first)
    async with _console(control_plane) as console:
        context = await browser.new_context()
        await context.add_init_script(script)
        refused = await context.new_page()
        await refused.goto(f"{console}/catalogs")
        await expect(refused.get_by_text("You are not signed in")).to_be_visible()

        page = await _sign_in(context, console, tokens[first])
        await page.goto(f"{console}/catalogs")
        still = await context.new_page()
        await still.goto(f"{console}/doctor")
        await _shows_who(refused, first)
        await expect(refused.get_by_role("heading", name="Catalogs", exact=True)).to_be_visible()

        await _sign_in(context, console, tokens[second])
        for each in (page, refused):
            await _shows_who(each, second)
            await expect(each.get_by_text("is forbidden").first).to_be_visible()
        await expect(still.get_by_text("Somebody else has signed in")).to_be_visible()
        await asyncio.to_thread(add_catalog, control_plane, f"unseen-{second}")
        await asyncio.to_thread(_allow_all, control_plane, second)
        await page.evaluate("renew()")  # which it does each half minute
        await expect(page.get_by_role("link", name=f"unseen-{second}")).to_be_visible()

        await page.get_by_role("button", name="Sign out").click()
        signed_out = refused.get_by_role("heading", name="You are not signed in")
        await expect(signed_out).to_be_visible()
        await expect(refused.get_by_text("Not connected to the console")).to_be_hidden()


async def test_a_page_that_was_not_found_appears_once_it_is_there(
    control_plane: ControlPlane, browser: Browser
) -> None:
    token = await asyncio.to_thread(_token, control_plane, "looking")
    await asyncio.to_thread(_allow_all, control_plane, "looking")
    async with _console(control_plane) as console:
        page = await _sign_in(await browser.new_context(), console, token)
        await page.goto(f"{console}/catalogs/coming")
        await expect(page.get_by_role("heading", name='"coming" not found')).to_be_visible()
        await asyncio.to_thread(add_catalog, control_plane, "coming")
        await expect(page.get_by_role("link", name="Remove …")).to_be_visible()
        await expect(page).to_have_title("coming · Operator Lifecycle Manager")
        with control_plane.client() as client:
            client.delete(f"{CATALOGS}/coming").raise_for_status()
        await expect(page.get_by_role("heading", name='"coming" not found')).to_be_visible()
