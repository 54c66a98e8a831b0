"""A cluster that has no OLM yet: the first file by name, before the others install it."""

import pytest

from tests.integration.doctor.world import Doctor

pytestmark = pytest.mark.integration


def test_a_cluster_without_olm_is_shown_how_to_install_it(doctor: Doctor) -> None:
    code, report = doctor()
    assert code == 1
    [finding] = report["findings"]
    assert finding["check"] == "definitions"
    assert "not installed" in finding["message"]
    assert " install olmv1 " in finding["remedies"][0]["commands"][0]
