"""Why pods do not run, in words that do not flap."""

from typing import Any

import pytest

from api.objects import KubeObject
from olm_rollout.pods import reason_of, selector_of


def pod(state: dict[str, Any], *, init: bool = False, **more: Any) -> KubeObject:
    container = {"name": "manager", "image": "registry/x:1", "state": state, **more}
    return {"status": {"initContainerStatuses" if init else "containerStatuses": [container]}}


def waiting(reason: str, message: str = "") -> dict[str, Any]:
    return {"waiting": {"reason": reason, "message": message}}


ENDED = {"terminated": {"exitCode": 1, "reason": "Error"}}
PULL = "ImagePullBackOff (image registry/x:1)"
CRASH = "CrashLoopBackOff (container manager, last exit code 1: Error)"
FULL: KubeObject = {
    "status": {
        "conditions": [
            {
                "type": "PodScheduled",
                "status": "False",
                "reason": "Unschedulable",
                "message": "0/3 nodes are available",
            }
        ]
    }
}


@pytest.mark.parametrize(
    ("pods", "reason"),
    [
        pytest.param([], "", id="no pods"),
        pytest.param([pod(waiting("ErrImagePull", "5 s"))], PULL, id="cannot be pulled"),
        pytest.param([pod(waiting("ImagePullBackOff", "10 s"))], PULL, id="in the same words"),
        pytest.param([pod(waiting("ErrImagePull"), init=True)], PULL, id="of an init container"),
        pytest.param([pod(waiting("CrashLoopBackOff"), lastState=ENDED)], CRASH, id="crashes"),
        pytest.param([pod(ENDED)], CRASH, id="just now"),
        pytest.param([pod({"running": {}}, lastState=ENDED)], CRASH, id="runs until it crashes"),
        pytest.param([pod({"running": {}}, lastState=ENDED, ready=True)], "", id="is well again"),
        pytest.param([pod({"running": {}})], "", id="runs"),
        pytest.param([pod(waiting("ContainerCreating"))], "", id="is on its way"),
        pytest.param(
            [pod(waiting("CreateContainerConfigError", 'secret "x" not found'))],
            'CreateContainerConfigError (secret "x" not found)',
            id="lacks something",
        ),
        pytest.param([FULL], "Unschedulable (0/3 nodes are available)", id="has no place"),
        pytest.param([FULL, pod(ENDED)], CRASH, id="the first by name of several"),
        pytest.param(
            [{**FULL, "metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}],
            "",
            id="is on its way out",
        ),
    ],
)
def test_why_pods_do_not_run(pods: list[KubeObject], reason: str) -> None:
    assert reason_of(pods) == reason
    assert reason_of(reversed(pods)) == reason


@pytest.mark.parametrize(
    ("selector", "query"),
    [
        ({"matchLabels": {"b": "2", "a": "1"}}, "a=1,b=2"),
        ({"matchLabels": {"a": "1"}, "matchExpressions": [{}]}, ""),
        ({}, ""),
    ],
)
def test_the_query_for_the_pods(selector: dict[str, Any], query: str) -> None:
    assert selector_of({"spec": {"selector": selector}}) == query
