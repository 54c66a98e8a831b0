"""package-server behind the API server's proxy, as its users and those who are none see it."""

import base64
import ssl
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from e2e.harness.controlplane import ControlPlane, wait_until
from e2e.harness.errors import CommandFailed
from e2e.harness.pki import CertificateAuthority
from e2e.olm.catalog_servers import CatalogServer
from e2e.olm.classic import SYSTEM_NAMESPACE, Classic, Place
from e2e.olm.package_server import HOST, PackageServer
from e2e.olm.pages import DOCS, steps
from e2e.olm.reader import Reader
from olm_runtime.certificates.issuer import issuer
from olm_runtime.certificates.rotation import issued
from olm_runtime.clocks import utc_now
from tests.integration.console.inside import console_of

pytestmark = pytest.mark.integration

API = "/apis/packages.operators.coreos.com/v1"
PIXEL = base64.b64encode(b"<svg xmlns='http://www.w3.org/2000/svg'/>").decode()
SERVER_NAMES = ("package-server.olm.svc", "package-server.olm.svc.cluster.local")


@pytest.fixture(scope="module")
def everywhere(classic: Classic) -> Iterator[Place]:
    """Where the catalogs for all namespaces are."""
    place = classic.place()
    yield place
    classic.remove(place.name)


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, classic: Classic, everywhere: Place
) -> Iterator[PackageServer]:
    folder, flag = tmp_path_factory.mktemp("packages"), f"--global-namespace={everywhere.name}"
    with PackageServer(folder, classic.control_plane, flag) as running:
        yield running


def csv_metadata(name: str) -> dict[str, Any]:
    return {
        "displayName": name.title(),
        "description": "what it does. " * 20,
        "provider": {"name": "ACME", "url": "https://example.com"},
        "installModes": [{"type": "AllNamespaces", "supported": True}],
        "labels": {"operatorframework.io/arch.arm64": "supported"},
    }


def package(name: str, *versions: str, icon: bool = False) -> list[Mapping[str, Any]]:
    """A package whose versions replace one another in the channel `stable`."""
    names = [f"{name}.v{version}" for version in versions]
    entries = [
        {"name": each} | ({"replaces": before} if before else {})
        for before, each in zip([None, *names], names, strict=False)
    ]
    bundles = [
        {
            "schema": "olm.bundle",
            "package": name,
            "name": f"{name}.v{version}",
            "image": f"registry.example.com/{name}:{version}",
            "properties": [
                {"type": "olm.package", "value": {"packageName": name, "version": version}},
                {"type": "olm.csv.metadata", "value": csv_metadata(name)},
            ],
        }
        for version in versions
    ]
    picture = {"icon": {"base64data": PIXEL, "mediatype": "image/svg+xml"}} if icon else {}
    return [
        {"schema": "olm.package", "name": name, "defaultChannel": "stable", **picture},
        {"schema": "olm.channel", "package": name, "name": "stable", "entries": entries},
        *bundles,
    ]


def catalog(place: Place, name: str, *packages: list[Mapping[str, Any]]) -> CatalogServer:
    blobs = [blob for each in packages for blob in each]
    return place.catalog(name, blobs, displayName="My Operator Catalog", publisher="ACME")


def kubectl(place: Place, *arguments: str) -> str:
    """As users call it, in the namespace."""
    return place.classic.control_plane.kubectl("-n", place.name, *arguments)


def listed(place: Place, **params: str) -> dict[str, Any]:
    with place.classic.control_plane.client() as client:
        path = f"{API}/namespaces/{place.name}/packagemanifests"
        found: dict[str, Any] = client.get(path, params=params).raise_for_status().json()
    return found


def names(place: Place, **params: str) -> list[str]:
    return [each["metadata"]["name"] for each in listed(place, **params)["items"]]


def wait_packages(place: Place, *expected: str) -> None:
    wait_until(lambda: names(place) == list(expected), what=f"packages {expected} in {place.name}")


