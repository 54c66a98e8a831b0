"""Bundles as large as they come: many objects, and objects that fill several Secrets."""

import json
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from api.objects import is_true, name_of
from e2e.harness.images import build_image
from e2e.harness.registry import Registry
from e2e.olm.api import Api, extension_path
from e2e.olm.bundles import PACKAGE_LABEL, BundleSpec
from e2e.olm.fbc import PublishedBundle
from e2e.olm.manifests import with_administrator
from e2e.olm.programs import SYSTEM_NAMESPACE, Olm

pytestmark = pytest.mark.integration

KIB, MIB = 1024, 1024 * 1024
MANY = 600
"""More than the API server is asked to list at once, and than a phase has entries."""
LARGE_MAPS, LARGE_DEFINITIONS = 8, 2
MOST_SECONDS = 300.0
"""A deadline for a loaded machine; how long it takes, the benchmark tells."""

Publish = Callable[[PublishedBundle], str]
Serve = Callable[[str, str], None]


@pytest.fixture
def install(
    olm: Olm,
    api: Api,
    package: str,
    registry: Registry,
    publish_catalog: Publish,
    serve_catalog: Serve,
) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """Installs a bundle with these manifests beside the usual ones; deletes the extension."""

    def run(manifests: Mapping[str, Any]) -> None:
        spec = BundleSpec(package=package, version="1.0.0", configmaps=())
        texts = {f"manifests/{k}.yaml": json.dumps(v).encode() for k, v in manifests.items()}
        image = build_image([spec.files() | texts], labels={PACKAGE_LABEL: package})
        pushed = registry.push(image, f"bundles/{package}", tag="v1.0.0")
        serve_catalog(package, publish_catalog(spec.as_published(pushed.tag_reference)))
        olm.control_plane.apply(with_administrator(package))
        api.wait_installed(package, "1.0.0", timeout=MOST_SECONDS)

    yield run
    olm.control_plane.remove(extension_path(package))
    api.wait_gone(extension_path(package), timeout=MOST_SECONDS)


def config_map(name: str, text: str) -> dict[str, Any]:
    meta = {"name": name}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"text": text}}


def definition(plural: str, group: str, description: str) -> dict[str, Any]:
    schema = {"type": "object", "description": description}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": plural.capitalize()},
            "versions": [version],
        },
    }


def secrets(api: Api, package: str) -> list[str]:
    owner = f"olm.operatorframework.io/owner-name={package}"
    return [name_of(s) for s in api.list(f"/api/v1/namespaces/{SYSTEM_NAMESPACE}/secrets", owner)]


def test_hundreds_of_objects(
    api: Api, package: str, install: Callable[[Mapping[str, Any]], None]
) -> None:
    named = {f"map-{i:04}": config_map(f"map-{i:04}", str(i)) for i in range(MANY)}
    install(named)
    live = api.list(f"/api/v1/namespaces/{package}/configmaps")
    texts = {name_of(o): o["data"]["text"] for o in live if name_of(o) in named}
    assert texts == {name: obj["data"]["text"] for name, obj in named.items()}


def test_ten_mebibytes_and_definitions_of_one(
    api: Api, package: str, install: Callable[[Mapping[str, Any]], None]
) -> None:
    chance = random.Random(package)  # what is all the same would compress to nothing
    maps = {
        f"map-{i:02}": config_map(f"map-{i:02}", chance.randbytes(480 * KIB).hex())
        for i in range(LARGE_MAPS)
    }
    group = f"{package}.example.com"
    definitions = {
        plural: definition(plural, group, chance.randbytes(MIB // 2).hex())
        for plural in (f"larges{i}" for i in range(LARGE_DEFINITIONS))
    }
    assert sum(len(json.dumps(o)) for o in [*maps.values(), *definitions.values()]) > 9.4 * MIB
    install(maps | definitions)
    for name, obj in maps.items():
        live = api.get(f"/api/v1/namespaces/{package}/configmaps/{name}")
        assert live is not None
        assert live["data"] == obj["data"]
    for obj in definitions.values():
        path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name_of(obj)}"
        assert is_true(api.get(path) or {}, "Established")
    assert len(secrets(api, package)) > 5
