"""The console of the chart, in a pod without any right: people sign in and see the cluster."""

import base64
import hashlib
import ssl
from collections.abc import Callable, Iterator

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from playwright.sync_api import Page, expect, sync_playwright

from e2e.harness.client import PATIENCE_SECONDS
from e2e.harness.controlplane import wait_until
from e2e.harness.pki import CertificateAuthority, KeyPair
from e2e.node.cluster import Node
from e2e.node.pause import pause_image
from e2e.node.release import Release
from e2e.olm.api import Api, catalog_path, extension_path
from e2e.olm.browser import CHROMIUM, FLAGS
from e2e.olm.bundles import BundleSpec
from e2e.olm.chart import NAMESPACE
from e2e.olm.fbc import PublishedBundle
from e2e.olm.manifests import catalog
from tests.integration.console.visits import PATIENCE_MILLISECONDS

pytestmark = pytest.mark.node

HOST = f"console.{NAMESPACE}.svc.cluster.local"
NAME, USER, SECRET = "browsed", "browsing", "console-serving-cert"
ADMINISTRATOR, RUNNING = "administering", "running"


@pytest.fixture(scope="module")
def authority() -> CertificateAuthority:
    return CertificateAuthority.create("ca")


@pytest.fixture(scope="module")
def pair(authority: CertificateAuthority) -> KeyPair:
    """What the console proves its name with."""
    return authority.issue_server("console", hosts=[HOST])


