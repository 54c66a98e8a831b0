"""What a status says of an update, in small."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cluster_version.client_output.columns import aligned
from cluster_version.client_output.durations import short
from cluster_version.client_output.status_view import NOT_UPDATING, Cluster, Details, status_page
from cluster_version.client_output.upgrade_view import Form
from olm_runtime.errors import TerminalError

Json = dict[str, Any]
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
CONFIG = "machineconfiguration.openshift.io"


def _ago(minutes: float) -> str:
    return (NOW - timedelta(minutes=minutes)).isoformat()


def _version(progressing: str = "True") -> Json:
    history = [
        {"version": "2.0.0", "state": "Partial", "startedTime": _ago(30), "image": "b"},
        {"version": "1.0.0", "state": "Completed", "startedTime": _ago(900), "image": "a"},
    ]
    conditions = [
        {"type": "Progressing", "status": progressing, "lastTransitionTime": _ago(30)},
        {"type": "Failing", "status": "False", "lastTransitionTime": _ago(30)},
    ]
    status = {"desired": {"version": "2.0.0"}, "history": history, "conditions": conditions}
    return {"metadata": {"name": "version"}, "status": status}


def _operator(name: str, version: str, **statuses: tuple[str, float]) -> Json:
    judged = {"Available": ("True", 60), "Degraded": ("False", 60)} | statuses
    return {
        "metadata": {"name": name, "annotations": {"include.release.openshift.io/any": "true"}},
        "status": {
            "versions": [{"name": "operator", "version": version}],
            "conditions": [
                {"type": type_, "status": status, "reason": "R", "lastTransitionTime": _ago(ago)}
                for type_, (status, ago) in judged.items()
            ],
        },
    }


def _node(name: str, current: str, desired: str, state: str = "Done") -> Json:
    values = {"currentConfig": current, "desiredConfig": desired, "state": state}
    noted = {f"{CONFIG}/{key}": value for key, value in values.items()}
    return {"metadata": {"name": name, "labels": {"role": "w"}, "annotations": noted}}


def _cluster(*nodes: Json, progressing: str = "True") -> Cluster:
    pool = {
        "metadata": {"name": "worker"},
        "spec": {
            "nodeSelector": {"matchLabels": {"role": "w"}},
            "configuration": {"name": "new"},
        },
    }
    configs = [
        {
            "metadata": {
                "name": name,
                "annotations": {f"{CONFIG}/release-image-version": version},
            }
        }
        for name, version in (("old", "1.0.0"), ("new", "2.0.0"))
    ]
    operators = [
        _operator("a", "2.0.0"),
        _operator("b", "1.0.0", Progressing=("True", 2)),
        _operator("c", "1.0.0", Available=("False", 25)),
    ]
    return Cluster(_version(progressing), operators, [pool], nodes, configs)


def test_columns_start_anew_after_a_line_without_them() -> None:
    assert aligned("a\tb\nlong\tc\nnone\nx\ty\n") == "a      b\nlong   c\nnone\nx   y\n"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "now"), (59, "59s"), (60, "1m"), (3600, "1h"), (3601, "1h0m1s"), (-90, "-1m30s")],
)
def test_durations_leave_out_what_is_zero_at_their_end(seconds: int, text: str) -> None:
    assert short(timedelta(seconds=seconds)) == text


def test_operators_are_counted_and_the_unavailable_ones_reported() -> None:
    text = status_page(_cluster(), NOW)
    assert "Target Version:  2.0.0 (from 1.0.0)\nUpdating:        b\n" in text
    assert "Completion:      33% (1 operators updated, 1 updating, 0 waiting)\n" in text
    assert "Operator Health: 2 Healthy, 1 Unavailable\n" in text
    assert "25m     Error   API Availability   Cluster Operator c is unavailable (R)\n" in text


def test_nodes_on_their_way_come_before_those_that_wait() -> None:
    cluster = _cluster(
        _node("node-1", "old", "old"),
        _node("node-2", "new", "new"),
        _node("node-3", "old", "new", "Working"),
        _node("node-4", "old", "old", "Degraded"),
    )
    lines = status_page(cluster, NOW).splitlines()
    start = lines.index("Worker Pool Nodes: worker") + 2
    assert [line.split()[:3] for line in lines[start : start + 4]] == [
        ["node-4", "Degraded", "Pending"],
        ["node-3", "Progressing", "Updating"],
        ["node-1", "Outdated", "Pending"],
        ["node-2", "Completed", "Updated"],
    ]


def test_only_ten_healthy_nodes_are_shown_unless_all_are_asked_for() -> None:
    cluster = _cluster(*(_node(f"node-{index:02}", "old", "old") for index in range(12)))
    text = status_page(cluster, NOW)
    assert "node-09" in text
    assert "node-10" not in text
    assert "Omitted additional 2 Total, 0 Completed, 2 Available" in text
    assert "node-11" in status_page(cluster, NOW, details=Details.NODES)


def test_a_cluster_whose_nodes_lag_behind_is_updating_still() -> None:
    done = _cluster(_node("node-1", "new", "new"), progressing="False")
    assert status_page(done, NOW) == NOT_UPDATING
    lagging = _cluster(_node("node-1", "old", "old"), progressing="False")
    assert "worker        Pending      0% (0/1)" in status_page(lagging, NOW)


def test_a_cluster_without_operators_is_no_such_cluster() -> None:
    with pytest.raises(TerminalError, match="no cluster operator information available"):
        status_page(Cluster(_version(), []), NOW)


def test_a_message_of_several_lines_stays_in_its_column() -> None:
    cluster = _cluster()
    cluster.operators[1]["status"]["conditions"][2]["message"] = "first\nsecond"
    lines = status_page(cluster, NOW, details=Details.OPERATORS).splitlines()
    first = next(line for line in lines if line.endswith("first"))
    second = lines[lines.index(first) + 1]
    assert first.index("first") == second.index("second")


def test_the_current_client_takes_microseconds_for_seconds() -> None:
    moment = NOW - timedelta(minutes=2) + timedelta(microseconds=368)
    for form, text in ((Form.CURRENT, "6m8s"), (Form.DOCUMENT, "now")):
        shown = status_page(_cluster(), moment, details=Details.OPERATORS, form=form)
        assert f"b      {text}" in shown
