"""The console of the chart, in a pod without any right: people sign in and see the cluster."""

import ssl
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from e2e.harness.controlplane import wait_until
from e2e.harness.pki import CertificateAuthority
from e2e.node.cluster import Node
from e2e.node.release import Release
from e2e.olm.api import Api, catalog_path
from e2e.olm.chart import NAMESPACE
from e2e.olm.fbc import PublishedBundle
from e2e.olm.manifests import catalog

pytestmark = pytest.mark.node

HOST = f"console.{NAMESPACE}.svc.cluster.local"
NAME, USER, SECRET = "browsed", "browsing", "console-serving-cert"


@pytest.fixture(scope="module")
def browser(
    node: Node, product: Release, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    """Somebody in front of it; at last it is switched off again."""
    folder: Path = tmp_path_factory.mktemp("console")
    authority = CertificateAuthority.load_or_create(folder, "ca")
    certificate, key = authority.issue_server("console", hosts=[HOST]).write(folder, "console")
    files = (f"--cert={certificate}", f"--key={key}")
    node.kubectl("create", "secret", "tls", SECRET, *files, "-n", NAMESPACE)
    product.upgrade({"console": {"enabled": True, "host": HOST}})
    trust = ssl.create_default_context(cafile=str(folder / "ca.crt"))
    with httpx.Client(
        base_url=f"https://{HOST}",
        verify=trust,
        trust_env=False,
        headers={"Origin": f"https://{HOST}"},
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
