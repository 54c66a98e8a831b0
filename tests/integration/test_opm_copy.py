"""`opm copy`: images arrive as they were, by every way."""

from pathlib import Path

import pytest
from click.testing import Result

from e2e.harness.images import build_image
from e2e.harness.registry import Registry
from tests.integration.conftest import Opm

pytestmark = pytest.mark.integration


@pytest.fixture
def catalog(tmp_path: Path, registry: Registry, opm: Opm) -> str:
    """An image for four platforms; its reference by tag."""
    (tmp_path / "catalog").mkdir()
    (tmp_path / "catalog" / "index.json").write_text(
        '{"schema":"olm.package","name":"a","defaultChannel":"b"}'
    )
    reference = f"{registry.address}/copied/catalog:v1"
    built = opm("build", "catalog", "-t", reference, "--push", "--no-validate")
    assert built.exit_code == 0, built.output
    return reference


def digest_of(result: Result) -> str:
    assert result.exit_code == 0, result.output
    return result.output.strip().partition("@")[2]


def test_all_platforms_and_the_digest_stay(opm: Opm, catalog: str, mirror: Registry) -> None:
    target = f"{mirror.address}/deep/er/catalog:there"
    digest = digest_of(opm("copy", catalog, target))
    source = catalog.rpartition(":")[0]
    assert digest_of(opm("copy", f"{source}@{digest}", target)) == digest
    assert '"olm.package"' in opm("render", f"{mirror.address}/deep/er/catalog@{digest}").output
    sent = [r for r in mirror.requests() if r.method == "PUT" and "/blobs/" in r.target]
    assert len(sent) == len({r.target.partition("digest=")[2] for r in sent}), "nothing twice"
    manifests = {r.target for r in mirror.requests() if r.method == "PUT"} - {
        r.target for r in sent
    }
    assert len(manifests) == 5, "an index and four manifests"


def test_by_way_of_a_disk(opm: Opm, catalog: str, registry: Registry, mirror: Registry) -> None:
    other = registry.push(build_image([{"a": b"b"}]), "copied/other", tag="v1")
    assert opm("copy", catalog, "oci:media:catalog").output == "oci:media:catalog\n"
    assert opm("copy", other.reference, f"oci:media:{other.reference}").exit_code == 0
    there = f"{mirror.address}/copied/catalog:v1"
    assert digest_of(opm("copy", "oci:media:catalog", there)) == digest_of(
        opm("copy", catalog, there)
    )
    by_digest = f"{mirror.address}/copied/other@{other.digest}"
    assert digest_of(opm("copy", f"oci:media:{other.reference}", by_digest)) == other.digest


def test_what_goes_wrong_is_reported(opm: Opm, catalog: str, mirror: Registry) -> None:
    wrong = f"{mirror.address}/copied/catalog@sha256:{'0' * 64}"
    cases = {
        (catalog, wrong): f"not sha256:{'0' * 64}",
        ("oci:none:x", f"{mirror.address}/a:b"): "none: no such directory",
        ("oci:a:x", "oci:b:x"): "one must be in a registry",
        ("oci:nameless", f"{mirror.address}/a:b"): "write oci:FOLDER:NAME",
        (catalog.replace(":v1", ":v2"), "oci:media:x"): "not found in registry",
        ("short", "oci:media:x"): "error parsing image reference",
    }
    for (source, target), message in cases.items():
        failed = opm("copy", source, target)
        shown = f"{failed.output}{failed.exception} {getattr(failed.exception, 'hint', '')}"
        assert failed.exit_code != 0
        assert message in shown
    assert opm("copy", catalog, "oci:media:x").exit_code == 0
    absent = opm("copy", "oci:media:y", f"{mirror.address}/a:b")
    assert "media has no image y" in str(absent.exception)
