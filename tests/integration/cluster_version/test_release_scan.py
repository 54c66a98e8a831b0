"""Releases that are found in a real registry."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cluster_version.graph_data.releases import GraphRelease
from cluster_version.io.release_scan import ReleaseScan
from e2e.harness.images import Image, Platform, build_image, build_index
from e2e.harness.registry import PasswordAuth, Registry
from e2e.olm.update_service import UpdateService, write_graph_data
from e2e.olm.warm import warm_program
from olm_runtime.images.reference import parse_repository
from olm_runtime.registry import tags
from olm_runtime.registry.errors import UnauthorizedError
from olm_runtime.registry.settings import PullSettings

pytestmark = pytest.mark.integration

MANIFESTREF = "io.openshift.upgrades.graph.release.manifestref"


def release_image(
    version: str, *previous: str, architecture: str = "amd64", **metadata: str
) -> Image:
    """A release as its image has it: its metadata in the newest layer but one."""
    document = {
        "kind": "cincinnati-metadata-v0",
        "version": version,
        "previous": list(previous),
        "metadata": metadata,
    }
    layers: list[Mapping[str, bytes]] = [
        {"usr/bin/operator": b"\x7fELF" * 1000, "release-manifests/release-metadata": b"old"},
        {"release-manifests/release-metadata": json.dumps(document).encode()},
        {"manifests/0000_00_a.yaml": b"kind: A"},
    ]
    return build_image(layers, platform=Platform("linux", architecture))


def scan_of(registry: Registry, repository: str, cache: Path, **more: Any) -> ReleaseScan:
    cas = registry.ca_file.parent if registry.ca_file else None
    name = parse_repository(f"{registry.address}/{repository}")
    return ReleaseScan(name, PullSettings(cas_dir=cas, **more), cache)


def blobs_fetched(registry: Registry, repository: str) -> int:
    return sum(
        f"/{repository}/blobs/" in each.target and each.method == "GET"
        for each in registry.requests()
    )


async def test_a_repository_is_read_once_for_each_digest(
    registry: Registry, tmp_path: Path
) -> None:
    repository = "scan/once"
    first = registry.push(release_image("4.1.0"), repository, tag="4.1.0-x86_64")
    arm = release_image("4.1.0", architecture="arm64")
    registry.push(arm, repository, tag="4.1.0-aarch64")
    registry.push(build_image([{"hello": b"no release"}]), repository, tag="other")
    scan = scan_of(registry, repository, tmp_path)

    found = await scan.look()

    assert found is not None
    assert [(each.version, each.architecture) for each in found] == [
        ("4.1.0", "arm64"),
        ("4.1.0", "amd64"),
    ]
    assert found[1].payload == first.reference
    assert found[1].metadata[MANIFESTREF] == first.reference.partition("@")[2]
    fetched = blobs_fetched(registry, repository)
    assert await scan.look() is None
    again = await scan_of(registry, repository, tmp_path).look()
    assert again == found
    assert blobs_fetched(registry, repository) == fetched, "the cache has what images say"

    registry.push(release_image("4.1.1", "4.1.0"), repository, tag="4.1.1-x86_64")
    with registry.client() as client:
        client.delete(repository, arm.manifest.digest)
    releases = await scan.look()
    assert releases is not None
    assert [(each.version, each.previous) for each in releases] == [
        ("4.1.0", ()),
        ("4.1.1", ("4.1.0",)),
    ]


async def test_the_large_layers_below_are_not_fetched(registry: Registry, tmp_path: Path) -> None:
    registry.push(release_image("4.1.0"), "scan/layers", tag="v")
    await scan_of(registry, "scan/layers", tmp_path).look()
    assert blobs_fetched(registry, "scan/layers") == 3, "the configuration and two layers"


async def test_an_index_is_a_release_for_each_architecture_or_for_all_together(
    registry: Registry, tmp_path: Path
) -> None:
    images = [release_image("4.1.0", architecture=name) for name in ("amd64", "arm64", "unknown")]
    pushed = registry.push(build_index(images), "scan/multi", tag="4.1.0")
    one = build_index([release_image("4.1.1", architecture="s390x")])
    registry.push(one, "scan/multi", tag="4.1.1")
    said = {"release.openshift.io/architecture": "multi"}
    registry.push(release_image("4.1.2", **said), "scan/multi", tag="4.1.2")

    found = await scan_of(registry, "scan/multi", tmp_path).look()

    assert found is not None
    assert [(each.version, each.architecture) for each in found] == [
        ("4.1.0", "amd64"),
        ("4.1.0", "arm64"),
        ("4.1.1", "s390x"),
        ("4.1.2", "multi"),
    ]
    assert found[0].payload == pushed.reference


def made(registry: Registry, folder: Path, version: str, *options: str) -> str:
    """A release by `olm cluster release new`, by digest."""
    component = folder / "alpha"
    component.mkdir(exist_ok=True)
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    (component / "a.json").write_text(json.dumps(manifest))
    assert registry.ca_file is not None
    command = (
        "cluster",
        "release",
        "new",
        str(component),
        f"--version={version}",
        "--push",
        *options,
    )
    places = (
        f"--tag={registry.address}/scan/made:{version}",
        f"--cas-dir={registry.ca_file.parent}",
    )
    finished = subprocess.run(
        [warm_program("olm"), *command, *places],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.strip()


async def test_releases_made_by_our_own_tool_are_found(registry: Registry, tmp_path: Path) -> None:
    made(registry, tmp_path, "1.0.0")
    image = made(registry, tmp_path, "1.0.1", "--previous=1.0.0")
    found = await scan_of(registry, "scan/made", tmp_path / "cache").look()
    assert found is not None
    ours = [each for each in found if each.architecture == "amd64"]
    assert [(each.version, each.previous) for each in ours] == [
        ("1.0.0", ()),
        ("1.0.1", ("1.0.0",)),
    ]
    assert ours[1].payload == image


async def test_what_has_a_fault_is_left_out_and_reported(
    registry: Registry, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    repository = "scan/faults"
    registry.push(release_image("4.1.0"), repository, tag="good")
    registry.push(release_image("four"), repository, tag="no-version")
    signature = build_image([{"signature": b"s"}])
    registry.push(signature, repository, tag=f"sha256-{'1' * 64}.sig")
    scan = scan_of(registry, repository, tmp_path)
    found = await scan.look()
    assert found is not None
    assert [each.version for each in found] == ["4.1.0"]
    assert await scan.look() is None
    warnings = [each.message for each in caplog.records if each.levelname == "WARNING"]
    assert len(warnings) == 1
    assert 'invalid Cincinnati metadata version "four"' in warnings[0]


async def test_all_pages_of_tags_are_read(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        registry.push(release_image(f"4.1.{number}"), "scan/pages", tag=f"t{number}")
    monkeypatch.setattr(tags, "PAGE", 2)
    found = await scan_of(registry, "scan/pages", tmp_path).look()
    assert found is not None
    assert len(found) == 5
    asked = [each.target for each in registry.requests() if "/scan/pages/tags/list" in each.target]
    assert len(asked) == 3


async def test_a_repository_that_there_is_not_has_no_releases(
    registry: Registry, tmp_path: Path
) -> None:
    assert await scan_of(registry, "scan/none", tmp_path).look() == []


async def test_credentials_are_those_of_the_file(tmp_path: Path) -> None:
    with Registry(tmp_path / "registry", auth=PasswordAuth()) as registry:
        registry.push(release_image("4.1.0"), "scan/private", tag="v")
        with pytest.raises(UnauthorizedError):
            await scan_of(
                registry, "scan/private", tmp_path / "c", auth_file=tmp_path / "none"
            ).look()
        file = tmp_path / "auth.json"
        file.write_text(json.dumps(registry.docker_config()))
        found = await scan_of(registry, "scan/private", tmp_path / "c", auth_file=file).look()
    assert found is not None
    assert [type(each) for each in found] == [GraphRelease]


def test_channels_of_an_image_and_releases_of_a_registry(
    registry: Registry, tmp_path: Path
) -> None:
    """As a disconnected cluster's service runs: everything comes from one registry."""
    data = tmp_path / "data"
    write_graph_data(data, channels={"stable-4.1": ["4.1.0", "4.1.1"]})
    files = {
        f"var/lib/cincinnati-graph-data/{file.relative_to(data)}": file.read_bytes()
        for file in data.rglob("*")
        if file.is_file()
    }
    image = registry.push(build_image([{"etc/os-release": b"x"}, files]), "data", tag="latest")
    registry.push(release_image("4.1.0"), "scan/served", tag="4.1.0")
    assert registry.ca_file is not None
    interrupted = tmp_path / "cache" / "releases" / ".tmp-1"
    interrupted.mkdir(parents=True)
    flags = (
        f"--graph-data-image={image.tag_reference}",
        f"--releases={registry.address}/scan/served",
        f"--pull-cas-dir={registry.ca_file.parent}",
        f"--cache-dir={tmp_path / 'cache'}",
        "--poll-interval=200ms",
    )
    with UpdateService(tmp_path, *flags) as service:
        assert [each["version"] for each in service.graph("stable-4.1")["nodes"]] == ["4.1.0"]
        assert not interrupted.exists()
        added = registry.push(release_image("4.1.1", "4.1.0"), "scan/served", tag="4.1.1")
        graph = service.wait_for_nodes("stable-4.1", 2)
        assert graph["edges"] == [[0, 1]]
        assert graph["nodes"][1]["payload"] == added.reference
        (data / "channels/stable-4.1.yaml").write_text("name: stable-4.1\nversions: [4.1.1]\n")
        changed = {path: (data / path.split("/", 3)[3]).read_bytes() for path in files}
        registry.push(build_image([changed]), "data", tag="latest")
        graph = service.wait_for_nodes("stable-4.1", 1)
        assert graph["nodes"][0]["version"] == "4.1.1"


def test_a_restart_without_the_registry_serves_what_was_known(tmp_path: Path) -> None:
    write_graph_data(tmp_path / "data", channels={"stable-4.1": ["4.1.0"]})
    paths = ("version", "channels/stable-4.1.yaml")
    files = {path: (tmp_path / "data" / path).read_bytes() for path in paths}
    with Registry(tmp_path / "registry") as registry:
        image = registry.push(build_image([files]), "data", tag="latest")
        registry.push(release_image("4.1.0"), "releases", tag="4.1.0")
        assert registry.ca_file is not None
        flags = (
            f"--graph-data-image={image.tag_reference}",
            f"--releases={registry.address}/releases",
            f"--pull-cas-dir={registry.ca_file.parent}",
            f"--cache-dir={tmp_path / 'cache'}",
        )
        with UpdateService(tmp_path, *flags) as service:
            before = service.graph("stable-4.1")
    with UpdateService(tmp_path, *flags) as service:
        assert service.graph("stable-4.1") == before
        assert [each["version"] for each in before["nodes"]] == ["4.1.0"]
        assert "graph_upstream_errors_total" in service.metrics()
