"""Releases of upstream's Helm, from the Secrets that hold them."""

import gzip
import json
from typing import Any

import pytest

from api.objects import KubeObject
from operator_controller.apply import helm_release
from operator_controller.apply.helm_release import (
    INDEX_TYPE,
    Release,
    ReleaseError,
    deployed,
    parse_release,
)
from operator_controller.apply.revisions import BundleIdentity

GROUP = "olm.operatorframework.io"
LABELS = {f"{GROUP}/owner-kind": "ClusterExtension", f"{GROUP}/owner-name": "demo"}
BUNDLE = {
    f"{GROUP}/bundle-name": "demo.v1",
    f"{GROUP}/bundle-version": "1.0.0",
    f"{GROUP}/bundle-reference": "registry/demo@sha256:0",
    f"{GROUP}/package-name": "demo",
}


def applied(name: str, labels: dict[str, str]) -> KubeObject:
    meta = {"name": name, "labels": LABELS | labels, "ownerReferences": [{"uid": "u"}]}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"a": "1"}}


def packed(**change: Any) -> bytes:
    manifest = "\n".join(json.dumps(applied(n, x)) for n, x in (("a", {"app": "x"}), ("b", {})))
    release = {"manifest": manifest + "\n", "labels": BUNDLE, **change}
    return gzip.compress(json.dumps(release).encode())


def test_a_release_says_its_bundle_and_the_objects_as_they_were_rendered() -> None:
    objects = (
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "a", "labels": {"app": "x"}},
            "data": {"a": "1"},
        },
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}, "data": {"a": "1"}},
    )
    bundle = BundleIdentity("demo.v1", "1.0.0", "demo", "registry/demo@sha256:0")
    assert parse_release([packed()]) == Release(bundle, objects)
    data = packed()
    assert parse_release([data[:10], data[10:40], data[40:]]) == Release(bundle, objects)


def test_the_release_of_a_bundle_may_be_distinct_from_its_version() -> None:
    labels = {**BUNDLE, f"{GROUP}/bundle-release": "2"}
    assert parse_release([packed(labels=labels)]).bundle.release == "2"


@pytest.mark.parametrize(
    "chunks",
    [
        pytest.param([], id="nothing"),
        pytest.param([b"no gzip"], id="not compressed"),
        pytest.param([packed()[:-20]], id="a chunk is missing"),
        pytest.param([gzip.compress(b"[]")], id="a list"),
        pytest.param([packed(labels={})], id="no bundle"),
        pytest.param([packed(manifest="---\nkind: A")], id="a manifest that is no JSON"),
        pytest.param([packed(manifest="7")], id="an object that is none"),
        pytest.param([packed(manifest=7)], id="a manifest that is no text"),
    ],
)
def test_what_is_no_release_is_refused(chunks: list[bytes]) -> None:
    with pytest.raises(ReleaseError):
        parse_release(chunks)


def test_a_release_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helm_release, "MAX_RELEASE_BYTES", 100)
    with pytest.raises(ReleaseError, match="larger than 100 bytes"):
        parse_release([packed()])


def index(version: str, status: str = "deployed", **change: Any) -> KubeObject:
    labels = {"status": status, "version": version}
    owner = {"uid": "uid-demo", "controller": True}
    meta = {"name": f"v{version}", "labels": labels, "ownerReferences": [owner]}
    return {"type": INDEX_TYPE, "metadata": meta, **change}


def test_the_newest_that_was_deployed_is_installed() -> None:
    found = [index("9"), index("10"), index("11", "failed"), index("1", "superseded")]
    chosen = deployed(found, "uid-demo")
    assert chosen is not None
    assert chosen["metadata"]["name"] == "v10"


@pytest.mark.parametrize(
    "secret",
    [
        pytest.param(index("1", "failed"), id="failed"),
        pytest.param(index("1", type="Opaque"), id="no index"),
        pytest.param(
            index("1", metadata={"labels": {"status": "deployed"}}), id="of another extension"
        ),
    ],
)
def test_others_do_not_count(secret: KubeObject) -> None:
    assert deployed([secret], "uid-demo") is None
