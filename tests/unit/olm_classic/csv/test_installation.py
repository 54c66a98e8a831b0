"""How Deployments are judged: present, rolled out, and as they are to be."""

from typing import Any

import pytest

from api.objects import KubeObject
from olm_classic.csv.installation import State, installation, is_disrupted

HASH = "olm.deployment-spec-hash"
CSV_ANNOTATIONS = {"a": "1"}


def expected(digest: str = "h") -> KubeObject:
    return {"metadata": {"name": "d", "labels": {HASH: digest}}}


def live(*, labels: dict[str, str] | None = None, **parts: Any) -> KubeObject:
    status = {
        "observedGeneration": 2,
        "replicas": 1,
        "updatedReplicas": 1,
        "conditions": [{"type": "Available", "status": "True"}],
    }
    annotations = parts.get("annotations", CSV_ANNOTATIONS)
    return {
        "metadata": {
            "name": "d",
            "generation": 2,
            "labels": {HASH: "h"} if labels is None else labels,
        },
        "spec": {"template": {"metadata": {"annotations": annotations}}},
        "status": status | parts.get("status", {}),
    }


def condition(kind: str, status: str, **more: str) -> dict[str, Any]:
    return {"conditions": [{"type": kind, "status": status, **more}]}


WAITING = "waiting for deployment d to become ready: "


@pytest.mark.parametrize(
    ("found", "state", "text"),
    [
        (live(), State.HEALTHY, ""),
        (None, State.MISSING, "missing deployment with name=d"),
        (
            live(status={"observedGeneration": 1}),
            State.WAITING,
            f'{WAITING}waiting for spec update of deployment "d" to be observed...',
        ),
        (
            live(status={"replicas": 3}),
            State.WAITING,
            f'{WAITING}deployment "d" waiting for 2 outdated replica(s) to be terminated',
        ),
        (
            live(status=condition("Available", "False", message="too few")),
            State.WAITING,
            f'{WAITING}deployment "d" not available: too few',
        ),
        (
            live(status={"conditions": []}),
            State.WAITING,
            f'{WAITING}deployment "d" not available: missing condition "Available"',
        ),
        (
            live(status=condition("Progressing", "False", reason="ProgressDeadlineExceeded")),
            State.EXPIRED,
            'deployment d not ready before timeout: deployment "d" exceeded its progress deadline',
        ),
        (live(annotations=None), State.DRIFTED, "no annotations found on deployment"),
        (
            live(annotations={}),
            State.DRIFTED,
            "annotations on deployment does not contain expected key: a",
        ),
        (
            live(annotations={"a": "2"}),
            State.DRIFTED,
            "unexpected annotation on deployment. Expected a:1, found a:2",
        ),
        (
            live(labels={}),
            State.DRIFTED,
            "deployment d doesn't have a spec hash, update it",
        ),
        (
            live(labels={HASH: "old"}),
            State.DRIFTED,
            "deployment changed old hash=old, new hash=h",
        ),
    ],
)
def test_a_deployment(found: KubeObject | None, state: State, text: str) -> None:
    there = {} if found is None else {"d": found}
    judged = installation([expected()], there, CSV_ANNOTATIONS)
    assert (judged.state, judged.text) == (state, text)


def test_one_of_two_replicas_is_enough_where_the_deployment_says_so() -> None:
    half = live(status={"replicas": 2, "updatedReplicas": 2, "unavailableReplicas": 1})
    assert installation([expected()], {"d": half}, CSV_ANNOTATIONS).is_healthy


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        ({"metadata": {}, "status": {"phase": "Running"}}, False),
        ({"metadata": {}, "status": {"phase": "Pending"}}, True),
        ({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}, True),
        (
            {
                "metadata": {},
                "status": {"conditions": [{"type": "DisruptionTarget", "status": "True"}]},
            },
            True,
        ),
    ],
)
def test_pods_that_come_or_go(pod: KubeObject, expected: bool) -> None:
    assert is_disrupted(pod) is expected
