"""olm-operator as a process."""

from api.operators.names import V1
from e2e.olm.classic import Classic, Place


def test_a_version_made_by_hand_succeeds(olm: Classic, place: Place) -> None:
    place.csv("hello.v1.0.0")
    # No controller gives groups their namespaces yet.
    status = {"namespaces": [place.name], "lastUpdated": "2026-01-01T00:00:00Z"}
    place.patch_status("operatorgroups", "group", status, version=V1)
    csv = place.wait_csv("hello.v1.0.0")
    assert csv["status"]["reason"] == "InstallSucceeded"
    assert "workqueue_depth" in olm.operator_metrics()
