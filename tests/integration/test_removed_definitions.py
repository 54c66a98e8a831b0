"""Updates that take a definition away, or a version of one, while objects are stored of it."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from e2e.olm.api import Api, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.manifests import extension, namespace, with_administrator
from e2e.olm.programs import Olm
from e2e.olm.warm import warm_program

pytestmark = pytest.mark.integration

Serve = Callable[[str, str], None]
Publish = Callable[..., str]


def refusal(package: str) -> str:
    """What is said of four objects that would go."""
    return (
        '"NoStoredObjectRemoved" validation failed: the bundle that comes does not have it, and '
        f"4 objects would be deleted with it: {package}-more/w, {package}/x, {package}/y and 1 more"
    )


def test_an_update_deletes_no_stored_objects_unasked(
    olm: Olm,
    api: Api,
    package: str,
    publish_catalog: Publish,
    serve_catalog: Serve,
    tmp_path: Path,
) -> None:
    """Announced by olm plan, refused by operator-controller, done once it was asked for."""
    group = f"{package}.example.com"
    with_definition = BundleSpec(package=package, version="0.1.0", crd_group=group)
    without = BundleSpec(package=package, version="0.2.0", configmaps=("settings", "new"))
    serve_catalog(package, publish_catalog(with_definition, without))
    olm.control_plane.apply(with_administrator(package, "0.1.0"))
    api.wait_installed(package, "0.1.0")
    olm.control_plane.apply(namespace(f"{package}-more"))
    for place, name in ((f"{package}-more", "w"), (package, "x"), (package, "y"), (package, "z")):
        olm.control_plane.apply(thing(group, place, name))

    olm.control_plane.apply(extension(package, "0.2.0"))
    path = extension_path(package)
    found = api.wait_condition(path, "Progressing", "True", message=refusal(package))
    assert found["status"]["install"]["bundle"]["version"] == "0.1.0"
    things = f"/apis/{group}/v1/things"
    assert len(api.list(things)) == 4
    assert api.get(f"/api/v1/namespaces/{package}/configmaps/{package}-new") is None

    api.patch(
        path, {"spec": {"install": {"preflight": {"crdUpgradeSafety": {"enforcement": "None"}}}}}
    )
    api.wait_installed(package, "0.2.0")
    api.wait_gone(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.{group}")


def thing(group: str, place: str, name: str) -> str:
    metadata = {"name": name, "namespace": place}
    return json.dumps({"apiVersion": f"{group}/v1", "kind": "Thing", "metadata": metadata})


def olm_plan(olm: Olm, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """As a user who trusts the registry and catalogd."""
    authorities = folder / "ca.pem"
    files = [olm.catalogs_ca, *olm.registry_cas.iterdir()]
    authorities.write_bytes(b"".join(file.read_bytes() for file in files))
    program = warm_program("olm")
    return subprocess.run(
        [program, "plan", *arguments, f"--kubeconfig={olm.control_plane.kubeconfig}"],
        env=os.environ | {"SSL_CERT_FILE": str(authorities), "XDG_CACHE_HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
