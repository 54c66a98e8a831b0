"""Nobody gets in by a trick: rebinding, forged forms, stolen keys, hostile catalogs."""

import base64
from collections.abc import Callable, Iterable, Iterator

import httpx
import orjson
import pytest
from playwright.sync_api import expect

from console.settings import HEADERS
from e2e.harness.images import catalog_image
from e2e.harness.registry import Registry
from tests.integration.console.visits import Console, Visit

pytestmark = pytest.mark.integration

PATIENCE = 60.0
"""Seconds; httpx's five are too few for a page of a busy machine."""
SCRIPT = "<script>alert(1)</script>"
SVG = f"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(2)'>{SCRIPT}</svg>"


@pytest.fixture
def session(console: Console) -> Iterator[httpx.Client]:
    """A client with a session of its own."""
    with httpx.Client(base_url=console.address, timeout=PATIENCE) as client:
        assert client.get(console.enter()).status_code == 303
        console.entered()
        yield client


def test_only_whoever_has_a_fresh_key_gets_in(console: Console, session: httpx.Client) -> None:
    assert session.get("/").status_code == 200
    used, fresh = console.entries[-2], console.entries[-1]
    for path in ("/", "/extensions", "/live", used, f"{fresh}x", "/enter", "/enter?key="):
        answer = httpx.get(httpx.URL(console.address).join(path), timeout=PATIENCE)
        assert answer.status_code == 401, path
        assert not answer.cookies
    cookie = httpx.get(fresh, timeout=PATIENCE).headers["set-cookie"]
    console.entered()
    assert {"HttpOnly", "SameSite=strict"} <= set(cookie.split("; "))


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1.evil.example", ""])
def test_another_name_for_the_address_is_refused(session: httpx.Client, host: str) -> None:
    assert session.get("/", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "https://127.0.0.1"])
def test_forms_of_other_pages_are_refused(session: httpx.Client, origin: str | None) -> None:
    headers = {} if origin is None else {"Origin": origin}
    answer = session.post("/catalogs", data={"name": "a", "image": "b"}, headers=headers)
    assert answer.status_code == 403


@pytest.mark.parametrize("token", [None, "", "0" * 64])
def test_forms_without_the_token_of_their_page_are_refused(
    session: httpx.Client, console: Console, token: str | None
) -> None:
    data = {"name": "a", "image": "b"} | ({} if token is None else {"token": token})
    answer = session.post("/catalogs", data=data, headers={"Origin": console.address})
    assert answer.status_code == 403


def test_every_answer_has_the_headers(session: httpx.Client, console: Console) -> None:
    outside = httpx.get(console.address, timeout=PATIENCE)
    paths = ("/", "/static/console.css", "/static/../app.py", "/nowhere", "/extensions/nobody")
    for answer in (outside, *map(session.get, paths)):
        for name, value in HEADERS.items():
            assert answer.headers[name] == value, (answer.url, name)
    assert session.get("/static/%2e%2e/app.py").status_code == 404


def test_a_hostile_catalog_runs_nothing_and_asks_nobody(
    visit: Visit, package: str, registry: Registry, serve_catalog: Callable[[str, str], None]
) -> None:
    links = "[a](javascript:alert(3)) [b](data:text/html,x) ![c](http://evil.example/c.png)"
    description = f"# Title\n{SCRIPT}\n<img src=x onerror=alert(4)>\n\n{links}\n\n[d](https://ok/)"
    csv = {
        "displayName": f"{SCRIPT}'\"><img src=x onerror=alert(5)>",
        "description": description,
        "keywords": [SCRIPT],
        "provider": {"name": SCRIPT},
        "annotations": {"categories": SCRIPT, "capabilities": "'><script>", "description": SCRIPT},
        "installModes": [{"type": "AllNamespaces", "supported": True}],
    }
    icon = {"base64data": base64.b64encode(SVG.encode()).decode(), "mediatype": "text/html"}
    about = {"schema": "olm.package", "name": package, "defaultChannel": "'><b>", "icon": icon}
    name = f"{package}.v1.0.0"
    channel = {"schema": "olm.channel", "package": package, "name": "'><b>"}
    bundle = {
        "schema": "olm.bundle",
        "package": package,
        "name": name,
        "image": "registry.example.com/bundle@sha256:" + "0" * 64,
        "properties": [
            {"type": "olm.package", "value": {"packageName": package, "version": "1.0.0"}},
            {"type": "olm.csv.metadata", "value": csv},
            {"type": "olm.gvk", "value": {"group": SCRIPT, "version": "v1", "kind": SCRIPT}},
        ],
    }
    blobs = [about, {**channel, "entries": [{"name": name}]}, bundle]
    image = catalog_image({f"{package}/catalog.json": _json(blobs)})
    serve_catalog(package, registry.push(image, f"catalogs/{package}", tag="latest").tag_reference)
    page = visit.page
    page.goto(f"/packages?words={package}")
    page.locator(".console-cards a").first.click()
    expect(page.locator("h1")).to_contain_text(SCRIPT)
    prose = page.locator(".console-prose")
    expect(prose).to_contain_text("onerror")
    assert prose.locator("img, script, [onerror]").count() == 0
    assert [each.get_attribute("href") for each in prose.locator("a[href]").all()] == [
        "https://ok/"
    ]
    page.get_by_text("Update graph as a picture").click()
    for path in (f"/icons/{package}/{package}", f"/packages/{package}/graph"):
        answer = page.request.get(path)
        assert answer.headers["content-security-policy"].startswith("sandbox;")
        assert answer.headers["content-type"] == "image/svg+xml"
        page.goto(path)
    # The icon alone, as nobody looks at it: its script is there, and refused.
    refused = [each for each in visit.complaints if each.startswith("Blocked script execution")]
    assert refused
    visit.complaints = [each for each in visit.complaints if each not in refused]


def _json(blobs: Iterable[object]) -> bytes:
    return b"\n".join(map(orjson.dumps, blobs))
