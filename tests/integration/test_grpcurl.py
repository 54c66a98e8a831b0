"""The registry API as grpcurl reads it, with nothing but what the server says of itself."""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.harness.binaries import grpcurl_binary
from e2e.harness.errors import HarnessError
from e2e.olm.catalog_servers import CatalogServer
from e2e.olm.fbc import PublishedBundle, package_blobs
from tests.requirements import leave_out

pytestmark = pytest.mark.integration

Grpcurl = Callable[..., str]
VERSIONS = ("1.0.0", "1.1.0")
BLOBS = package_blobs(
    PublishedBundle("hello", f"hello.v{each}", each, f"registry.example.com/hello:{each}", {})
    for each in VERSIONS
)


@pytest.fixture(scope="module")
def grpcurl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grpcurl]:
    """Runs grpcurl against `opm serve`: a method or verb, and perhaps a request."""
    try:
        program = grpcurl_binary().argv[0]
    except HarnessError as error:
        leave_out("grpcurl", f"there is no grpcurl: {error}")
    server = CatalogServer(Path(tmp_path_factory.mktemp("served")))
    server.serve(BLOBS)

    def run(*words: str, request: dict[str, Any] | None = None) -> str:
        data = ["-d", json.dumps(request)] if request else []
        argv = [program, "-plaintext", *data, server.address, *words]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
        return done.stdout + done.stderr

    yield run
    server.stop()


def test_it_finds_methods_and_messages_by_reflection(grpcurl: Grpcurl) -> None:
    assert {"api.Registry", "grpc.health.v1.Health"} <= set(grpcurl("list").split())
    methods = {line.rpartition(".")[2] for line in grpcurl("list", "api.Registry").split()}
    assert {"ListPackages", "GetPackage", "GetBundle", "ListBundles"} <= methods
    assert "string csvName = 1;" in grpcurl("describe", "api.Bundle")


def test_it_calls_what_pages_call(grpcurl: Grpcurl) -> None:
    assert json.loads(grpcurl("api.Registry/ListPackages")) == {"name": "hello"}
    package = json.loads(grpcurl("api.Registry/GetPackage", request={"name": "hello"}))
    assert package["defaultChannelName"] == "stable"
    assert package["channels"] == [{"name": "stable", "csvName": "hello.v1.1.0"}]
    asked = {"pkgName": "hello", "channelName": "stable", "csvName": "hello.v1.1.0"}
    bundle = json.loads(grpcurl("api.Registry/GetBundle", request=asked))
    assert bundle["bundlePath"] == "registry.example.com/hello:1.1.0"
    assert grpcurl("api.Registry/ListBundles").count('"csvName"') == 2
    health = grpcurl("grpc.health.v1.Health/Check", request={"service": "Registry"})
    assert json.loads(health) == {"status": "SERVING"}


def test_errors_are_upstreams(grpcurl: Grpcurl) -> None:
    output = grpcurl("api.Registry/GetPackage", request={"name": "lost"})
    assert "Code: Unknown" in output
    assert 'Message: package "lost" not found' in output