def test_documents_commands_of_packages(server: PackageServer, place: Place) -> None:
    catalog(
        place, "my-catalog", package("jaeger-product", "1.2.0", "1.10.0"), package("aqua", "1.0.0")
    )
    wait_packages(place, "aqua", "jaeger-product")

    by_catalog = kubectl(
        place, "get", "packagemanifest", "--selector=catalog=my-catalog",
        "--field-selector", "metadata.name=jaeger-product", "-o", "json",
    )  # fmt: skip
    (found,) = orjson.loads(by_catalog)["items"]
    assert found["kind"] == "PackageManifest"
    assert found["metadata"]["labels"]["catalog-namespace"] == place.name
    (channel,) = found["status"]["channels"]
    assert [each["version"] for each in channel["entries"]] == ["1.10.0", "1.2.0"]
    described = kubectl(place, "describe", "packagemanifests", "jaeger-product")
    for word in ("Kind:         PackageManifest", "Install Modes:", "Entries:", "Default Channel:"):
        assert word in described


def tried(place: Place, *arguments: str) -> str:
    try:
        return kubectl(place, *arguments)
    except CommandFailed as error:
        return error.stderr


def test_a_namespace_sees_its_own_packages_and_global_ones(
    server: PackageServer, place: Place, everywhere: Place
) -> None:
    catalog(everywhere, "shared", package("common", "1.0.0"), package("both", "1.0.0"))
    catalog(place, "own", package("both", "2.0.0"))
    wait_packages(place, "both", "both", "common")
    items = listed(place)["items"]
    assert {each["metadata"]["namespace"] for each in items} == {place.name}
    both = orjson.loads(kubectl(place, "get", "packagemanifest", "both", "-o", "json"))
    assert both["status"]["catalogSourceNamespace"] == place.name
    everything = orjson.loads(kubectl(place, "get", "packagemanifests", "-A", "-o", "json"))
    real = {
        (each["metadata"]["namespace"], each["metadata"]["name"]) for each in everything["items"]
    }
    assert {(everywhere.name, "common"), (place.name, "both")} <= real
    everywhere.delete("catalogsources", "shared")
    wait_packages(place, "both")


def test_selectors_and_pages_and_what_is_refused(server: PackageServer, place: Place) -> None:
    catalog(place, "many", *(package(f"p{number}", "1.0.0") for number in range(5)))
    wait_packages(place, "p0", "p1", "p2", "p3", "p4")
    assert names(place, fieldSelector="metadata.name=p3") == ["p3"]
    assert names(place, labelSelector="catalog in (others)") == []
    first = listed(place, limit="2")
    assert first["metadata"]["remainingItemCount"] == 3
    rest = names(place, limit="3", **{"continue": first["metadata"]["continue"]})
    assert rest == ["p2", "p3", "p4"]
    assert (
        len(kubectl(place, "get", "packagemanifests", "--chunk-size=2", "-o", "name").split()) == 5
    )
    with pytest.raises(CommandFailed, match=r"field label not supported: status\.catalogSource"):
        kubectl(place, "get", "packagemanifests", "--field-selector=status.catalogSource=x")
    with pytest.raises(CommandFailed, match='"nothing" not found'):
        kubectl(place, "get", "packagemanifest", "nothing")
    with place.classic.control_plane.client() as client:
        path = f"{API}/namespaces/{place.name}/packagemanifests"
        watched = client.get(path, params={"watch": "true"})
        assert watched.status_code == 405
        assert watched.json()["reason"] == "MethodNotAllowed"
        assert client.delete(f"{path}/p1").status_code == 405


