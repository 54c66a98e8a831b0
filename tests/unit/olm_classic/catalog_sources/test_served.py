"""Which images a catalogd serves or is about to, from the ClusterCatalogs of a cluster."""

from typing import Any

import pytest

from api.objects import KubeObject
from olm_classic.catalog_sources.served import is_coming, url_of

IMAGE = "example.com/c:v1"
REF, BASE = "example.com/c@sha256:1", "https://catalogd.olm.svc/catalogs/c"


def catalog(ref: str = REF, base: str = BASE, serving: str = "True", **status: Any) -> KubeObject:
    """A ClusterCatalog as catalogd leaves it."""
    return {
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterCatalog",
        "metadata": {"name": "c"},
        "spec": {"source": {"type": "Image", "image": {"ref": "example.com/c:v1"}}},
        "status": {
            "conditions": [
                {"type": "Serving", "status": serving, "reason": "Available", "message": ""}
            ],
            "resolvedSource": {"type": "Image", "image": {"ref": ref}},
            "urls": {"base": base},
            **status,
        },
    }


def test_the_first_that_serves_an_image_is_asked() -> None:
    others = [
        catalog(base="https://other"),
        catalog(ref="example.com/d@sha256:2", base="https://d"),
    ]
    catalogs = [catalog(), *others]
    assert [url_of(catalogs, f"sha256:{n}") for n in (1, 2, 3)] == [BASE, "https://d", ""]


@pytest.mark.parametrize(
    "left_out",
    [
        catalog(serving="False"),
        catalog(base="http://catalogd.olm.svc/catalogs/c"),
        catalog(ref="example.com/c:v1"),
        catalog(resolvedSource=None),
        catalog(urls=None),
        catalog() | {"spec": {"source": 1}},
        catalog() | {"status": {}},
    ],
)
def test_what_cannot_be_asked_is_left_out(left_out: KubeObject) -> None:
    assert not url_of([left_out], "sha256:1")


def asked(ref: str = IMAGE, **spec: Any) -> KubeObject:
    """A ClusterCatalog that catalogd has not looked at yet."""
    source = {"type": "Image", "image": {"ref": ref}}
    return {
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterCatalog",
        "metadata": {"name": "c", "generation": 2},
        "spec": {"source": source, **spec},
    }


def answered(generation: int, reason: str) -> KubeObject:
    condition = {"type": "Progressing", "status": "True", "reason": reason, "message": ""}
    conditions = [{**condition, "observedGeneration": generation}]
    return {**asked(), "status": {"conditions": conditions}}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (asked(), True),
        (asked(REF), True),
        (answered(1, "Succeeded"), True),
        (answered(2, "Retrying"), False),
        (answered(2, "Succeeded"), False),
        (asked("example.com/c:v2"), False),
        (asked(availabilityMode="Unavailable"), False),
        (asked() | {"spec": {"source": 1}}, False),
        (asked() | {"metadata": {"name": "c", "deletionTimestamp": "2026-01-01T00:00:00Z"}}, False),
    ],
)
def test_what_catalogd_says_nothing_of_yet_is_coming(found: KubeObject, expected: bool) -> None:
    assert is_coming([found], IMAGE, "sha256:1") is expected
