"""ConfigMaps of unpacked bundles that somebody spoilt."""

import base64

from olm_classic.install_plans.lookups import BundleLookup, Unpacked, UnpackFailed
from olm_classic.io.unpacking import empty_config_map, unpacked
from olm_classic.resolve import SourceKey
from olm_content.bundle.config_map import filled_config_map

FILES = {"manifests/one.yaml": b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n"}
EMPTY = empty_config_map(("olm", "hash"), None)
IMAGE = "registry.example.com/one@sha256:00"
LOOKUP = BundleLookup("one.v1", IMAGE, "", SourceKey("catalog", "olm"), "{}")


def test_what_was_spoilt_is_reported_with_its_place() -> None:
    assert isinstance(unpacked(LOOKUP, filled_config_map(EMPTY, FILES, IMAGE)), Unpacked)
    spoilt = {**EMPTY, "binaryData": {"one.yaml": base64.b64encode(b"plain").decode()}}
    failed = unpacked(LOOKUP, spoilt)
    assert isinstance(failed, UnpackFailed)
    assert "ConfigMap olm/hash: one.yaml is not" in failed.message
