"""CatalogSources and pods to reason about."""

from datetime import UTC, datetime, timedelta
from typing import Any

from api import wire
from api.objects import KubeObject
from api.operators.v1alpha1.catalogsource import CatalogSource
from olm_classic.catalog_sources.labels import LABEL_CATALOG, LABEL_POD_HASH
from olm_classic.catalog_sources.pods import Images, PodSettings

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
IMAGE = "registry.example.com/catalog:v1"
SETTINGS = PodSettings(images=Images(opm="opm:1", util="util:1", config_map="cm:1"))


def raw_source(
    annotations: dict[str, str] | None = None, name: str = "example", **spec: Any
) -> KubeObject:
    return {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "CatalogSource",
        "metadata": {
            "name": name,
            "namespace": "olm",
            "uid": "u1",
            "annotations": annotations or {},
        },
        "spec": {"sourceType": "grpc", **spec},
    }


def source(**how: Any) -> CatalogSource:
    return CatalogSource.from_object(raw_source(**how))


def pod(
    name: str = "example-a",
    *,
    age: float = 60.0,
    ready: bool = True,
    image_id: str = "sha256:1",
    spec_hash: str = "h1",
    **status: Any,
) -> KubeObject:
    """A pod that serves, `age` seconds old."""
    container = {"name": "registry-server", "imageID": image_id, "ready": ready}
    return {
        "metadata": {
            "name": name,
            "uid": name,
            "creationTimestamp": wire.timestamp(NOW - timedelta(seconds=age)),
            "labels": {LABEL_CATALOG: "example", LABEL_POD_HASH: spec_hash},
        },
        "spec": {"containers": [{"name": "registry-server", "image": IMAGE}]},
        "status": {
            "phase": "Running",
            "podIP": "10.0.0.1",
            "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
            "containerStatuses": [container],
            **status,
        },
    }
