"""Either program killed at any moment and started again: the world comes right without help."""

import time
from collections.abc import Callable

import pytest

from e2e.olm.api import Api, catalog_path, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.manifests import catalog, extension, with_administrator
from e2e.olm.programs import Olm

pytestmark = pytest.mark.integration

Publish = Callable[..., str]
Serve = Callable[[str, str], None]

MOMENTS = (0.02, 0.08, 0.15, 0.25, 0.4, 0.7)
"""Seconds after the wish: before, between and after the writes of a small install or update."""


def kill_and_start(olm: Olm) -> None:
    olm.kill(olm.operator_controller)
    olm.start_operator_controller()


@pytest.fixture
def two_versions(package: str, publish_catalog: Publish, serve_catalog: Serve) -> str:
    """A served catalog with two versions, of which the second drops an object."""
    group = f"{package}.example.com"
    first = BundleSpec(
        package=package, version="1.0.0", configmaps=("settings", "old"), crd_group=group
    )
    second = BundleSpec(
        package=package, version="1.1.0", configmaps=("settings", "new"), crd_group=group
    )
    serve_catalog(package, publish_catalog(first, second))
    return package


@pytest.mark.parametrize("moment", MOMENTS)
def test_an_install_and_an_update_survive_the_death_of_the_controller(
    moment: float, olm: Olm, api: Api, two_versions: str
) -> None:
    package = two_versions
    kubectl = olm.control_plane.kubectl
    kubectl("apply", "-f", "-", stdin=with_administrator(package, "1.0.0"))
    time.sleep(moment)
    kill_and_start(olm)
    api.wait_installed(package, "1.0.0")

    kubectl("apply", "-f", "-", stdin=extension(package, "1.1.0"))
    time.sleep(moment)
    kill_and_start(olm)
    api.wait_installed(package, "1.1.0")
    api.wait_gone(f"/api/v1/namespaces/{package}/configmaps/{package}-old")
    labels = f"olm.operatorframework.io/owner-name={package}"
    sets = api.list("/apis/olm.operatorframework.io/v1/clusterobjectsets", labels)
    states = [found["spec"]["lifecycleState"] for found in sets]
    assert states == ["Archived", "Active"]
    secrets = api.list("/api/v1/namespaces/olmv1-system/secrets", labels)
    assert all(found["metadata"].get("ownerReferences") for found in secrets)

    api.delete(extension_path(package))
    time.sleep(moment)
    kill_and_start(olm)
    api.wait_gone(extension_path(package))
    api.wait_gone(f"/api/v1/namespaces/{package}/configmaps/{package}-settings")


@pytest.mark.parametrize("moment", [0.05, 0.2, 0.5])
def test_a_catalog_survives_the_death_of_catalogd(
    moment: float, olm: Olm, api: Api, package: str, publish_catalog: Publish
) -> None:
    kubectl = olm.control_plane.kubectl
    reference = publish_catalog(BundleSpec(package=package, version="1.0.0"))
    kubectl("apply", "-f", "-", stdin=catalog(package, reference))
    time.sleep(moment)
    olm.kill(olm.catalogd)
    olm.start_catalogd()
    api.wait_condition(catalog_path(package), "Serving", "True")
    with olm.client() as client:
        path = f"/catalogs/{package}/api/v1/all"
        deadline = time.monotonic() + 60
        while client.get(path).status_code != 200:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert package in client.get(path).text
    kubectl("delete", "clustercatalog", package)
