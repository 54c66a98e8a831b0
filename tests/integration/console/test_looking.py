"""Pages for everybody: screen readers, dark mode, phones, no JavaScript, no rights."""

import secrets
from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, expect

from e2e.olm.api import Api, catalog_path, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.manifests import catalog
from e2e.olm.programs import Olm
from tests.integration.console.visits import Console, Visit
from tests.integration.olm_shell import Shell

pytestmark = pytest.mark.integration

Publish = Callable[..., str]

Look = tuple[Literal["light", "dark"], int]
LOOKS: tuple[Look, Look] = ("light", 1280), ("dark", 360)
"""Colours, and how wide a window is."""
LOADED_AXE = Axe("")
"""Runs what is in the page already: to compile it takes as long as to check a small page."""


@pytest.fixture(scope="module")
def paths(olm: Olm, shell: Shell, publish_catalog: Publish) -> Iterator[list[str]]:
    """Every page, of an extension that is installed."""
    package = f"pkg-{secrets.token_hex(4)}"
    versions = [
        BundleSpec(package=package, version=f"{number}.0.0", crd_group=f"{package}.example.com")
        for number in (1, 2)
    ]
    olm.control_plane.apply(catalog(package, publish_catalog(*versions)))
    with Api(olm.control_plane) as api:
        api.wait_condition(catalog_path(package), "Serving", "True")
    installed = shell("install", package, "--version=1.0.0", "--wait")
    assert installed.returncode == 0, installed.stderr
    extension, offered = f"/extensions/{package}", f"/packages/{package}"
    yield [
        *("/", "/packages", offered, f"{offered}/rights", f"{offered}/definitions?path=spec"),
        *("/doctor", "/doctor?examine=yes", f"{offered}/install"),
        *(f"{offered}/install?preview=yes&extension=another", "/extensions", extension),
        *(f"{extension}/changes?from=1&to=1", f"{extension}/why"),
        *(f"{extension}/upgrade", f"{extension}/uninstall"),
        *("/catalogs", f"/catalogs/{package}", f"/catalogs/{package}/remove", "/nowhere"),
    ]
    olm.control_plane.remove(catalog_path(package))


def test_nothing_is_in_anybodys_way(browser: Browser, console: Console, paths: list[str]) -> None:
    """As far as axe-core can tell; and no page is wider than its window.

    Every other page is loaded for dark colours and a phone. Each then becomes the other of both.
    """
    visit = Visit(browser, console, reduced_motion="reduce")
    found = {}
    for path, looks in zip(paths, cycle((LOOKS, LOOKS[::-1])), strict=False):
        for look in looks:
            _set_look(visit.page, look)
            if look is looks[0]:
                visit.page.goto(path)
            if faults := _faults(visit.page, look, Axe() if look is looks[0] else LOADED_AXE):
                found[path, look] = faults
    visit.close()
    assert not found, "\n".join(f"{page}\n{report}" for page, report in found.items())


def _set_look(page: Page, look: Look) -> None:
    colours, width = look
    page.emulate_media(color_scheme=colours)
    page.set_viewport_size({"width": width, "height": 800})


def _faults(page: Page, look: Look, axe: Axe) -> str:
    """What axe-core reports of a page as it looks now."""
    colours, width = look
    dark = page.locator("html.pf-v6-theme-dark")
    expect(dark).to_have_count(1 if colours == "dark" else 0)
    assert page.evaluate("document.documentElement.scrollWidth") <= width, page.url
    results = axe.run(page)
    return str(results.generate_report()) if results.violations_count else ""


def test_a_package_is_found_and_opened_by_keys_alone(
    browser: Browser, console: Console, paths: list[str]
) -> None:
    visit = Visit(browser, console)
    page, keys = visit.page, visit.page.keyboard
    page.goto("/packages")
    keys.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    keys.press("Enter")
    keys.press("Tab")
    expect(page.get_by_label("Find packages by words")).to_be_focused()
    name = paths[2].rpartition("/")[2]
    keys.type(name)
    expect(page.locator(".console-cards > li")).to_have_count(1)
    here = page.locator(":focus")
    for _ in range(30):
        keys.press("Tab")
        if here.inner_text() == name:
            break
    keys.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    visit.close()


def test_every_page_can_be_read_without_javascript(
    browser: Browser, console: Console, paths: list[str]
) -> None:
    visit = Visit(browser, console, java_script_enabled=False)
    for path in paths[:-1]:
        answer = visit.page.goto(path)
        assert answer is not None
        assert answer.status == 200, path
        assert visit.page.locator("h1").inner_text(), path
    visit.page.goto("/packages?words=" + paths[2].rpartition("/")[2])
    expect(visit.page.locator(".console-cards > li")).to_have_count(1)
    visit.close()


def test_who_may_only_look_sees_what_they_may_not_do(
    browser: Browser, start_console: Callable[..., Console], api: Api, paths: list[str]
) -> None:
    name = paths[2].rpartition("/")[2]
    meta = {"name": f"{name}-viewer"}
    rbac = "rbac.authorization.k8s.io"
    groups = ["olm.operatorframework.io"]
    rules = [{"apiGroups": groups, "resources": ["*"], "verbs": ["get", "list", "watch"]}]
    kind = {"apiVersion": f"{rbac}/v1", "metadata": meta}
    roles, bindings = f"/apis/{rbac}/v1/clusterroles", f"/apis/{rbac}/v1/clusterrolebindings"
    api.create(roles, {**kind, "kind": "ClusterRole", "rules": rules})
    role = {"apiGroup": rbac, "kind": "ClusterRole", **meta}
    subject = {"apiGroup": rbac, "kind": "User", "name": "viewer"}
    binding = {**kind, "kind": "ClusterRoleBinding", "roleRef": role, "subjects": [subject]}
    api.create(bindings, binding)
    try:
        visit = Visit(browser, start_console("--as=viewer"))
        visit.page.goto(f"/extensions/{name}")
        expect(visit.page.get_by_role("button", name="Suspend")).to_be_disabled()
        expect(visit.page.get_by_role("button", name="Uninstall …")).to_be_disabled()
        lacking = "Not allowed to you: to change this extension, to uninstall it."
        expect(visit.page.get_by_text(lacking)).to_be_visible()
        visit.page.goto(f"/catalogs/{name}")
        expect(visit.page.get_by_role("button", name="Remove …")).to_be_disabled()
        visit.page.goto(f"/extensions/{name}")
        token = visit.page.locator("form input[name=token]").first.get_attribute("value")
        refused = visit.page.request.post(
            f"/extensions/{name}/suspend",
            form={"token": token or ""},
            headers={"Origin": visit.console.address},
        )
        assert refused.status in (403, 422)
        assert not (api.get(extension_path(name)) or {})["metadata"].get("annotations")
        visit.close()
    finally:
        api.delete(f"{roles}/{meta['name']}")
        api.delete(f"{bindings}/{meta['name']}")
