"""The documents' commands for SQLite indexes, as the how-to has them, and what serves an index.

Nothing is asked but a registry; grpcurl is played by a client that, as grpcurl does, knows nothing
but what the server's reflection shows.
"""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from google.protobuf import descriptor_pool, json_format, message_factory
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)

from e2e.demo.bundles import own
from e2e.harness.ports import free_port
from e2e.harness.process import ChildProcess
from e2e.harness.registry import Registry
from e2e.olm.pages import HOW_TO
from tests.integration.opm_user import HELLO, Shell, commands, printed, user, values

pytestmark = pytest.mark.integration

PAGE = HOW_TO / "sqlite-indexes.md"
OTHER = "other-operator"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "user"


@pytest.fixture
def shell(folder: Path, tmp_path: Path) -> Iterator[Shell]:
    with Registry(tmp_path / "registry") as registry:
        made = user(folder, registry)
        shutil.copytree(own().first, folder / "other")
        for path in (folder / "other").rglob("*.yaml"):
            changed = path.read_text().replace(HELLO, OTHER).replace("0.1.0", "1.0.0")
            path.write_text(changed)
        yield made


@contextmanager
def served(folder: Path, *arguments: str) -> Iterator[str]:
    """The address of an opm that serves."""
    port = free_port()
    opm = str(Path(sys.executable).with_name("opm"))
    log = folder / f"served-{port}.log"
    child = ChildProcess("opm", (opm, *arguments, f"--port={port}"), log=log, cwd=folder)
    child.start()
    try:
        child.wait_ready(lambda: f"port={port}" in log.read_text())
        yield f"127.0.0.1:{port}"
    finally:
        child.stop()


def grpcurl(address: str, method: str, **fields: str) -> list[object]:
    """What `grpcurl -plaintext -d FIELDS ADDRESS METHOD` prints."""
    service, _, name = method.partition("/")
    with grpc.insecure_channel(address) as channel:
        pool = descriptor_pool.DescriptorPool(ProtoReflectionDescriptorDatabase(channel))
        found = pool.FindServiceByName(service).methods_by_name[name]
        request = message_factory.GetMessageClass(found.input_type)(**fields)
        make = channel.unary_stream if found.server_streaming else channel.unary_unary
        answer = message_factory.GetMessageClass(found.output_type)
        call = make(
            f"/{method}",
            request_serializer=lambda each: each.SerializeToString(),
            response_deserializer=answer.FromString,
        )(request)
        answers = list(call) if found.server_streaming else [call]
        return [json_format.MessageToDict(each) for each in answers]


def test_the_how_to_does_what_it_says(shell: Shell, folder: Path) -> None:
    sections = commands(PAGE)
    (push,) = sections["Push the bundles"]
    printed(shell(push))
    (add,) = sections["Make an index"]
    first = printed(shell(add))
    more, anew = sections["Add to it"]
    second = printed(shell(more))
    assert second.partition("@")[0] == first.partition("@")[0]
    assert second != first
    assert printed(shell(anew)) == second, "the same content"

    packages, prune, remove = sections["Keep some packages"]
    assert values(printed(shell(packages))) == [HELLO, OTHER]
    assert "deprecated" in shell(prune).stderr
    pruned = values(printed(shell(f"opm render {printed(shell(prune))}")))
    removed = values(printed(shell(f"opm render {printed(shell(remove))}")))
    assert [each["name"] for each in pruned] == [
        HELLO,
        "stable",
        f"{HELLO}.v0.1.0",
        f"{HELLO}.v0.2.0",
    ]
    assert removed == pruned
    entries = [{"name": f"{HELLO}.v0.1.0"}]
    entries += [{"name": f"{HELLO}.v0.2.0", "replaces": f"{HELLO}.v0.1.0"}]
    assert pruned[1]["entries"] == entries

    (export,) = sections["Take it apart"]
    assert printed(shell(export)).split() == ["0.1.0", "0.2.0", "package.yaml"]
    manifests = own().second / "manifests"
    for path in (folder / "downloaded" / HELLO / "0.2.0").iterdir():
        assert path.read_bytes() == (manifests / path.name).read_bytes()

    (generate,) = sections["Serve it"]
    printed(shell(generate))
    with served(folder, "registry", "serve", "--database=database/index.db") as address:
        assert grpcurl(address, "api.Registry/ListPackages") == [{"name": HELLO}]
        head = {"pkgName": HELLO, "channelName": "stable"}
        (found,) = grpcurl(address, "api.Registry/GetBundleForChannel", **head)
        assert isinstance(found, dict)
        assert found["csvName"] == f"{HELLO}.v0.2.0"

    (migrate,) = sections["Leave it"]
    printed(shell(migrate))
    taken_out = values(printed(shell("opm render registry.example.com/team/my-catalog:latest")))
    assert taken_out == pruned
    with served(folder, "serve", "my-catalog") as address:
        assert grpcurl(address, "api.Registry/ListPackages") == [{"name": HELLO}]


def test_what_cannot_be_added_publishes_nothing(shell: Shell) -> None:
    place = "registry.example.com/team"
    printed(shell(f"opm build bundle-0.2.0 -t {place}/hello:v0.2.0 --push"))
    wrong = shell(f"opm index add -b {place}/hello:v0.2.0 -t {place}/index:v1")
    assert wrong.returncode == 1
    assert f"{HELLO}.v0.2.0, replaces nonexistent bundle {HELLO}.v0.1.0" in wrong.stderr
    assert "hint: add that bundle first" in wrong.stderr
    assert "not found" in shell(f"opm render {place}/index:v1").stderr
    printed(shell(f"opm build bundle -t {place}/catalog:v1 --push --no-validate"))
    for command in ("prune -p x", "rm -o x", 'add -b ""', "export -p x"):
        source = "-i" if command.startswith("export") else "-f"
        target = "" if command.startswith("export") else f"-t {place}/index:v2"
        refused = shell(f"opm index {command} {source} {place}/catalog:v1 {target}")
        assert "is no SQLite index" in refused.stderr
