"""A control plane with both programs, and a doctor who writes down what it asks."""

from collections.abc import Callable, Iterator

import pytest

from e2e.harness.components import AuditLevel
from e2e.harness.controlplane import ControlPlane
from e2e.harness.registry import Registry
from e2e.olm.api import Api, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.manifests import with_administrator
from e2e.olm.programs import Olm
from tests.integration.clusters import own_control_plane
from tests.integration.doctor.world import Doctor

control_plane = own_control_plane("package", audit=AuditLevel.METADATA)
"""No leftovers of other tests."""


@pytest.fixture(scope="package")
def doctor(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Doctor:
    return Doctor(control_plane, tmp_path_factory.mktemp("doctor"))


@pytest.fixture(scope="package")
def olm(
    tmp_path_factory: pytest.TempPathFactory,
    control_plane: ControlPlane,
    registry: Registry,
    doctor: Doctor,
) -> Iterator[Olm]:
    """Both programs, which elect a leader as they do in a cluster."""
    olm = Olm(tmp_path_factory.mktemp("olm"), control_plane, registry)
    olm.install()
    control_plane.restart_controller_manager()
    doctor.arguments = ["--catalogd-cas-dir", str(olm.catalogs_ca.parent)]
    try:
        olm.start_catalogd("--leader-elect")
        olm.start_operator_controller("--leader-elect")
        yield olm
    finally:
        olm.stop()


@pytest.fixture
def installed(
    olm: Olm,
    api: Api,
    publish_catalog: Callable[..., str],
    serve_catalog: Callable[[str, str], None],
) -> Iterator[Callable[..., None]]:
    """Installs a bundle from a catalog of its own, and removes it in the end."""
    packages: list[str] = []

    def install(bundle: BundleSpec) -> None:
        packages.append(bundle.package)
        serve_catalog(bundle.package, publish_catalog(bundle))
        manifest = with_administrator(bundle.package, bundle.version)
        olm.control_plane.apply(manifest)
        api.wait_installed(bundle.package, bundle.version)

    yield install
    for package in packages:
        olm.control_plane.end(extension_path(package))
