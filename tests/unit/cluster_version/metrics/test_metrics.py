"""The figures of a cluster's version, its operators and updates."""

from typing import Any

from cluster_version.metrics.operators import Transitions
from cluster_version.operator.exposition import Readings, families
from cluster_version.payload.release import Release
from olm_runtime.metrics.exposition import written

OWN = Release("1.0.1", "new@sha256:b")
CREATED = "2026-01-01T00:00:00Z"
MADE, STARTED, ENDED = (f"2026-01-0{day}T00:00:00Z" for day in (2, 3, 4))
DAY, FIRST = 86400, 1767225600  # the first of January 2026
AT = {time: float(FIRST + at * DAY) for at, time in enumerate((CREATED, MADE, STARTED, ENDED))}


def entry(version: str, image: str, *, completed: str | None = None) -> dict[str, Any]:
    state = "Partial" if completed is None else "Completed"
    return {"version": version, "image": image, "state": state, "startedTime": STARTED,
            "completionTime": completed}  # fmt: skip


def cluster_version(spec: dict[str, Any] | None = None, **status: Any) -> dict[str, Any]:
    return {"metadata": {"name": "version", "creationTimestamp": MADE}, "spec": spec or {},
            "status": {"history": [], "conditions": [], **status}}  # fmt: skip


def condition(kind: str, status: str, **more: str) -> dict[str, str]:
    return {"type": kind, "status": status, **more}


def operator(name: str, *conditions: dict[str, str], **versions: str) -> dict[str, Any]:
    listed = [{"name": each, "version": version} for each, version in versions.items()]
    return {"metadata": {"name": name}, "status": {"conditions": conditions, "versions": listed}}


def samples(name: str, **readings: Any) -> dict[tuple[str, ...], float]:
    given = Readings(**{"own": OWN, "created": CREATED, "leading": True, **readings})
    return {
        tuple(sample.labels.values()): sample.value
        for family in families(given)
        if family.name == name
        for sample in family.samples
    }


def test_an_installation_has_no_version_that_it_began_with() -> None:
    found = samples(
        "cluster_version", cluster_version=cluster_version(history=[entry("1.0.1", OWN.image)])
    )
    assert found == {
        ("current", "1.0.1", OWN.image, ""): AT[CREATED],
        ("initial", "1.0.1", OWN.image, ""): AT[MADE],
        ("cluster", "1.0.1", OWN.image, ""): AT[MADE],
        ("updating", "1.0.1", OWN.image, ""): AT[STARTED],
    }


def test_a_cluster_that_was_updated_says_from_what() -> None:
    history = [entry("1.0.1", OWN.image, completed=ENDED), entry("1.0.0", "old", completed=STARTED)]
    found = samples("cluster_version", cluster_version=cluster_version(history=history))
    assert found == {
        ("current", "1.0.1", OWN.image, "1.0.1"): AT[CREATED],
        ("completed", "1.0.1", OWN.image, "1.0.0"): AT[ENDED],
        ("initial", "1.0.0", "old", ""): AT[MADE],
        ("cluster", "1.0.1", OWN.image, "1.0.0"): AT[MADE],
    }


def test_what_is_asked_for_and_fails_is_reported_of_the_new_release() -> None:
    asked = {"desiredUpdate": {"version": "1.1.0", "image": "next"}}
    failing = condition("Failing", "True", lastTransitionTime=ENDED)
    history = [entry("1.0.1", OWN.image, completed=STARTED)]
    found = samples(
        "cluster_version",
        cluster_version=cluster_version(asked, history=history, conditions=[failing]),
    )
    assert found[("desired", "1.1.0", "next", "1.0.1")] == AT[ENDED]
    assert found[("failure", "1.1.0", "next", "1.0.1")] == AT[ENDED]


def test_an_own_release_that_fails() -> None:
    asked = {"desiredUpdate": {"version": "1.0.1", "image": OWN.image}}
    failing = condition("Failing", "True", lastTransitionTime=ENDED)
    found = samples("cluster_version", cluster_version=cluster_version(asked, conditions=[failing]))
    assert found[("failure", "1.0.1", OWN.image, "")] == AT[ENDED]
    assert not any("desired" in labels for labels in found)


def test_operators_are_up_if_they_are_available() -> None:
    operators = [
        operator(
            "a", condition("Available", "True", reason="AsExpected"), other="7", operator="1.0.1"
        ),
        operator("b", condition("Available", "Unknown", reason="NoData")),
        operator("c"),
    ]
    history = [entry("1.0.0", "old", completed=ENDED)]
    found = cluster_version(history=history, conditions=[condition("Available", "True")])
    assert samples("cluster_operator_up", cluster_version=found, operators=operators) == {
        ("version", "1.0.0", ""): 1,
        ("a", "1.0.1", "AsExpected"): 1,
        ("b", "", "NoData"): 0,
        ("c", "", "NoAvailableCondition"): 0,
    }


