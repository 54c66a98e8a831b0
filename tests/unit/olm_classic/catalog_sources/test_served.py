"""Which images a catalogd serves, from the ClusterCatalogs of a cluster."""

from typing import Any

import pytest

from api.objects import KubeObject
from olm_classic.catalog_sources.served import urls_by_digest

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
    assert urls_by_digest([catalog(), *others]) == {"sha256:1": BASE, "sha256:2": "https://d"}


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
    assert urls_by_digest([left_out]) == {}
