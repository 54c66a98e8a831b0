"""olm-operator as a process."""

from e2e.olm.classic import Classic, Place


def test_a_version_made_by_hand_succeeds(olm: Classic, place: Place) -> None:
    place.csv("hello.v1.0.0")
    csv = place.wait_csv("hello.v1.0.0")
    assert csv["status"]["reason"] == "InstallSucceeded"
    assert "workqueue_depth" in olm.operator_metrics()
