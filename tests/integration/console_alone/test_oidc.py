"""Signing in at an OpenID provider, whose ID tokens a real API server takes."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
import yaml
from playwright.async_api import Browser, expect

import console.__main__ as program
from console.__main__ import COOKIE
from console.flags import parse_settings
from console.provider import Provider, Tokens
from e2e.harness.binaries import dex_binary
from e2e.harness.client import PATIENCE_SECONDS
from e2e.harness.components import ControlPlaneOptions, etcd_url
from e2e.harness.controlplane import ControlPlane
from e2e.harness.errors import HarnessError
from e2e.harness.openid import CLIENT, PASSWORD, Dex, OpenIdProvider
from e2e.harness.pki import CertificateAuthority
from e2e.harness.ports import free_port
from olm_runtime.errors import TerminalError
from tests.integration.console_alone.loop import IN_LOOP_OF_BROWSER
from tests.requirements import leave_out

HOST = "127.0.0.1"
LIFETIME_SECONDS = 6
PROVIDER = "/sign-in/provider"
PAGE = Path(__file__).parents[3] / "docs" / "reference" / "console.md"

Providers = Mapping[type[OpenIdProvider], OpenIdProvider]

pytestmark = pytest.mark.integration
with_both = pytest.mark.parametrize("provider", [OpenIdProvider, Dex], indirect=True)


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def described(port: int, tmp_path_factory: pytest.TempPathFactory) -> Providers:
    """One that ends sessions, and Dex; nothing is started yet."""
    return {
        kind: kind(
            tmp_path_factory.mktemp(kind.name),
            redirect=f"https://{HOST}:{port}/sign-in/callback",
            left=f"https://{HOST}:{port}/sign-in",
            people={"alice": "alice@example.com", "nameless": ""},
        )
        for kind in (OpenIdProvider, Dex)
    }


@pytest.fixture(scope="module")
def control_plane(
    described: Providers, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """An API server with the AuthenticationConfiguration of docs/reference/console.md for each."""
    folder = tmp_path_factory.mktemp("control-plane")
    config = yaml.safe_load(PAGE.read_text().split("```yaml\n")[1].split("```")[0])
    [accepted] = config["jwt"]
    assert accepted["issuer"]["audiences"] == [CLIENT]
    config["jwt"] = [
        {**accepted, "issuer": {**accepted["issuer"], **_issuer(each)}}
        for each in described.values()
    ]
    file = folder / "authentication.yaml"
    file.write_text(yaml.safe_dump(config))
    flags = (f"--authentication-config={file}",)
    options = ControlPlaneOptions(apiserver_args=flags, controller_manager=False)
    with ControlPlane(folder, options=options) as running:
        yield running


@pytest.fixture(scope="module")
def no_dex() -> str:
    """Why there is no Dex; empty where there is one."""
    try:
        dex_binary()
    except HarnessError as error:
        return str(error)
    return ""


@pytest.fixture(scope="module")
def providers(
    described: Providers, control_plane: ControlPlane, no_dex: str
) -> Iterator[Providers]:
    """Those that there are, running; the API server looks for them at its start."""
    with ExitStack() as stack:
        for each in described.values():
            if isinstance(each, Dex):
                if no_dex:
                    continue
                each.etcd = etcd_url(control_plane.ports)
            stack.enter_context(each)
        control_plane.stop_apiserver()
        control_plane.start_apiserver()
        yield described


@pytest.fixture
def provider(providers: Providers, no_dex: str, request: pytest.FixtureRequest) -> OpenIdProvider:
    """The one that ends sessions, unless the test's parameter says another."""
    kind = getattr(request, "param", OpenIdProvider)
    if kind is Dex and no_dex:
        leave_out("dex", no_dex)
    return providers[kind]


@pytest.fixture
def brief_provider(provider: OpenIdProvider) -> Iterator[OpenIdProvider]:
    """It gives tokens that end after LIFETIME_SECONDS; with a browser that can be too soon."""
    lasting = provider.lifetime
    _give_tokens_for(provider, f"{LIFETIME_SECONDS}s")
    yield provider
    _give_tokens_for(provider, lasting)


def _give_tokens_for(provider: OpenIdProvider, lifetime: str) -> None:
    provider.stop()
    provider.lifetime = lifetime
    provider.start()


