"""Back from a version whose webhook refuses what the way back needs, and nobody answers for it."""

from collections.abc import Callable

import pytest
import yaml

from api.olm.v1 import names
from e2e.olm.api import Api, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.manifests import with_administrator
from e2e.olm.programs import Olm

pytestmark = pytest.mark.integration

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"


class RefusesContent(BundleSpec):
    """Its webhook is asked about the Secrets with the content of its own revisions.

    No pods run here, so nobody answers.
    """

    def files(self) -> dict[str, bytes]:
        files = BundleSpec.files(self)
        csv = yaml.safe_load(files["manifests/csv.yaml"])
        rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"]}
        csv["spec"]["webhookdefinitions"] = [
            {
                "type": "ValidatingAdmissionWebhook",
                "generateName": "secrets.example.com",
                "deploymentName": f"{self.package}-operator",
                "containerPort": 443,
                "failurePolicy": "Fail",
                "timeoutSeconds": 1,
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
                "objectSelector": {"matchLabels": {names.LABEL_OWNER_NAME: self.package}},
                "rules": [{**rule, "resources": ["secrets"]}],
            }
        ]
        return {**files, "manifests/csv.yaml": yaml.safe_dump(csv).encode()}


def test_the_way_back_is_free_though_a_webhook_refuses_what_we_write_ourselves(
    olm: Olm,
    api: Api,
    package: str,
    publish_catalog: Callable[..., str],
    serve_catalog: Callable[[str, str], None],
) -> None:
    good = BundleSpec(package=package, version="1.0.0")
    bad = RefusesContent(package=package, version="2.0.0")
    serve_catalog(package, publish_catalog(good, bad))
    olm.control_plane.apply(with_administrator(package, "2.0.0"))
    api.wait_installed(package, "2.0.0")
    labels = f"{names.LABEL_OWNER_NAME}={package}"
    assert len(api.list(CONFIGURATIONS, labels)) == 1
    back = {"version": "1.0.0", "upgradeConstraintPolicy": "SelfCertified"}
    api.patch(extension_path(package), {"spec": {"source": {"catalog": back}}})
    text = "failed calling webhook"
    api.wait_condition(extension_path(package), "Progressing", "True", message=text)
    api.wait_installed(package, "1.0.0")
    assert api.list(CONFIGURATIONS, labels) == []
    olm.control_plane.remove(extension_path(package))