@pytest.fixture(scope="module")
def browser(
    node: Node,
    product: Release,
    authority: CertificateAuthority,
    pair: KeyPair,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[httpx.Client]:
    """Somebody in front of it; at last it is switched off again."""
    certificate, key = pair.write(tmp_path_factory.mktemp("console"), "console")
    files = (f"--cert={certificate}", f"--key={key}")
    node.kubectl("create", "secret", "tls", SECRET, *files, "-n", NAMESPACE)
    product.upgrade({"console": {"enabled": True, "host": HOST}})
    trust = ssl.create_default_context(cadata=authority.certificate.decode())
    with httpx.Client(
        base_url=f"https://{HOST}",
        verify=trust,
        trust_env=False,
        headers={"Origin": f"https://{HOST}"},
        timeout=PATIENCE_SECONDS,
    ) as client:
        yield client
    product.upgrade({"console": {"enabled": False, "host": ""}})
    node.kubectl("delete", "secret", SECRET, "-n", NAMESPACE)


@pytest.fixture(scope="module")
def token(node: Node) -> Iterator[str]:
    """Of somebody who may look at extensions, and ask catalogd through the API server."""
    rules = ("--verb=get,list,watch", "--resource=clustercatalogs.olm.operatorframework.io")
    node.kubectl("create", "serviceaccount", USER)
    node.kubectl("create", "clusterrole", USER, *rules)
    node.kubectl(
        *("create", "clusterrole", f"{USER}-content", "--verb=get", "--resource=services/proxy")
    )
    roles = (USER, f"{USER}-content")
    for role in roles:
        bound = (f"--clusterrole={role}", f"--serviceaccount=default:{USER}")
        node.kubectl("create", "clusterrolebinding", role, *bound)
    yield node.kubectl("create", "token", USER).strip()
    node.kubectl("delete", "clusterrole,clusterrolebinding", *roles)
    node.kubectl("delete", "serviceaccount", USER)


def test_people_see_what_they_may_see(
    node: Node, api: Api, browser: httpx.Client, token: str, publish: Callable[..., str]
) -> None:
    bundle = PublishedBundle(NAME, f"{NAME}.v1.0.0", "1.0.0", "registry.example.com/some:v1")
    node.kubectl("apply", "-f", "-", stdin=catalog(NAME, publish(bundle)))
    api.wait_condition(catalog_path(NAME), "Serving", "True")
    assert browser.get("/").status_code == 401
    assert browser.post("/sign-in", data={"token": "nonsense"}).status_code == 401
    assert browser.post("/sign-in", data={"token": token}).headers["location"] == "/"
    assert f"signed in as system:serviceaccount:default:{USER}" in browser.get("/doctor").text
    wait_until(
        lambda: f"/packages/{NAME}?catalog={NAME}" in browser.get(f"/packages?words={NAME}").text,
        what="the package in the console",
    )
    shown = browser.get(f"/catalogs/{NAME}").text
    assert "Not allowed to you: to change this catalog" in shown
    assert "forbidden" in browser.get("/extensions").text
    node.kubectl("delete", "clustercatalog", NAME)


def _trusting(pair: KeyPair) -> str:
    """Chromium's option to trust one key: it takes CAs from the machine alone.

    Playwright's `ignore_https_errors` is of pages, and workers refuse the certificate still.
    """
    key = x509.load_pem_x509_certificate(pair.certificate).public_key()
    der = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    digest = base64.b64encode(hashlib.sha256(der).digest()).decode()
    return f"--ignore-certificate-errors-spki-list={digest}"


@pytest.fixture
def page(node: Node, browser: httpx.Client, pair: KeyPair) -> Iterator[Page]:
    """A browser in which an administrator has signed in. An error of a script fails the test."""
    node.kubectl("create", "serviceaccount", ADMINISTRATOR)
    bound = ("--clusterrole=cluster-admin", f"--serviceaccount=default:{ADMINISTRATOR}")
    node.kubectl("create", "clusterrolebinding", ADMINISTRATOR, *bound)
    errors: list[str] = []
    with sync_playwright() as playwright:
        options = [*FLAGS, "--disable-dev-shm-usage", _trusting(pair)]
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        address = str(browser.base_url)
        page = chromium.new_context(base_url=address).new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.set_default_timeout(PATIENCE_MILLISECONDS)
        expect.set_options(PATIENCE_MILLISECONDS)
        page.goto("/")
        page.get_by_role("link", name="Sign in").click()
        token = node.kubectl("create", "token", ADMINISTRATOR).strip()
        page.get_by_label("Token of the API server").fill(token)
        page.get_by_role("button", name="Sign in").click()
        yield page
        chromium.close()
    node.kubectl("delete", "clusterrolebinding", ADMINISTRATOR)
    node.kubectl("delete", "serviceaccount", ADMINISTRATOR)
    assert not errors


def test_a_browser_installs_what_then_runs_and_removes_it(
    node: Node, api: Api, page: Page, publish: Callable[..., str]
) -> None:
    image = node.registry.push(pause_image(), RUNNING, tag="1").tag_reference
    spec = BundleSpec(
        package=RUNNING, version="1.0.0", crd_group=f"{RUNNING}.example.com", operator=image
    )
    node.kubectl("apply", "-f", "-", stdin=catalog(RUNNING, publish(spec.publish(node.registry))))
    for path in ("/", "/extensions", "/doctor"):
        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.goto("/catalogs")
    expect(page.get_by_role("row", name=RUNNING)).to_contain_text("Serving")

    page.goto(f"/packages/{RUNNING}?catalog={RUNNING}")
    page.get_by_role("link", name="Install …").click()
    page.get_by_role("button", name="Show what would be written").click()
    page.get_by_role("button", name="Install", exact=True).click()
    tree = page.locator(".console-tree")
    expect(tree.get_by_text("Pod", exact=True).first).to_be_visible()
    api.wait_condition(extension_path(RUNNING), "Available", "True")

    page.goto(f"/extensions/{RUNNING}/uninstall")
    for heading in (f"Uninstall {RUNNING}", "What is left"):
        expect(page.locator("h1")).to_contain_text(heading)
        page.get_by_label(f"Type {RUNNING}").fill(RUNNING)
        page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("main").get_by_role("status")).to_contain_text("is deleted")
    assert api.get(extension_path(RUNNING)) is None
    node.kubectl("delete", "clustercatalog", RUNNING)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