def _issuer(provider: OpenIdProvider) -> dict[str, str]:
    return {"url": provider.issuer, "certificateAuthority": provider.ca_file.read_text()}


@asynccontextmanager
async def serving(
    port: int, folder: Path, control_plane: ControlPlane, provider: OpenIdProvider, *more: str
) -> AsyncIterator[httpx.AsyncClient]:
    """The console, and a browser that has never been there."""
    authority = CertificateAuthority.load_or_create(folder, "ca")
    certificate, key = authority.issue_server("console", hosts=[HOST]).write(folder, "console")
    settings = parse_settings(
        [
            *(f"--host={HOST}:{port}", f"--bind-address={HOST}:{port}"),
            "--health-probe-bind-address=0",
            f"--server={control_plane.url}",
            f"--certificate-authority={control_plane.ca_file}",
            *(f"--tls-cert={certificate}", f"--tls-key={key}"),
            *(f"--oidc-issuer-url={provider.issuer}", f"--oidc-client-id={CLIENT}"),
            f"--oidc-client-secret-file={provider.secret_file}",
            f"--oidc-ca-file={provider.ca_file}",
            *more,
        ]
    )
    running = asyncio.create_task(program.serve(settings))
    try:
        async with httpx.AsyncClient(
            base_url=f"https://{HOST}:{port}", verify=False, timeout=PATIENCE_SECONDS
        ) as client:
            while not await _answers(client):
                await asyncio.wait([running], timeout=0.05)
                assert not running.done(), running
            yield client
    finally:
        running.cancel()
        await asyncio.wait([running])


Serve = Callable[..., AbstractAsyncContextManager[httpx.AsyncClient]]


@pytest.fixture
def serve(
    port: int, tmp_path: Path, control_plane: ControlPlane, provider: OpenIdProvider
) -> Serve:
    """The console, with more flags."""
    return partial(serving, port, tmp_path, control_plane, provider)


async def _answers(client: httpx.AsyncClient) -> bool:
    try:
        return (await client.get("/sign-in")).status_code == httpx.codes.OK
    except httpx.ConnectError:
        return False


async def _way_back(
    browser: httpx.AsyncClient, provider: OpenIdProvider, name: str = "alice"
) -> str:
    """Signs in at the provider; the address that it sends back to."""
    left = await browser.get(PROVIDER)
    asked = parse_qs(urlsplit(left.headers["location"]).query)
    assert asked["code_challenge_method"] == ["S256"]
    login = await browser.get(left.headers["location"], follow_redirects=True)
    hidden = dict(re.findall(r'name="(\w+)" value="([^"]+)"', login.text))
    form = {**hidden, provider.login: provider.known_as(name), "password": PASSWORD}
    answer = await browser.post(str(login.url), data=form)
    for _ in range(5):
        assert "location" in answer.headers, answer.text
        target = str(answer.url.join(answer.headers["location"]))
        if "/sign-in/callback" in target:
            return target
        answer = await browser.get(target)
    raise AssertionError(answer)


@IN_LOOP_OF_BROWSER
@with_both
async def test_a_browser_signs_in_and_out(
    browser: Browser, serve: Serve, port: int, provider: OpenIdProvider
) -> None:
    async with serve():
        context = await browser.new_context(
            base_url=f"https://{HOST}:{port}", ignore_https_errors=True
        )
        page = await context.new_page()
        await page.goto("/doctor")
        await page.get_by_role("link", name="Sign in").click()
        await page.get_by_role("link", name="Sign in at https://localhost").click()
        await page.locator(f"[name={provider.login}]").fill(provider.known_as("alice"))
        await page.locator("[name=password]").fill(PASSWORD)
        await page.locator("[type=submit]").click()
        await expect(page.get_by_text("signed in as oidc:alice@example.com")).to_be_visible()
        assert page.url == f"https://{HOST}:{port}/"
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        await page.get_by_role("button", name="Sign out").click()
        await expect(page.get_by_role("heading", name="Sign in", exact=True)).to_be_visible()
        ended = [urlsplit(each) for each in asked if each.startswith(provider.issuer)]
        parameters = {"client_id", "post_logout_redirect_uri"}
        wanted = [] if isinstance(provider, Dex) else [("/end_session", parameters)]
        assert [(each.path, set(parse_qs(each.query))) for each in ended][:1] == wanted
        assert page.url == f"https://{HOST}:{port}/sign-in"
        await page.goto("/doctor")
        await expect(page.get_by_role("link", name="Sign in")).to_be_visible()
        await context.close()  # before the console ends, which it would ask for more


