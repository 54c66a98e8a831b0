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


def test_issues_that_are_accepted_make_no_error() -> None:
    cluster = _cluster("1.1.0", upgradeable="False")
    cluster["status"]["conditions"] += [
        {"type": "Progressing", "status": "True", "message": "Working"}
    ]
    alerts = [
        {"labels": {"alertname": name, "severity": "critical"}, "state": "firing"}
        for name in ("Fire", "Flood")
    ]
    taken = {"ConditionalUpdateRisk", "Progressing", "Fire"}
    found = findings(alerts)
    page = recommendations(cluster, _warn, findings=found, accepted=taken, version="1.1.0")
    assert page.error is not None
    assert page.error.endswith(" not included in --accept: Flood")
    assert page.text.startswith("accepted info: An update is in progress.")
    assert "explicitly accepted via --accept: recommended/CriticalAlerts/Fire/0\n" in page.text
    assert "to later releases: recommended/CriticalAlerts/Flood/1\n" in page.text
    assert "Reason: accepted No via ConditionalUpdateRisk\n" in page.text
    taken.add("Flood")
    page = recommendations(cluster, _warn, findings=found, accepted=taken, version="1.1.0")
    assert page.error is None
    assert "/Flood/1=False:" not in page.text
    assert page.text.endswith(
        "Update to 1.1.0 has no known issues relevant to this cluster other than the accepted "
        "ConditionalUpdateRisk,Fire,Flood,Progressing.\n"
    )


def test_a_cluster_that_fails_is_accepted_by_name() -> None:
    cluster = _cluster("1.0.1")
    failing = {"type": "Failing", "status": "True", "reason": "Broken", "message": "It is"}
    cluster["status"]["conditions"] = [failing]
    page = recommendations(cluster, _warn, accepted=["Failing"], version="1.0.1")
    assert page.error is None
    assert page.text.startswith("accepted Failing=True:\n")
    warned: list[str] = []
    cluster["status"]["conditions"] = []
    page = recommendations(cluster, warned.append, accepted=["Failing"], version="1.0.1")
    assert page.error is None
    assert warned[0].startswith("accepted warning: No current Failing info")


def test_a_version_that_is_no_update_is_refused() -> None:
    for version, text in (
        ("2.0.0", "no updates to 2 available"),
        ("1.2.0", "no updates to 1.2 available"),
        ("1.0.9", "no update to 1.0.9 available"),
    ):
        error = recommendations(_cluster("1.0.1"), _warn, version=version).error
        assert error is not None
        assert error.startswith(text)
