"""Limits of images hold for bundles too: operator-controller takes the same flags as catalogd."""

from collections.abc import Callable, Iterator

import pytest

from e2e.olm.api import Api, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.manifests import with_administrator
from e2e.olm.programs import Olm

pytestmark = pytest.mark.integration


@pytest.fixture
def strict(olm: Olm) -> Iterator[Olm]:
    """operator-controller takes images of one entry only."""
    olm.stop_operator_controller()
    olm.start_operator_controller("--max-image-entries=1")
    yield olm
    olm.stop_operator_controller()
    olm.start_operator_controller()


def test_a_bundle_past_a_limit_names_the_flag_that_helps(
    strict: Olm,
    api: Api,
    package: str,
    publish_catalog: Callable[..., str],
    serve_catalog: Callable[[str, str], None],
) -> None:
    serve_catalog(package, publish_catalog(BundleSpec(package=package, version="1.0.0")))
    strict.control_plane.apply(with_administrator(package))
    text = "image has more than 1 entries"
    found = api.wait_condition(extension_path(package), "Progressing", "True", message=text)
    assert "--max-image-entries" in str(found["status"]["conditions"])
    strict.stop_operator_controller()
    strict.start_operator_controller()
    api.wait_installed(package, "1.0.0")
    strict.control_plane.remove(extension_path(package))
