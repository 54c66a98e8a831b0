"""Lists without the client of the programs: of plain kubeconfigs only, over one connection."""

import json
import ssl
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml

from e2e.harness.pki import CertificateAuthority
from e2e.harness.ports import free_port
from olm_client.catalogs.quick_list import quick_list, quick_lists
from olm_client.reach import Reach


def config(cluster: dict[str, Any], user: dict[str, Any]) -> dict[str, Any]:
    return {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
        "clusters": [{"name": "k", "cluster": cluster}],
        "users": [{"name": "u", "user": user}],
    }


PLAIN = {"server": f"https://127.0.0.1:{free_port('127.0.0.1')}"}


@pytest.mark.parametrize(
    "content",
    [
        config(PLAIN, {"exec": {"command": "login"}}),
        config(PLAIN, {"auth-provider": {"name": "oidc"}}),
        config(PLAIN | {"proxy-url": "http://proxy"}, {"token": "t"}),
        config(PLAIN | {"tls-server-name": "x"}, {"token": "t"}),
        config(PLAIN | {"insecure-skip-tls-verify": True}, {"token": "t"}),
        config(PLAIN | {"certificate-authority-data": "bm8gQ0E="}, {"token": "t"}),
        config(PLAIN | {"certificate-authority": "absent.crt"}, {"token": "t"}),
        config({"server": "http://127.0.0.1:1"}, {"token": "t"}),
        config(PLAIN, {"tokenFile": "absent"}),
        config(PLAIN, {"token": "t"}),
        config(PLAIN, {}) | {"current-context": "other"},
        config(PLAIN, {}) | {"users": None},
        {},
        "text",
    ],
    ids=[
        "exec", "auth provider", "proxy", "server name", "insecure", "broken CA", "no CA file",
        "plain HTTP", "no token file", "nobody answers", "no such context", "no users", "empty",
        "text",
    ],
)  # fmt: skip
def test_anything_unusual_is_left_to_the_official_client(content: Any, tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(yaml.safe_dump(content))
    assert quick_list(Reach(str(file))) is None


def test_a_file_that_is_not_there_is_left_to_it_too(tmp_path: Path) -> None:
    assert quick_list(Reach(str(tmp_path / "none"))) is None


KINDS = ("ClusterExtension", "ClusterCatalog")


class ApiServer(BaseHTTPRequestHandler):
    """Has one object of each kind, named as its list; it counts its connections."""

    protocol_version = "HTTP/1.1"
    connections = 0
    hangs_up = False

    def setup(self) -> None:
        super().setup()
        type(self).connections += 1

    def do_GET(self) -> None:
        plural = self.path.partition("?")[0].rpartition("/")[2]
        kind = {f"{kind.lower()}s": kind for kind in KINDS}[plural]
        items = [{"metadata": {"name": plural}}]
        content = json.dumps({"kind": f"{kind}List", "metadata": {}, "items": items}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        self.close_connection = self.hangs_up

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def served(folder: Path, handler: type[ApiServer]) -> Iterator[Reach]:
    authority = CertificateAuthority.create("mine")
    files = authority.issue_server("localhost", hosts=["127.0.0.1"]).write(folder, "server")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*files)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        Thread(target=server.serve_forever, daemon=True).start()
        cluster = {
            "server": f"https://127.0.0.1:{server.server_port}",
            "certificate-authority-data": b64encode(authority.pair.certificate).decode(),
        }
        file = folder / "config"
        file.write_text(yaml.safe_dump(config(cluster, {"token": "t"})))
        yield Reach(str(file))
        server.shutdown()


def test_lists_of_several_kinds_come_over_one_connection(tmp_path: Path) -> None:
    class Handler(ApiServer):
        pass

    with served(tmp_path, Handler) as reach:
        found = quick_lists(reach, *KINDS)
    assert found is not None
    named = [[each["metadata"]["name"] for each in items] for items in found]
    assert named == [["clusterextensions"], ["clustercatalogs"]]
    assert Handler.connections == 1


def test_what_only_half_answers_is_left_to_it_too(tmp_path: Path) -> None:
    class Handler(ApiServer):
        hangs_up = True

    with served(tmp_path, Handler) as reach:
        assert quick_list(reach) is not None
        assert quick_lists(reach, *KINDS) is None
