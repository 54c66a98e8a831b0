"""ConfigMaps of unpacked bundles: as upstream's opm writes them, and what is read."""

import base64
import gzip
import os
from typing import Any

import pytest

from api.objects import KubeObject
from olm_classic.install_plans.lookups import BundleLookup, Unpacked, UnpackFailed
from olm_classic.io.unpacking import (
    empty_config_map,
    filled_config_map,
    is_filled,
    read_config_map,
    unpacked,
)
from olm_classic.resolve import SourceKey
from olm_content.bundle.files import BundleError

OBJECT = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n"
READ = ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}},)
FILES = {
    "manifests/one thing.yaml": OBJECT,
    "metadata/annotations.yaml": b"annotations: {operators.example.com/package: one}\n",
}
EMPTY = empty_config_map(("olm", "hash"), None)
IMAGE = "registry.example.com/one@sha256:00"
LOOKUP = BundleLookup("one.v1", IMAGE, "", SourceKey("catalog", "olm"), "{}")


def holding(**data: Any) -> KubeObject:
    return {**EMPTY, **data}


def test_it_is_written_as_upstream_writes_it() -> None:
    made = filled_config_map(EMPTY, FILES, IMAGE)
    assert made["metadata"]["annotations"] == {
        "operators.example.com/package": "one",
        "olm.sourceImage": IMAGE,
        "olm.contentEncoding": "gzip+base64",
    }
    value = base64.b64decode(made["binaryData"]["one_thing.yaml"])
    assert gzip.decompress(base64.b64decode(value)) == OBJECT
    assert is_filled(made)
    assert read_config_map(made) == READ


def test_what_is_too_large_so_has_one_base64_less() -> None:
    noise = b"# " + base64.b64encode(os.urandom(850_000))
    made = filled_config_map(EMPTY, {"manifests/one.yaml": OBJECT + noise}, IMAGE)
    assert "olm.contentEncoding" not in made["metadata"]["annotations"]
    assert sum(len(base64.b64decode(each)) for each in made["binaryData"].values()) < 1 << 20
    assert read_config_map(made) == READ


def test_plain_text_is_read_too() -> None:
    assert read_config_map(holding(data={"one.yaml": OBJECT.decode()})) == READ
    assert not is_filled(EMPTY)


@pytest.mark.parametrize(
    "content",
    [b"plain", gzip.compress(OBJECT, mtime=0)[:20], b"\x1f\x8bxx"],
    ids=["no gzip", "cut short", "spoilt"],
)
def test_what_was_spoilt_is_told(content: bytes) -> None:
    spoilt = holding(binaryData={"one.yaml": base64.b64encode(content).decode()})
    with pytest.raises(BundleError, match=r"one\.yaml is not compressed by gzip"):
        read_config_map(spoilt)
    failed = unpacked(LOOKUP, spoilt)
    assert isinstance(failed, UnpackFailed)
    assert "ConfigMap olm/hash: one.yaml is not" in failed.message
    assert isinstance(unpacked(LOOKUP, filled_config_map(EMPTY, FILES, IMAGE)), Unpacked)
