"""Which updates are recommended, and what speaks against the others."""

from typing import Any

from cluster_version.client_output.alerts import findings
from cluster_version.client_output.recommend_view import recommendations

Json = dict[str, Any]
BLOCKED = {"reason": "No", "message": "Not yet"}


def _release(version: str) -> Json:
    return {"version": version, "image": f"image:{version}", "url": f"https://errata/{version}"}


def _cluster(*available: str, upgradeable: str = "True") -> Json:
    return {
        "spec": {"channel": "stable"},
        "status": {
            "desired": {"version": "1.0.0"},
            "conditions": [
                {"type": "Failing", "status": "False"},
                {
                    "type": "Upgradeable",
                    "status": upgradeable,
                    "reason": "No",
                    "message": "Not yet",
                },
            ],
            "availableUpdates": [_release(each) for each in available],
        },
    }


def _warn(text: str) -> None:
    raise AssertionError(text)


def test_the_newest_two_of_each_minor_version_are_shown() -> None:
    text = recommendations(_cluster("1.0.1", "1.0.3", "1.0.2", "1.1.0"), _warn).text
    assert text.endswith(
        "\nUpdates to 1.1:\n  VERSION     ISSUES\n"
        "  1.1.0       no known issues relevant to this cluster\n"
        "\nUpdates to 1.0:\n  VERSION     ISSUES\n"
        "  1.0.3       no known issues relevant to this cluster\n"
        "  1.0.2       no known issues relevant to this cluster\n"
        "And 1 older 1.0 updates you can see with '--show-outdated-releases' or "
        "'--version VERSION'.\n"
    )


def test_a_cluster_that_keeps_its_minor_version_speaks_against_later_ones() -> None:
    cluster = _cluster("1.0.1", "1.1.0", upgradeable="False")
    text = recommendations(cluster, _warn).text
    assert "\n  Version: 1.1.0\n  Image: image:1.1.0\n  Reason: No\n  Message: Not yet\n" in text
    assert "  1.0.1       no known issues" in text
    assert "  1.1.0       No\n" in recommendations(cluster, _warn, outdated=True).text


def test_the_issues_of_one_version_make_an_error() -> None:
    cluster = _cluster("1.0.1", upgradeable="False")
    assert recommendations(cluster, _warn, version="1.0.1").error is None
    alert = {"labels": {"alertname": "Fire", "severity": "critical"}, "state": "firing"}
    page = recommendations(cluster, _warn, findings=findings([alert]), version="1.0.1")
    assert page.error == (
        "issues that apply to this cluster but which were not included in --accept: Fire"
    )
    assert "recommended/CriticalAlerts/Fire/0=False:\n\n  Reason: Alert:firing\n" in page.text


def test_a_version_that_is_no_update_is_refused() -> None:
    for version, text in (
        ("2.0.0", "no updates to 2 available"),
        ("1.2.0", "no updates to 1.2 available"),
        ("1.0.9", "no update to 1.0.9 available"),
    ):
        error = recommendations(_cluster("1.0.1"), _warn, version=version).error
        assert error is not None
        assert error.startswith(text)
