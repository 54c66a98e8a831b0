"""Feature gates of operator-controller, against those of upstream of the same name."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from e2e.harness.registry import Registry
from e2e.olm.api import Api, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.manifests import with_administrator
from e2e.olm.programs import Olm

pytestmark = pytest.mark.integration

CLOSED = (
    "AllAlpha=false",
    "BundleReleaseSupport=true",
    "WebhookProviderCertManager=false",
    "WebhookProviderOpenshiftServiceCA=false",
)
INVALID = "invalid ClusterExtension configuration: invalid configuration: "


@pytest.fixture(scope="module")
def gated(olm: Olm) -> Iterator[Olm]:
    """operator-controller with every gate the other way round."""
    olm.stop_operator_controller()
    olm.start_operator_controller(f"--feature-gates={','.join(CLOSED)}")
    yield olm
    olm.stop_operator_controller()
    olm.start_operator_controller()


@pytest.fixture
def apply(gated: Olm, package: str) -> Iterator[Callable[[str], object]]:
    yield gated.control_plane.apply
    gated.control_plane.remove(extension_path(package))


def test_a_release_is_distinguished_from_the_version(
    api: Api,
    registry: Registry,
    package: str,
    publish_catalog: Callable[..., str],
    serve_catalog: Callable[[str, str], None],
    apply: Callable[[str], object],
) -> None:
    bundle = BundleSpec(package=package, version="1.0.0").publish(registry)
    serve_catalog(package, publish_catalog(replace(bundle, version="1.0.0+2")))
    apply(with_administrator(package))
    found = api.wait_installed(package, "1.0.0")
    assert found["status"]["install"]["bundle"] == {
        "name": bundle.name,
        "version": "1.0.0",
        "release": "2",
    }


@pytest.mark.parametrize(
    ("modes", "config", "message"),
    [
        pytest.param(
            ("AllNamespaces",),
            {"deploymentConfig": {"nodeSelector": {}}},
            f'{INVALID}unknown field "deploymentConfig"',
            id="DeploymentConfig",
        ),
        pytest.param(
            ("OwnNamespace",),
            None,
            "unsupported bundle: bundle does not support AllNamespaces install mode",
            id="SingleOwnNamespaceInstallSupport",
        ),
    ],
)
def test_what_a_closed_gate_forbids_is_refused_in_upstreams_words(
    api: Api,
    package: str,
    publish_catalog: Callable[..., str],
    serve_catalog: Callable[[str, str], None],
    apply: Callable[[str], object],
    modes: tuple[str, ...],
    config: Any,
    message: str,
) -> None:
    serve_catalog(
        package, publish_catalog(BundleSpec(package=package, version="1.0.0", modes=modes))
    )
    apply(with_administrator(package))
    if config:
        inline = {"configType": "Inline", "inline": config}
        api.patch(extension_path(package), {"spec": {"config": inline}})
    status = "False" if config else "True"
    api.wait_condition(extension_path(package), "Progressing", status, message=message)
