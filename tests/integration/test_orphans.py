"""What an extension leaves that is deleted with `--cascade=orphan`, and who has it then."""

from collections.abc import Callable

import pytest

from api.objects import KubeObject, metadata
from api.olm.v1 import names
from e2e.harness.controlplane import wait_until
from e2e.olm.api import OLM, Api, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.manifests import extension, with_administrator
from e2e.olm.programs import SYSTEM_NAMESPACE, Olm

pytestmark = pytest.mark.integration

Serve = Callable[[str, str], None]
Publish = Callable[..., str]


@pytest.fixture
def installed(
    olm: Olm, api: Api, package: str, publish_catalog: Publish, serve_catalog: Serve
) -> str:
    """An extension whose bundle has a definition and a ConfigMap."""
    bundles = [
        BundleSpec(
            package=package, version=v, configmaps=("settings",), crd_group=f"{package}.example.com"
        )
        for v in ("0.1.0", "0.2.0")
    ]
    serve_catalog(package, publish_catalog(*bundles))
    olm.control_plane.apply(with_administrator(package, "0.1.0"))
    api.wait_installed(package, "0.1.0")
    return package


@pytest.fixture
def orphaned(olm: Olm, api: Api, installed: str) -> str:
    """An extension that was deleted so."""
    api.delete(extension_path(installed), propagation="Orphan")
    api.wait_gone(extension_path(installed))
    return installed


def objects(api: Api, package: str) -> list[KubeObject]:
    settings = api.get(f"/api/v1/namespaces/{package}/configmaps/{package}-settings")
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    definition = api.get(f"{definitions}/things.{package}.example.com")
    assert settings is not None
    assert definition is not None
    return [settings, definition]


def contents(api: Api, package: str) -> list[KubeObject]:
    secrets = f"/api/v1/namespaces/{SYSTEM_NAMESPACE}/secrets"
    return api.list(secrets, f"{names.LABEL_OWNER_NAME}={package}")


@pytest.mark.parametrize("version", ["0.1.0", "0.2.0"])
def test_an_extension_of_the_same_name_has_them_again(
    olm: Olm, api: Api, orphaned: str, version: str
) -> None:
    left = [metadata(obj)["uid"] for obj in objects(api, orphaned)]
    olm.control_plane.apply(extension(orphaned, version))
    found = api.wait_installed(orphaned, version)
    taken = objects(api, orphaned)
    assert [metadata(obj)["uid"] for obj in taken] == left
    owners = [reference["uid"] for obj in taken for reference in metadata(obj)["ownerReferences"]]
    assert owners == [metadata(found)["uid"]] * 2


def test_they_stay_and_no_revision_of_it_does(api: Api, orphaned: str) -> None:
    assert not [
        ref for obj in objects(api, orphaned) for ref in metadata(obj).get("ownerReferences", ())
    ]

    def revisions() -> list[KubeObject]:
        every = api.list(f"{OLM}/clusterobjectsets")
        return [obj for obj in every if metadata(obj)["name"].startswith(orphaned)]

    wait_until(lambda: not revisions(), what="its revisions are gone")
    wait_until(lambda: not contents(api, orphaned), what="so is their content")
    assert objects(api, orphaned)


def is_left_to_us(obj: KubeObject | None) -> bool:
    """Whether the garbage collector has taken the owner off what it knows."""
    return obj is not None and "orphan" not in metadata(obj).get("finalizers", ())


def test_what_the_garbage_collector_had_not_seen_stays_as_well(
    olm: Olm, api: Api, installed: str
) -> None:
    """It takes the owner off what it knows, and deletes later what it did not know by then."""
    settings = f"/api/v1/namespaces/{installed}/configmaps/{installed}-settings"
    before = api.get(settings)
    assert before is not None
    olm.stop_operator_controller()
    try:
        api.delete(extension_path(installed), propagation="Orphan")
        api.wait(extension_path(installed), is_left_to_us, what="dependents have no owner")
        owners = metadata(before)["ownerReferences"]
        api.patch(settings, {"metadata": {"ownerReferences": owners}})
    finally:
        olm.start_operator_controller()
    api.wait_gone(extension_path(installed))
    found = objects(api, installed)
    assert not [ref for obj in found for ref in metadata(obj).get("ownerReferences", ())]


def test_a_revision_whose_extension_is_gone_takes_nothing(
    olm: Olm, api: Api, installed: str, package: str
) -> None:
    """It is no set of its own: what it took would go with it."""
    olm.stop_operator_controller()
    try:
        api.delete(extension_path(installed), propagation="Orphan")
        revision = f"{OLM}/clusterobjectsets/{installed}-1"

        def is_set_free(obj: KubeObject | None) -> bool:
            return obj is not None and not metadata(obj).get("ownerReferences")

        api.wait(revision, is_set_free, what="the revision has no owner")
        api.wait(extension_path(installed), is_left_to_us, what="nothing has")
        api.patch(extension_path(installed), {"metadata": {"finalizers": None}})
        api.wait_gone(extension_path(installed))
    finally:
        olm.start_operator_controller()
    other = f"{package}-2"
    olm.control_plane.apply(with_administrator(package, "0.1.0", name=other))
    api.wait_condition(extension_path(other), "Progressing", "True", message="already exists")
    found = objects(api, installed)
    assert not [ref for obj in found for ref in metadata(obj).get("ownerReferences", ())]
    retained = api.get(revision)
    assert retained is not None
    assert not metadata(retained).get("finalizers")
    olm.control_plane.remove(extension_path(other))
    olm.control_plane.remove(revision)