async def test_a_way_back_counts_once_and_for_its_browser(
    serve: Serve, provider: OpenIdProvider
) -> None:
    async with serve() as browser:
        back = await _way_back(browser, provider)
        held = dict(browser.cookies)
        browser.cookies.clear()
        assert (await browser.get(back)).status_code == 400, "another browser"
        browser.cookies.update(held)
        assert "are signed in" in (await browser.get(back)).text
        assert "oidc:alice@example.com" in (await browser.get("/nothing")).text
        browser.cookies.clear()
        browser.cookies.update(held)
        assert (await browser.get(back)).status_code == 400, "a second time"
        assert COOKIE not in browser.cookies

        stolen = re.sub("state=[^&]*", "state=another", await _way_back(browser, provider))
        assert (await browser.get(stolen)).status_code == 400
        spoilt = re.sub("code=[^&]*", "code=another", await _way_back(browser, provider))
        refused = await browser.get(spoilt)
        assert (refused.status_code, "gave no token" in refused.text) == (401, True)
        denied = re.sub("code=[^&]*", "error=access_denied", await _way_back(browser, provider))
        refused = await browser.get(f"{denied}&error_description=%3Cscript%3E")
        assert refused.status_code == 401
        assert "did not let you in: access_denied: &lt;script&gt;" in refused.text
        refused = await browser.get(await _way_back(browser, provider, "nameless"))
        assert (refused.status_code, COOKIE in browser.cookies) == (401, False)
        assert "The API server does not take ID tokens of" in refused.text


@with_both
async def test_a_session_lasts_as_long_as_tokens_are_renewed(
    serve: Serve, brief_provider: OpenIdProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "TIDY_SECONDS", 1.0)
    scopes = [f"--oidc-scope={each}" for each in ("email", "offline_access")]
    async with serve(*scopes) as browser:
        await browser.get(await _way_back(browser, brief_provider))
        await asyncio.sleep(LIFETIME_SECONDS + 2)
        shown = await browser.get("/doctor")
        assert "oidc:alice@example.com" in shown.text
        assert "Unauthorized" not in shown.text
    async with serve() as browser:
        await browser.get(await _way_back(browser, brief_provider))
        await asyncio.sleep(LIFETIME_SECONDS)
        assert (await browser.get("/nothing")).status_code == 401, "it had no refresh token"


async def test_a_refresh_token_ends_with_its_session(
    serve: Serve, provider: OpenIdProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Tokens] = []
    exchange = Provider.exchange

    async def noted(*args: Any, **how: Any) -> Tokens:
        given.append(await exchange(*args, **how))
        return given[-1]

    monkeypatch.setattr(Provider, "exchange", noted)
    scopes = ("openid", "email", "offline_access")
    asked = [f"--oidc-scope={each}" for each in scopes]
    same = Provider(provider.issuer, CLIENT, provider.secret_file, provider.ca_file, scopes)
    about = await same.about()
    async with serve(*asked) as browser:
        entered = await browser.get(await _way_back(browser, provider))
        assert "are signed in" in entered.text
        page = await browser.get("/doctor")
        token = page.text.split('name="token" value="')[1].split('"')[0]
        headers = {"Origin": str(browser.base_url).rstrip("/")}
        left = await browser.post("/sign-out", data={"token": token}, headers=headers)
        assert "You are signed out of the console" in left.text
        assert given[0].id_token not in left.text
        with pytest.raises(TerminalError, match="gave no token"):
            await same.refresh(about, given[0])


async def test_a_provider_that_is_away_or_another_is_reported(
    serve: Serve, provider: OpenIdProvider
) -> None:
    async with serve() as browser:
        back = await _way_back(browser, provider)
        provider.stop()
        for address in (back, PROVIDER):
            response = await browser.get(address)
            assert (response.status_code, "cannot be reached" in response.text) == (502, True)
        provider.start()
    other = Provider(f"{provider.issuer}/", CLIENT, None, provider.ca_file, ("openid",))
    with pytest.raises(TerminalError, match="is of the issuer"):
        await other.about()
