"""`olm search`, `show`, `graph` and `diff` against a real cluster and registry."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from e2e.harness.ports import free_port
from e2e.harness.registry import Registry
from e2e.olm.api import Api, catalog_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.manifests import with_administrator
from e2e.olm.programs import Olm
from e2e.olm.warm import warm_program
from olm_client.catalogs.quick_list import quick_list
from olm_client.reach import Reach
from tests.integration import test_why as why

pytestmark = pytest.mark.integration

Serve = Callable[[str, str], None]
Publish = Callable[..., str]

address = why.address


@dataclass(frozen=True)
class Shell:
    """Runs olm with a cache of its own."""

    cache: Path
    kubeconfig: Path

    def __call__(self, *arguments: str, cas_dir: Path | None = None) -> "Completed":
        command = [warm_program("olm"), *arguments]
        command += [f"--kubeconfig={self.kubeconfig}"]
        command += [f"--catalogd-cas-dir={cas_dir}"] if cas_dir else []
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=180,
            env=os.environ | {"XDG_CACHE_HOME": str(self.cache)},
        )


Completed = subprocess.CompletedProcess[str]


@pytest.fixture
def shell(olm: Olm, tmp_path: Path) -> Shell:
    return Shell(tmp_path, olm.control_plane.kubeconfig)


@pytest.fixture
def served(
    package: str, publish_catalog: Publish, serve_catalog: Serve
) -> Callable[[tuple[str, ...]], str]:
    """Publishes and serves the test's package in these versions; the image's reference."""

    def serve(versions: tuple[str, ...]) -> str:
        image = publish_catalog(*(BundleSpec(package=package, version=v) for v in versions))
        serve_catalog(package, image)
        return image

    return serve


def test_what_a_cluster_offers_is_found_kept_and_compared(
    olm: Olm, api: Api, package: str, shell: Shell, served: Callable[[tuple[str, ...]], str],
    publish_catalog: Publish, registry: Registry,
) -> None:  # fmt: skip
    image = served(("1.0.0", "1.1.0"))
    cas = olm.catalogs_ca.parent
    found = shell("search", package, "-o", "json", cas_dir=cas)
    assert found.returncode == 0, found.stderr
    [only] = json.loads(found.stdout)["packages"]
    assert (only["name"], only["version"], only["catalog"]) == (package, "1.1.0", package)

    olm.kill(olm.catalogd)  # nothing is asked of it twice
    try:
        assert f"{package}.v1.1.0" in shell("show", package, cas_dir=cas).stdout
        only_names = shell("show", package, "-o", "name", cas_dir=cas)
        assert only_names.stdout == f"{package}.v1.1.0\n"
    finally:
        olm.start_catalogd()

    reach = f"--cas-dir={registry.ca_file.parent}" if registry.ca_file else "--plain-http"
    same = shell("diff", package, image, reach, cas_dir=cas)
    assert same.returncode == 0, same.stdout + same.stderr

    for catalog in (package, image, f"{package}@{digest(api, package)[:20]}"):
        named = ("--catalog", catalog, reach)
        resolved = shell("resolve", "--package", package, "-o", "json", *named, cas_dir=cas)
        assert resolved.returncode == 0, resolved.stderr
        chosen = json.loads(resolved.stdout)
        assert (chosen["version"], chosen["catalog"]) == ("1.1.0", catalog)
        dry = shell("install", package, "--dry-run", "-o", "json", *named, cas_dir=cas)
        [extension] = json.loads(dry.stdout)["items"][-1:]
        assert ("selector" in extension["spec"]["source"]["catalog"]) == (catalog == package)
    wrong = shell("rbac", package, "--catalog", f"{package}x", cas_dir=cas)
    assert f"hint: did you mean {package}?" in wrong.stderr

    before = digest(api, package)
    publish_catalog(*(BundleSpec(package=package, version=v) for v in ("1.0.0", "1.1.0", "1.2.0")))
    refresh(olm, package)
    api.wait(
        catalog_path(package),
        lambda _: digest(api, package) not in {"", before},
        what="new content",
    )
    api.wait_condition(catalog_path(package), "Serving", "True")
    other = shell("diff", f"{package}@{before[:20]}", package, cas_dir=cas)
    assert other.returncode == 1, other.stderr
    assert f"+ bundle {package}.v1.2.0 (1.2.0)" in other.stdout


def digest(api: Api, name: str) -> str:
    status = (api.get(catalog_path(name)) or {}).get("status") or {}
    ref: str = ((status.get("resolvedSource") or {}).get("image") or {}).get("ref", "")
    return ref.partition("@")[2]


def refresh(olm: Olm, name: str) -> None:
    """Has the catalog's tag looked at again, now."""
    with Api(olm.control_plane) as api:
        for mode in ("Unavailable", "Available"):
            api.patch(catalog_path(name), {"spec": {"availabilityMode": mode}})