def test_conditions_that_are_known() -> None:
    operators = [operator("a", condition("Degraded", "False"), condition("Available", "Unknown"))]
    said = [condition("Failing", "True", reason="Bad"), condition("ReleaseAccepted", "Unknown")]
    found = cluster_version(conditions=said)
    assert samples("cluster_operator_conditions", cluster_version=found, operators=operators) == {
        ("version", "Failing", "Bad"): 1,
        ("a", "Degraded", ""): 0,
    }


def test_a_cluster_version_that_is_gone_is_down() -> None:
    assert samples("cluster_operator_up") == {("version", "", "ClusterVersionNotFound"): 0}
    assert samples("cluster_operator_conditions") == {
        ("version", "Available", "ClusterVersionNotFound"): 0
    }
    assert samples("cluster_operator_up", leading=False) == {}


def test_transitions_count_what_changed_came_or_went() -> None:
    transitions = Transitions()
    before = operator(
        "a", condition("Available", "True"), condition("Degraded", "False"), condition("X", "True")
    )
    after = operator(
        "a", condition("Available", "False"), condition("Degraded", "False"), condition("Y", "True")
    )
    transitions.see(None, before)
    transitions.see(before, after)
    transitions.see(after, before)
    transitions.see(before, None)
    found = samples("cluster_operator_condition_transitions", transitions=transitions)
    assert found == {("a", "Available"): 2, ("a", "X"): 2, ("a", "Y"): 2}


def test_updates_count_for_where_they_come_from() -> None:
    name = "cluster_version_available_updates"
    never = cluster_version({"channel": "stable"}, availableUpdates=None)
    assert samples(name, cluster_version=never) == {}
    retrieved = cluster_version(
        {"channel": "stable"},
        conditions=[condition("RetrievedUpdates", "True")],
        availableUpdates=[],
    )
    assert samples(name, cluster_version=retrieved) == {("<default>", "stable"): 0}
    named = cluster_version({"upstream": "https://a"}, availableUpdates=[{}, {}])
    assert samples(name, cluster_version=named) == {("https://a", ""): 2}
    own = samples(name, cluster_version=named, update_service="https://b")
    assert own == {("https://b", ""): 2}


def test_capabilities_are_enabled_or_known_only() -> None:
    listed = {"enabledCapabilities": ["A"], "knownCapabilities": ["A", "B"]}
    found = cluster_version(capabilities=listed)
    assert samples("cluster_version_capability", cluster_version=found) == {("A",): 1, ("B",): 0}


def test_conditional_updates_and_their_risks() -> None:
    recommended = condition("Recommended", "False", reason="Risky", lastTransitionTime=ENDED)
    update = {"release": {"version": "1.1.0"}, "conditions": [recommended]}
    risks = [
        {"name": name, "conditions": [condition("Applies", status, reason="Matched")]}
        for name, status in (("A", "True"), ("B", "False"), ("C", "Unknown"))
    ]
    found = cluster_version(conditionalUpdates=[update], conditionalUpdateRisks=risks)
    since = samples("cluster_version_conditional_update_condition_seconds", cluster_version=found)
    assert since == {("1.1.0", "Recommended", "False", "Risky"): AT[ENDED]}
    assert samples("cluster_version_risk_conditions", cluster_version=found) == {
        ("Applies", "A", "Matched"): 1,
        ("Applies", "B", "Matched"): 0,
        ("Applies", "C", "Matched"): -1,
    }


def test_what_installed_the_cluster() -> None:
    manifests = {"openshift-install-manifests": {"data": {"version": "v1", "invoker": "me"}}}
    both = {**manifests, "openshift-install": {"data": {"version": "v2"}}}
    name = "cluster_installer"
    assert samples(name) == {("", "", ""): 1}
    assert samples(name, installers=manifests) == {("other", "v1", "me"): 1}
    assert samples(name, installers=both) == {("openshift-install", "v2", "<missing>"): 1}


def test_a_payload_counts_what_is_applied_and_what_failed() -> None:
    applied = {"version": "1.0.1", "applied": 3, "total": 8}
    found = samples("cluster_version_payload", **applied)
    assert found == {("1.0.1", "pending"): 5, ("1.0.1", "applied"): 3}
    assert samples("cluster_operator_payload_errors", failures={"1.0.1": 2}) == {("1.0.1",): 2}


def test_a_process_that_waits_exposes_nothing_of_the_cluster() -> None:
    page = written(families(Readings(lease="version"))).decode()
    assert [line for line in page.splitlines() if line.startswith("cluster_")] == []
