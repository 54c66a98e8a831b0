"""Deletions that do not end, and what they leave."""

import json
from collections.abc import Callable

import pytest

from api.olm.v1 import names
from e2e.olm.api import Api, catalog_path, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.programs import Olm
from tests.integration.doctor.world import (
    Doctor,
    definition,
    is_leaving,
    thing,
)

pytestmark = pytest.mark.integration


def test_an_extension_that_waits_for_a_resource_whose_controller_is_gone(
    olm: Olm, api: Api, doctor: Doctor, package: str, installed: Callable[..., None]
) -> None:
    installed(BundleSpec(package=package, version="1.0.0", crd_group=f"{package}.example.com"))
    olm.control_plane.apply(thing(package, package, "first"))
    olm.control_plane.remove(extension_path(package))
    instance = f"/apis/{package}.example.com/v1/namespaces/{package}/things/first"
    api.wait(instance, is_leaving, what="the server deletes the objects of the definition")
    olm.control_plane.end(f"/apis/apps/v1/namespaces/{package}/deployments/{package}-operator")
    found = doctor.finds("deletions", "error", "Thing")
    assert found["object"]["name"] == "first"
    assert f"no Deployment of extension {package} is there" in found["why"]
    found = doctor.finds("deletions", "error", f"ClusterExtension {package} is being deleted")
    doctor.follow(found, "let it go as it is")
    api.wait_gone(extension_path(package))
    assert doctor.is_content("deletions")


def test_a_definition_whose_many_objects_nobody_lets_go(olm: Olm, api: Api, doctor: Doctor) -> None:
    labels = {names.LABEL_OWNER_KIND: names.CLUSTER_EXTENSION, names.LABEL_OWNER_NAME: "gone"}
    olm.control_plane.apply(json.dumps(definition("many", labels=labels)))
    olm.control_plane.apply("---".join(thing("many", "default", f"t{n}") for n in range(7)))
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.many.example.com"
    api.delete(path)
    api.wait_condition(path, "Terminating", "True")
    last = "/apis/many.example.com/v1/namespaces/default/things/t6"
    api.wait(last, is_leaving, what="its objects are deleted")
    found = doctor.finds("deletions", "error", "7 Thing objects are being deleted")
    assert "example.com/cleanup" in found["message"]
    assert "CustomResourceDefinition things.many.example.com is being deleted" in str(
        doctor("--check", "deletions")
    )
    doctor.follow(found, "let it go as it is")
    api.wait_gone(path)
    assert doctor.is_content("deletions")


def test_a_catalog_that_is_deleted_with_catalogd_gone(
    olm: Olm,
    api: Api,
    doctor: Doctor,
    package: str,
    publish_catalog: Callable[..., str],
    serve_catalog: Callable[[str, str], None],
) -> None:
    serve_catalog(package, publish_catalog(BundleSpec(package=package, version="1.0.0")))
    assert olm.catalogd is not None
    olm.catalogd.stop()
    try:
        olm.control_plane.remove(catalog_path(package))
        found = doctor.finds("programs", "error", "catalogd does not run")
        found = doctor.finds("deletions", "error", f"ClusterCatalog {package} is being deleted")
        assert "catalogd takes it off, and it does not run" in found["why"]
        doctor.follow(found, "let it go as it is")
        assert api.get(catalog_path(package)) is None
        assert doctor.is_content("deletions")
    finally:
        olm.start_catalogd("--leader-elect")


def test_what_is_left_of_an_extension_that_was_deleted_without_it(
    olm: Olm, api: Api, doctor: Doctor, package: str, installed: Callable[..., None]
) -> None:
    installed(BundleSpec(package=package, version="1.0.0", crd_group=f"{package}.example.com"))
    api.delete(extension_path(package), propagation="Orphan")
    api.wait_gone(extension_path(package))
    settings = f"/api/v1/namespaces/{package}/configmaps/{package}-settings"
    assert api.get(settings) is not None
    found = doctor.finds("leftovers", "warning", f"extension {package} is gone")
    assert "1 CustomResourceDefinition" in found["message"]
    doctor.follow(found, "delete them")
    assert api.get(settings) is None
    _, report = doctor("--check", "leftovers")
    assert package not in str(report["findings"])