def test_the_installed_version_is_marked(
    olm: Olm, api: Api, package: str, shell: Shell, served: Callable[[tuple[str, ...]], str]
) -> None:
    served(("1.0.0", "1.1.0"))
    olm.control_plane.apply(with_administrator(package, "1.0.0"))
    api.wait_installed(package, "1.0.0")
    cas = olm.catalogs_ca.parent
    drawn = shell("graph", package, "--extension", package, cas_dir=cas)
    assert drawn.stdout.splitlines() == [
        f"{package}, channel stable",
        f"●  {package}.v1.1.0 [head]  replaces {package}.v1.0.0",
        f"●  {package}.v1.0.0 [installed]",
    ]
    nobody = shell("graph", package, "--extension", "nobody", cas_dir=cas)
    assert nobody.stderr.startswith('error: there is no ClusterExtension "nobody"\nhint: ')


def test_no_cluster_and_no_such_package_are_reported(
    olm: Olm, package: str, shell: Shell, served: Callable[[tuple[str, ...]], str]
) -> None:
    served(("1.0.0",))
    away = Shell(shell.cache, Path("/nonexistent/kubeconfig"))("search", "x")
    assert away.returncode == 1
    assert "or give --catalog DIR|IMAGE to look in a catalog without a cluster" in away.stderr
    wrong = shell("show", f"{package}x", cas_dir=olm.catalogs_ca.parent)
    assert f"hint: did you mean {package}?" in wrong.stderr


@pytest.fixture
def in_cluster(
    olm: Olm, api: Api, package: str, served: Callable[[tuple[str, ...]], str], address: str
) -> Iterator[str]:
    """A catalog whose address only the cluster can reach."""
    served(("1.0.0", "1.1.0"))
    port = free_port(address)
    olm.kill(olm.catalogd)
    options = (f"--catalogs-server-addr={address}:{port}", f"--external-address={why.IN_CLUSTER}")
    olm.start_catalogd(*options)
    kubectl, pod = olm.control_plane.kubectl, ("pod", why.SERVICE, "-n", why.SYSTEM)
    kubectl("apply", "-f", "-", stdin=why.behind_service(address, port))
    kubectl("patch", *pod, "--subresource=status", "--type=merge", "-p", why.at(address))
    try:
        there = why.served_at(f"https://{why.IN_CLUSTER}/")
        api.wait(catalog_path(package), there, what="new address")
        yield package
    finally:
        kubectl("delete", *pod, "--grace-period=0", "--force")
        kubectl("delete", "service,endpoints", why.SERVICE, "-n", why.SYSTEM, "--ignore-not-found")
        olm.kill(olm.catalogd)
        olm.start_catalogd()
        api.wait(catalog_path(package), why.served_at(olm.catalogs_url), what="old address")


def test_catalogs_are_read_through_the_api_server_with_two_rights(
    olm: Olm, in_cluster: str, tmp_path: Path
) -> None:
    olm.control_plane.apply(why.reader(in_cluster))
    kubeconfig = olm.control_plane.kubeconfig_for_service_account(why.SYSTEM, in_cluster)
    shell = Shell(tmp_path, kubeconfig)
    for each in (kubeconfig, olm.control_plane.kubeconfig):  # a token, a client certificate
        listed = [found["metadata"]["name"] for found in quick_list(Reach(str(each))) or ()]
        assert in_cluster in listed
    refused = shell("search", in_cluster)
    assert refused.returncode == 1
    assert "received unexpected response status code 403" in refused.stderr
    assert "that needs the permission to get services/proxy" in refused.stderr

    olm.control_plane.apply(why.asker_of_the_service(in_cluster))
    result = shell("search", in_cluster)
    assert result.returncode == 0, result.stderr
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["NAME", in_cluster]
