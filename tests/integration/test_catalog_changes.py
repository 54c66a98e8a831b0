"""New content reaches exactly the extensions whose package changed; measured by what was asked."""

import time
from collections import Counter
from pathlib import Path

import pytest

from e2e.harness.components import AuditLevel
from e2e.harness.controlplane import ControlPlane
from e2e.harness.images import catalog_image
from e2e.harness.registry import Registry
from e2e.olm.api import Api, catalog_path, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.fbc import PublishedBundle, catalog_files, package_blobs
from e2e.olm.manifests import catalog, installer, namespace
from e2e.olm.programs import Olm
from tests.integration.clusters import own_control_plane

pytestmark = pytest.mark.integration

EXTENSIONS = 200
CHANGED = 3
HOME = "everyone"
QUIET_SECONDS = 3.0
CONTROLLER = "operator-controller-controller-manager"


control_plane = own_control_plane(audit=AuditLevel.METADATA)


def name_of(number: int) -> str:
    return f"pkg-{number:03}"


def extension(package: str) -> str:
    """One that is resolved and pulled, and then refused for its configuration: at rest, cheaply."""
    return f"""
apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata: {{name: {package}}}
spec:
  namespace: {HOME}
  serviceAccount: {{name: installer}}
  config: {{configType: Inline, inline: {{nobody: knows}}}}
  source: {{sourceType: Catalog, catalog: {{packageName: {package}}}}}
"""


def publish(registry: Registry, image: str, changed: int) -> str:
    """A catalog of all packages, of which the first `changed` have another version."""
    packages = []
    for number in range(EXTENSIONS):
        version = "1.1.0" if number < changed else "1.0.0"
        package = name_of(number)
        bundle = PublishedBundle(package, f"{package}.v{version}", version, image)
        packages.append(package_blobs([bundle]))
    pushed = registry.push(catalog_image(catalog_files(packages)), "many", tag=f"t{changed}")
    return pushed.tag_reference


def reconciles(control_plane: ControlPlane) -> Counter[str]:
    """How often operator-controller read each ClusterExtension, as each reconcile does first."""
    return Counter(
        event["objectRef"]["name"]
        for event in control_plane.audit_events()
        if event["verb"] == "get"
        and event["user"]["username"].endswith(CONTROLLER)
        and (event.get("objectRef") or {}).get("resource") == "clusterextensions"
        and event["stage"] == "ResponseComplete"
    )


def at_rest(control_plane: ControlPlane) -> Counter[str]:
    """The reconciles once no more are added."""
    before, since = reconciles(control_plane), time.monotonic()
    while time.monotonic() - since < QUIET_SECONDS:
        time.sleep(0.2)
        now = reconciles(control_plane)
        if now != before:
            before, since = now, time.monotonic()
    return before


def test_of_200_extensions_those_are_reconciled_whose_package_changed(
    tmp_path: Path, control_plane: ControlPlane, registry: Registry
) -> None:
    with Olm(tmp_path / "olm", control_plane, registry) as olm, Api(control_plane) as api:
        kubectl = olm.control_plane.kubectl
        image = BundleSpec(package="all", version="1.0.0").publish(registry).image
        kubectl("apply", "-f", "-", stdin=namespace(HOME) + "---" + installer(HOME))
        kubectl("apply", "-f", "-", stdin=catalog("many", publish(registry, image, 0)))
        api.wait_condition(catalog_path("many"), "Serving", "True")
        kubectl(
            "apply", "-f", "-", stdin="---".join(map(extension, map(name_of, range(EXTENSIONS))))
        )
        for number in range(EXTENSIONS):
            path = extension_path(name_of(number))
            api.wait_condition(path, "Progressing", "False", timeout=120)
        before = at_rest(control_plane)
        assert len(before) == EXTENSIONS

        old = resolved(api)
        changed = {name_of(number) for number in range(CHANGED)}
        kubectl("apply", "-f", "-", stdin=catalog("many", publish(registry, image, CHANGED)))
        api.wait(catalog_path("many"), lambda _: resolved(api) != old, what="new content")
        api.wait(
            catalog_path("many"),
            lambda _: set(reconciles(control_plane) - before) >= changed,
            what="those are reconciled whose package changed",
        )
        after = at_rest(control_plane)

    assert set(after - before) == changed


def resolved(api: Api) -> str:
    found = api.get(catalog_path("many")) or {}
    source = (found.get("status") or {}).get("resolvedSource") or {}
    return str((source.get("image") or {}).get("ref"))
