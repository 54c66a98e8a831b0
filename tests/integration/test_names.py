"""Every name that the API server takes can be installed, updated and removed."""

from collections.abc import Callable

import pytest

from api.objects import KubeObject, metadata
from api.olm.v1 import names
from e2e.olm.api import OLM, Api, catalog_path, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.manifests import extension, installer, namespace
from e2e.olm.programs import Olm
from operator_controller.apply.desired import revision_name

pytestmark = pytest.mark.integration

SETS = f"{OLM}/clusterobjectsets"
CATALOGS = f"{OLM}/clustercatalogs"


@pytest.mark.parametrize("length", [61, 63, 253])
def test_an_extension_of_a_long_name_lives_to_revision_1000(
    olm: Olm,
    api: Api,
    package: str,
    publish_catalog: Callable[..., str],
    serve_catalog: Callable[[str, str], None],
    length: int,
) -> None:
    name = long_name(package, length)
    bundles = [BundleSpec(package=package, version=v) for v in ("1.0.0", "1.1.0")]
    serve_catalog(long_name(f"{package}-catalog", length), publish_catalog(*bundles))
    home = f"{namespace(package)}---{installer(package)}---"
    apply(olm, home + extension(package, "1.0.0", name=name, namespace=package))
    api.wait_installed(name, "1.0.0")
    first = api.get(f"{SETS}/{revision_name(name, 1)}")
    assert first is not None
    make_archived_revision(olm, first, 999)
    # Only a program that has heard of it, as its status tells, goes on from its number.
    api.wait_condition(f"{SETS}/{revision_name(name, 999)}", "Progressing", "False")
    apply(olm, extension(package, "1.1.0", name=name, namespace=package))
    api.wait_installed(name, "1.1.0")
    assert api.get(f"{SETS}/{revision_name(name, 1000)}") is not None
    api.delete(extension_path(name))
    api.wait_gone(extension_path(name))
    api.wait_gone(f"/apis/apps/v1/namespaces/{package}/deployments/{package}-operator")


def test_a_catalog_of_a_long_name_can_be_selected_by_its_label(
    olm: Olm,
    api: Api,
    package: str,
    publish_catalog: Callable[..., str],
    serve_catalog: Callable[[str, str], None],
) -> None:
    name = long_name(package, 253)
    serve_catalog(name, publish_catalog(BundleSpec(package=package, version="1.0.0")))
    selector = f"{names.LABEL_METADATA_NAME}={names.label_value(name)}"
    (found,) = api.list(CATALOGS, selector)
    assert metadata(found)["name"] == name
    api.delete(catalog_path(name))
    api.wait_gone(catalog_path(name))


def apply(olm: Olm, manifest: str) -> None:
    olm.control_plane.apply(manifest)


def long_name(start: str, length: int) -> str:
    """A name that only its end tells from others of the same start."""
    return f"{start}-{'x' * (length - len(start) - 3)}.y"


def make_archived_revision(olm: Olm, first: KubeObject, number: int) -> None:
    """Leaves what many updates would have left: numbers go on from here."""
    meta = {key: metadata(first)[key] for key in ("labels", "annotations", "ownerReferences")}
    archived = {
        **{key: first[key] for key in ("apiVersion", "kind")},
        "metadata": {**meta, "name": revision_name(meta["ownerReferences"][0]["name"], number)},
        "spec": {**first["spec"], "revision": number, "lifecycleState": "Archived", "phases": []},
    }
    olm.control_plane.create(f"{OLM}/clusterobjectsets", archived)
