"""From a package to an operator, its updates and its end, by hand and without a reload."""

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Page, expect

from e2e.olm.api import Api, catalog_path, extension_path
from e2e.olm.bundles import BundleSpec
from tests.integration.console.visits import notice

pytestmark = pytest.mark.integration

Publish = Callable[..., str]
Serve = Callable[[str, str], None]

SECONDS = 60_000
"""Milliseconds that a page has for showing what became of something."""


@pytest.fixture
def served(package: str, publish_catalog: Publish, serve_catalog: Serve) -> str:
    group = f"{package}.example.com"
    versions = [
        BundleSpec(package=package, version=version, configmaps=("settings", own), crd_group=group)
        for version, own in (("1.0.0", "old"), ("2.0.0", "new"))
    ]
    serve_catalog(package, publish_catalog(*versions))
    return package


def test_a_package_is_found_installed_updated_and_removed(
    api: Api, page: Page, served: str
) -> None:
    page.goto("/packages")
    page.get_by_label("Find packages by words").press_sequentially(served)
    expect(page.locator(".console-cards > li")).to_have_count(1)
    api.patch(catalog_path(served), {"metadata": {"annotations": {"looked": "at"}}})
    page.wait_for_function("url => url in marks", arg=f"/packages?words={served}")
    expect(page.locator(".console-cards > li")).to_have_count(1)
    page.locator(".console-cards a").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(served)
    page.get_by_text("Show the rights that its account will get").click()
    expect(page.locator("#rights")).to_contain_text("configmaps")
    page.get_by_role("link", name="Browse their schemas").click()
    page.get_by_role("table").get_by_role("link", name="spec", exact=True).click()
    expect(page.get_by_role("row", name="x string")).to_be_visible()
    page.go_back()
    page.go_back()

    page.get_by_role("link", name="Install …").click()
    page.get_by_label("Version").fill("1.0.0")
    page.get_by_text("Configuration: what is other").click()
    page.get_by_label("nodeSelector").fill("disk=ssd\nnonsense")
    page.get_by_role("button", name="Show what would be written").click()
    expect(page.get_by_role("alert")).to_contain_text("'nonsense' is no name=value")
    page.get_by_label("nodeSelector").fill("disk=ssd")
    page.get_by_role("button", name="Show what would be written").click()
    expect(page.get_by_role("heading", name="What would be written")).to_be_visible()
    page.get_by_text("What operator-controller would make of it").click()
    expect(page.get_by_label("Plan")).to_contain_text("created")
    assert api.get(extension_path(served)) is None
    page.get_by_role("button", name="Install", exact=True).click()
    expect(notice(page)).to_contain_text(f"{served}.v1.0.0 is being installed")
    installed = page.locator("dl").get_by_text(f"{served}.v1.0.0", exact=True)
    expect(installed).to_be_visible(timeout=SECONDS)  # by itself: nobody has loaded the page again

    config = {"deploymentConfig": {"nodeSelector": {"disk": "ssd"}}}
    assert (api.get(extension_path(served)) or {})["spec"]["config"]["inline"] == config
    tree = page.locator(".console-tree")
    expect(tree.filter(has_text=f"{served}-old")).to_be_visible()

    page.get_by_label("Leave it as it is, because of").fill("the move of disks")
    page.get_by_role("button", name="Suspend").click()
    expect(page.locator("h1")).to_contain_text("Suspended", timeout=SECONDS)
    expect(page.get_by_text("suspended: the move of disks").first).to_be_visible()
    page.get_by_role("button", name="Resume").click()

    page.get_by_role("link", name="Next version …").click()
    expect(page.locator("pre").first).to_contain_text(f"{served}.v1.0.0 -> {served}.v2.0.0")
    page.get_by_label("Its account gets the rights that it lacks").check()
    page.get_by_role("button", name="Upgrade").click()
    updated = page.locator("dl").get_by_text(f"{served}.v2.0.0", exact=True)
    expect(updated).to_be_visible(timeout=SECONDS)

    page.get_by_role("button", name="Show", exact=True).click()
    image = "spec.template.spec.containers[operator].image"
    change = page.get_by_role("row", name=image)
    expect(change).to_contain_text("operator:v1.0.0")
    expect(change).to_contain_text("operator:v2.0.0")
    assert not Axe().run(page).response["violations"]
    page.get_by_role("link", name=served, exact=True).click()
    expect(tree.filter(has_text="ReplicaSet")).to_be_visible()

    page.get_by_role("link", name="Roll back to 1 …").click()
    page.get_by_role("button", name="Roll back").click()
    expect(installed).to_be_visible(timeout=SECONDS)
    page.get_by_role("link", name="Why this version?").click()
    expect(page.locator("pre").first).to_contain_text("is what the spec comes to")

    page.goto(f"/extensions/{served}/uninstall")
    page.get_by_label(f"Type {served}").fill("something else")
    page.get_by_role("button", name="Delete").click()
    expect(notice(page)).to_contain_text("Nothing was deleted")
    page.get_by_label(f"Type {served}").fill(served)
    page.get_by_role("button", name="Delete").click()
    expect(page.locator("h1")).to_contain_text("What is left", timeout=SECONDS)
    page.get_by_label(f"Type {served}").fill(served)
    page.get_by_role("button", name="Delete").click()
    expect(notice(page)).to_contain_text("is deleted")
    api.wait_gone(f"/api/v1/namespaces/{served}/serviceaccounts/{served}-installer")


def test_what_cannot_be_installed_is_shown_in_the_form(page: Page, served: str) -> None:
    page.goto(f"/packages/{served}/install?preview=yes&version=9.x&namespace=mine")
    expect(page.get_by_role("alert")).to_contain_text("no bundles found")
    expect(page.get_by_label("Namespace", exact=True)).to_have_value("mine")


def test_a_catalog_is_added_switched_off_and_removed(
    api: Api, page: Page, package: str, publish_catalog: Publish
) -> None:
    image = publish_catalog(BundleSpec(package=package, version="1.0.0"))
    page.goto("/catalogs")
    page.locator("main details").first.evaluate("each => each.open = true")
    page.get_by_label("Name").fill(package)
    page.get_by_label("Image").fill("no image at all")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_label("Name")).to_have_value(package)
    page.get_by_label("Image").fill(image)
    page.get_by_role("button", name="Add").click()
    expect(page.locator("h1")).to_contain_text("Serving", timeout=SECONDS)
    page.get_by_role("button", name="Look for new content now").click()
    expect(notice(page)).to_contain_text("is being asked")
    page.get_by_role("button", name="Disable").click()
    expect(page.locator("h1")).to_contain_text("Off", timeout=SECONDS)
    page.get_by_role("button", name="Enable").click()
    expect(page.locator("h1")).to_contain_text("Serving", timeout=SECONDS)
    page.get_by_role("link", name="Remove …").click()
    page.get_by_role("button", name="Remove").click()
    expect(notice(page)).to_contain_text("is being removed")
    api.wait_gone(f"/apis/olm.operatorframework.io/v1/clustercatalogs/{package}")