def test_icons(server: PackageServer, place: Place) -> None:
    catalog(place, "icons", package("with", "1.0.0", icon=True), package("without", "1.0.0"))
    wait_packages(place, "with", "without")
    with place.classic.control_plane.client() as client:
        path = f"{API}/namespaces/{place.name}/packagemanifests"
        icon = client.get(f"{path}/with/icon").raise_for_status()
        assert icon.content == base64.b64decode(PIXEL)
        assert icon.headers["etag"] == '"with.stable.with.v1.0.0"'
        known = {"if-none-match": icon.headers["etag"]}
        assert client.get(f"{path}/with/icon", headers=known).status_code == 200
        again = client.get(f"{path}/with/icon", params={"resourceVersion": "1"}, headers=known)
        assert again.status_code == 304
        default = client.get(f"{path}/without/icon").raise_for_status()
        assert default.headers["content-type"].startswith("image/svg+xml")
        assert client.get(f"{path}/nothing/icon").status_code == 404


def test_a_catalog_goes_and_comes_back(server: PackageServer, place: Place) -> None:
    there = catalog(place, "restless", package("first", "1.0.0"))
    wait_packages(place, "first")
    there.stop()
    wait_packages(place)
    there.serve([*package("first", "1.0.0", "2.0.0"), *package("second", "1.0.0")])
    wait_packages(place, "first", "second")
    server.restart(kill=True)
    assert names(place) == ["first", "second"]
    assert "package_server_packages" in server.metrics()
    place.delete("catalogsources", "restless")
    wait_packages(place)


async def test_the_console_installs_what_is_listed(server: PackageServer, place: Place) -> None:
    catalog(place, "community", package("gadget", "1.0.0"), package("gizmo", "1.0.0"))
    wait_packages(place, "gadget", "gizmo")
    async with console_of(place.classic.control_plane) as browser:
        listed_page = await browser.get(f"/classic?part=packages&words={place.name} gadget")
        path = f"/classic/packages/{place.name}/gadget"
        assert f'href="{path}"' in listed_page.text
        assert "gizmo" not in listed_page.text

        target = f"{place.name}-gadget"
        asked = {"target": target, "scope": "own", "preview": "yes"}
        refused = await browser.get(path, params=asked)
        assert refused.status_code == 422
        assert "does not support the install mode OwnNamespace" in refused.text
        asked["scope"] = ""
        shown = await browser.get(path, params=asked)
        assert "kind: OperatorGroup" in shown.text
        assert kubectl(place, "get", "namespaces", target, "--ignore-not-found") == ""
        token = shown.text.split('name="token" value="')[1].split('"')[0]
        installed = await browser.post(path, data={**asked, "token": token})
        assert installed.headers["location"] == f"/classic/subscriptions/{target}/gadget"
        spec = orjson.loads(kubectl(place, "get", "sub", "gadget", "-n", target, "-o=json"))
        assert spec["spec"]["source"] == "community"
        again = await browser.get(path, params=asked)
        assert "is installed in namespace" in again.text
    place.classic.control_plane.remove(f"/api/v1/namespaces/{target}")


def direct(server: PackageServer, certificate: tuple[str, str] | None = None) -> httpx.Client:
    """A client that comes past the API server."""
    context = ssl.create_default_context(cafile=str(authorities(server)))
    context.check_hostname = False
    if certificate is not None:
        context.load_cert_chain(*certificate)
    return httpx.Client(
        base_url=f"https://{HOST}:{server.port}", verify=context, timeout=60.0, trust_env=False
    )


def authorities(server: PackageServer) -> Path:
    return server.certificates / "package-server-cert" / "ca" / "ca.crt"


