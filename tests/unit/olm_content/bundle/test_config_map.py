"""ConfigMaps of unpacked bundles: as upstream's opm writes them, and what is read."""

import base64
import gzip
import os
from typing import Any

import pytest

from api.objects import KubeObject
from olm_content.bundle.config_map import filled_config_map, is_filled, read_config_map
from olm_content.bundle.files import BundleError

OBJECT = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n"
READ = ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}},)
FILES = {
    "manifests/one thing.yaml": OBJECT,
    "metadata/annotations.yaml": b"annotations: {operators.example.com/package: one}\n",
}
OWN = {"example.com/own": "stays"}
EMPTY: KubeObject = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "hash", "annotations": OWN},
}
IMAGE = "registry.example.com/one@sha256:00"
NOTED = {**OWN, "operators.example.com/package": "one", "olm.sourceImage": IMAGE}


def holding(**data: Any) -> KubeObject:
    return {**EMPTY, **data}


def test_it_is_written_as_upstream_writes_it() -> None:
    made = filled_config_map(EMPTY, FILES, IMAGE)
    annotations = {**NOTED, "olm.contentEncoding": "gzip+base64"}
    assert made["metadata"] == {"name": "hash", "annotations": annotations}
    value = base64.b64decode(made["binaryData"]["one_thing.yaml"])
    assert gzip.decompress(base64.b64decode(value)) == OBJECT
    assert is_filled(made)
    assert read_config_map(made) == READ


def test_without_compression_it_is_text() -> None:
    made = filled_config_map(EMPTY, FILES, IMAGE, compress=False)
    assert made["metadata"]["annotations"] == NOTED
    assert made["data"] == {"one_thing.yaml": OBJECT.decode()}
    assert read_config_map(made) == READ
    assert not is_filled(EMPTY)
    with pytest.raises(BundleError, match="one is no text"):
        filled_config_map(EMPTY, {"manifests/one": b"\xff"}, IMAGE, compress=False)


def noise(size: int) -> dict[str, bytes]:
    """A manifest that does not compress below this size."""
    return {"manifests/one.yaml": OBJECT + b"# " + base64.b64encode(os.urandom(size))}


def test_what_is_too_large_so_has_one_base64_less() -> None:
    made = filled_config_map(EMPTY, noise(850_000), IMAGE)
    assert "olm.contentEncoding" not in made["metadata"]["annotations"]
    assert sum(len(base64.b64decode(each)) for each in made["binaryData"].values()) < 1 << 20
    assert read_config_map(made) == READ


@pytest.mark.parametrize("compress", [True, False])
def test_what_is_too_large_is_refused(*, compress: bool) -> None:
    with pytest.raises(BundleError, match=r"the manifests take \d+ bytes, and may take 1000"):
        filled_config_map(EMPTY, noise(2000), IMAGE, compress=compress, limit=1000)


@pytest.mark.parametrize(
    "content",
    [b"plain", gzip.compress(OBJECT, mtime=0)[:20], b"\x1f\x8bxx"],
    ids=["no gzip", "cut short", "spoilt"],
)
def test_what_was_spoilt_is_reported(content: bytes) -> None:
    spoilt = holding(binaryData={"one.yaml": base64.b64encode(content).decode()})
    with pytest.raises(BundleError, match=r"one\.yaml is not compressed by gzip"):
        read_config_map(spoilt)
