"""The least rights over every bundle of the corpus: enough, and nothing to spare."""

from pathlib import Path

import pytest

from api.objects import KubeObject
from e2e.harness.images import read_folder
from olm_content.bundle.files import BundleError
from olm_content.bundle.reader import load
from olm_content.render.install import InstallRequest, install_objects
from olm_content.render.kinds import placed
from olm_content.render.options import CertificateProvider
from olm_runtime.errors import OLMError
from tests.unit.olm_content.rights.least_rights import assert_least, needs_for

pytestmark = pytest.mark.corpus


def rendered(folder: Path) -> list[KubeObject] | None:
    """The objects of a bundle in whichever mode it can be installed in; None if in none."""
    try:
        bundle = load(read_folder(folder))
    except BundleError:
        return None
    for watched in (None, "ns", "other"):
        request = InstallRequest(
            install_namespace="ns",
            config={"watchNamespace": watched} if watched else None,
            certificate_provider=CertificateProvider.SELF,
        )
        try:
            return [placed(obj) for obj in install_objects(bundle, request)]
        except OLMError:
            continue
    return None


def test_every_bundle(corpus: Path) -> None:
    judged = 0
    for folder in sorted((corpus / "bundles").glob("*/*")):
        objects = rendered(folder)
        if objects is None:
            continue
        assert_least(needs_for(objects))
        judged += 1
    assert judged > 50
