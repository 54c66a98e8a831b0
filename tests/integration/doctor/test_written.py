"""What it may and does not; the last file, after all others."""

import pytest

from e2e.olm.programs import Olm
from tests.integration.doctor.world import Doctor

pytestmark = pytest.mark.integration


READS = {"get", "list", "watch"}
REVIEWS = {"selfsubjectreviews", "selfsubjectaccessreviews"}


def test_without_rights_it_says_which_are_missing(olm: Olm, doctor: Doctor) -> None:
    nobody = olm.control_plane.kubeconfig_for("nobody")
    code, report = doctor("--check", "webhooks", kubeconfig=nobody)
    assert code == 2
    lacks = {finding["why"] for finding in report["findings"]}
    resource = "validatingwebhookconfigurations.admissionregistration.k8s.io"
    assert f"you lack the right to list {resource}" in lacks
    assert {finding["severity"] for finding in report["findings"]} == {"unknown"}
    code, report = doctor("--check", "rights", kubeconfig=nobody)
    assert "olm install" in str(report["findings"])
    assert " create clusterrole " in str(report["findings"])


def test_it_never_wrote(olm: Olm, doctor: Doctor) -> None:
    """All that was asked in this file, by the audit log."""
    doctor()
    asked = [
        (event["verb"], (event.get("objectRef") or {}).get("resource"))
        for event in olm.control_plane.audit_events()
        if event["user"]["username"] in ("doctor", "nobody")
    ]
    assert len(asked) > 60
    assert {(verb, resource) for verb, resource in asked if verb not in READS} == {
        ("create", resource) for resource in REVIEWS
    }