def test_who_may_not_is_refused_however_he_comes(
    server: PackageServer, place: Place, tmp_path: Path
) -> None:
    control_plane: ControlPlane = place.classic.control_plane
    path = f"{API}/namespaces/{place.name}/packagemanifests"
    forged = {"X-Remote-User": "admin", "X-Remote-Group": "system:masters"}
    with direct(server) as nobody:
        answer = nobody.get(path, headers=forged)
        assert (answer.status_code, answer.json()["reason"]) == (403, "Forbidden")
        assert 'User "system:anonymous" cannot list resource' in answer.json()["message"]
        wrong = {"authorization": "Bearer nonsense"}
        assert nobody.get(path, headers=wrong).status_code == 401
        assert nobody.get("/readyz").text == "ok"
        assert nobody.get("/metrics").status_code == 403

    def certificate(authority: str, user: str, *groups: str) -> tuple[str, str]:
        pair = CertificateAuthority.load_or_create(control_plane.places.pki, authority)
        files = pair.issue_client(user, groups).write(tmp_path, user)
        return str(files[0]), str(files[1])

    with direct(server, certificate("front-proxy-ca", "somebody-else")) as other:
        assert other.get(path, headers=forged).status_code == 401
    with direct(server, certificate("ca", "user")) as user:
        refused = user.get(path, headers=forged)
        assert refused.status_code == 403
        assert 'User "user"' in refused.json()["message"]
    with direct(server, certificate("ca", "boss", "system:masters")) as boss:
        assert boss.get(path).status_code == 200
    with direct(server, certificate("front-proxy-ca", "front-proxy-client")) as proxy:
        assert proxy.get(path, headers=forged).status_code == 200
        assert proxy.get(path, headers={"X-Remote-User": "user"}).status_code == 403
    kubeconfig = control_plane.kubeconfig_for("stranger")
    with pytest.raises(CommandFailed, match='"stranger" cannot list resource "packagemanifests"'):
        control_plane.kubectl("get", "packagemanifests", "-n", place.name, kubeconfig=kubeconfig)


def test_a_role_of_the_namespace_lets_a_token_in(server: PackageServer, place: Place) -> None:
    kubectl(place, "create", "serviceaccount", "viewer")
    kubectl(place, "create", "rolebinding", "viewer", "--clusterrole=view",
            f"--serviceaccount={place.name}:viewer")  # fmt: skip
    kubeconfig = place.classic.control_plane.kubeconfig_for_service_account(place.name, "viewer")
    listing = ("get", "packagemanifests", "-o", "json", f"--kubeconfig={kubeconfig}")
    wait_until(lambda: '"items"' in tried(place, *listing), what="the role counts")


def test_the_page_of_the_documentation(server: PackageServer, place: Place, tmp_path: Path) -> None:
    """The API server asks what an API is like when it learns of it, or a minute later."""
    jaeger, aqua = package("jaeger-product", "1.2.0"), package("aqua", "1.0.0")
    catalog(place, "my-catalog", jaeger, aqua)
    wait_packages(place, "aqua", "jaeger-product")
    explain = ("explain", "packagemanifest.status.channels.entries.version")
    wait_until(lambda: "Its version." in tried(place, *explain), what="it is explained")
    names = {"openshift-marketplace": place.name}
    page = DOCS / "classic" / "package-manifests.md"
    Reader(tmp_path, place.classic.control_plane, names=names).follow(steps(page))


def test_certificates_change_without_a_call_that_fails(server: PackageServer, place: Place) -> None:
    """The server starts with a certificate that is to be renewed at once."""
    lifetime, now = timedelta(hours=1), utc_now()
    fresh = issuer(lifetime)(SERVER_NAMES, now - lifetime * 5 / 6)
    with place.classic.control_plane.client() as client:
        server.stop()
        client.patch(
            f"/api/v1/namespaces/{SYSTEM_NAMESPACE}/secrets/package-server-cert",
            json={"data": issued(fresh).data()},
            headers={"content-type": "application/merge-patch+json"},
        ).raise_for_status()
        server.start("--certificate-settle=15s")
        path = f"{API}/namespaces/{place.name}/packagemanifests"

        def is_another() -> bool:
            assert client.get(path).raise_for_status().json()["items"] == []
            return shown(server) != fresh.pair.certificate.decode()

        assert shown(server) == fresh.pair.certificate.decode()
        wait_until(is_another, what="another certificate is served")
    server.restart()


def shown(server: PackageServer) -> str:
    """The certificate that is served now."""
    return ssl.get_server_certificate((HOST, server.port))
