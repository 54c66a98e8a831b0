"""A catalogd behind a Service is asked through the API server, with the user's own token."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from olm_runtime.kube.cluster_access import ClusterAccess
from operator_controller.io.catalog_addresses import Address, CatalogUnavailableError, proxy_path
from operator_controller.io.catalogd import Catalogd
from operator_controller.io.catalogd_proxy import CatalogdFromOutside

IN_CLUSTER = "https://catalogd-service.olmv1-system.svc/catalogs/c"
SOURCE = "registry.test/c@sha256:" + "1" * 64
PROXY = "/api/v1/namespaces/olmv1-system/services/https:catalogd-service:443/proxy/catalogs/c"


@pytest.mark.parametrize(
    ("base", "path"),
    [
        (IN_CLUSTER, PROXY),
        (
            "https://s.n.svc.cluster.local:8443/x",
            "/api/v1/namespaces/n/services/https:s:8443/proxy/x",
        ),
        ("http://s.n.svc/x", "/api/v1/namespaces/n/services/http:s:80/proxy/x"),
        ("https://127.0.0.1:8443/catalogs/c", None),
        ("https://catalogs.example.com/catalogs/c", None),
    ],
)
def test_only_addresses_of_services_go_through_the_api_server(base: str, path: str | None) -> None:
    assert proxy_path(base) == path


@pytest.fixture
def asked() -> Iterator[tuple[list[tuple[str, str | None]], CatalogdFromOutside]]:
    """What an API server was asked, and who asks; it refuses the catalog `no`."""
    seen: list[tuple[str, str | None]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append((self.path, self.headers.get("Authorization")))
            body = b'{"schema": "olm.package", "name": "p", "icon": 1}\n'
            self.send_response(403 if "/catalogs/no/" in self.path else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        access = ClusterAccess(
            server=f"http://127.0.0.1:{server.server_port}", authorization=lambda: "Bearer mine"
        )
        yield seen, CatalogdFromOutside(access, Catalogd(None))
        server.shutdown()


async def test_the_proxy_is_asked_with_the_users_token(
    asked: tuple[list[tuple[str, str | None]], CatalogdFromOutside],
) -> None:
    seen, catalogd = asked
    found = await catalogd.package(Address("c", IN_CLUSTER, SOURCE), "p")
    assert found
    assert found.lines == (b'{"schema":"olm.package","name":"p"}',)
    assert seen == [(f"{PROXY}/api/v1/metas?package=p", "Bearer mine")]
    await catalogd.close()


async def test_the_proxy_is_not_asked_to_go_on_without_tls(
    asked: tuple[list[tuple[str, str | None]], CatalogdFromOutside],
) -> None:
    seen, catalogd = asked
    plain = IN_CLUSTER.replace("https:", "http:")
    with pytest.raises(CatalogUnavailableError, match="has no TLS: anybody between"):
        await catalogd.package(Address("c", plain, SOURCE), "p")
    assert not seen
    await catalogd.close()


async def test_a_refusal_names_the_permission(
    asked: tuple[list[tuple[str, str | None]], CatalogdFromOutside],
) -> None:
    _, catalogd = asked
    with pytest.raises(CatalogUnavailableError, match="403") as caught:
        await catalogd.package(Address("no", IN_CLUSTER.removesuffix("c") + "no", SOURCE), "p")
    assert "services/proxy" in caught.value.hint
    await catalogd.close()
