"""Whether live objects do what they are there for."""

from typing import Any

import pytest

from api.objects import KubeObject
from olm_rollout.probes import PROBES, Finding, Health, describe, has_probe, probe

CRD = "apiextensions.k8s.io/v1 CustomResourceDefinition"
DEPLOYMENT = "apps/v1 Deployment"
STATEFUL_SET = "apps/v1 StatefulSet"
PULL = "ImagePullBackOff (image registry/x:1)"
PROBED = {
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("cert-manager.io", "Certificate"),
    ("cert-manager.io", "Issuer"),
    ("", "Namespace"),
    ("", "PersistentVolumeClaim"),
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
}


def live(kind: str, *, replicas: int | None = 1, **status: Any) -> KubeObject:
    api_version, _, name = kind.rpartition(" ")
    return {
        "apiVersion": api_version,
        "kind": name,
        "metadata": {"name": "x", "namespace": "ns", "generation": 2},
        "spec": {"replicas": replicas},
        "status": status,
    }


def condition(kind: str, status: str, message: str = "") -> list[dict[str, str]]:
    return [{"type": kind, "status": status, "message": message}]


def test_the_probes_are_these() -> None:
    assert set(PROBES) == PROBED
    assert has_probe("apps", "Deployment")
    assert not has_probe("", "ConfigMap")


@pytest.mark.parametrize(
    "obj",
    [
        pytest.param(live("v1 ConfigMap"), id="kinds without a probe"),
        pytest.param(live(CRD, conditions=condition("Established", "True")), id="a served CRD"),
        pytest.param(live("v1 Namespace", phase="Active"), id="a namespace"),
        pytest.param(live("v1 PersistentVolumeClaim", phase="Bound"), id="a claim"),
        pytest.param(
            live("cert-manager.io/v1 Certificate", conditions=condition("Ready", "True")),
            id="a certificate",
        ),
        pytest.param(
            live(
                DEPLOYMENT,
                observedGeneration=2,
                conditions=condition("Available", "True"),
            ),
            id="a deployment",
        ),
        pytest.param(
            live(DEPLOYMENT, replicas=0, conditions=condition("Available", "True")),
            id="a deployment of no replicas",
        ),
        pytest.param(
            live(STATEFUL_SET, availableReplicas=1),
            id="a stateful set, which has no condition",
        ),
        pytest.param(live(STATEFUL_SET, replicas=0), id="a stateful set of no replicas"),
    ],
)
def test_healthy(obj: KubeObject) -> None:
    assert probe(obj) == Finding(Health.HEALTHY)


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        pytest.param(live(CRD), 'condition "Established" is not reported yet', id="a new CRD"),
        pytest.param(
            live(CRD, conditions=condition("Established", "False", "names are taken")),
            'condition "Established" is False: names are taken',
            id="a CRD that is not served",
        ),
        pytest.param(
            live("cert-manager.io/v1 Issuer", conditions=condition("Ready", "False")),
            'condition "Ready" is False',
            id="no reason given",
        ),
        pytest.param(
            live("v1 Namespace", phase="Terminating"),
            'value at key "status.phase" != "Active"; expected: "Active" got: "Terminating"',
            id="a namespace on its way out",
        ),
        pytest.param(
            live(DEPLOYMENT, conditions=condition("Available", "False", "no pods")),
            '0/1 available: condition "Available" is False: no pods',
            id="a deployment without pods",
        ),
        pytest.param(
            live(
                DEPLOYMENT,
                conditions=[
                    *condition("Available", "False", "no pods"),
                    *condition("ReplicaFailure", "True", "exceeded quota"),
                ],
            ),
            "0/1 available: exceeded quota",
            id="a deployment whose pods are refused",
        ),
        pytest.param(
            live(DEPLOYMENT, replicas=None),
            '0/1 available: condition "Available" is not reported yet',
            id="a deployment that leaves its number to the server",
        ),
        pytest.param(
            {**live(DEPLOYMENT), "status": {"replicas": 3, "updatedReplicas": 1}},
            "1/3 replicas are updated",
            id="a deployment in the middle of a rollout",
        ),
        pytest.param(
            live(STATEFUL_SET, replicas=3, availableReplicas=2),
            "2/3 available",
            id="a stateful set that waits for a pod",
        ),
    ],
)
def test_unhealthy(obj: KubeObject, message: str) -> None:
    assert probe(obj) == Finding(Health.UNHEALTHY, message)


def test_a_status_of_an_older_generation_says_nothing() -> None:
    obj = live(DEPLOYMENT, observedGeneration=1, conditions=condition("Available", "True"))
    assert probe(obj) == Finding(Health.UNKNOWN, ".status outdated")


def test_a_line_for_people_names_the_object() -> None:
    obj = live(DEPLOYMENT)
    assert describe(obj, Finding(Health.UNHEALTHY, "0/1 available")) == (
        "Deployment ns/x: 0/1 available"
    )


@pytest.mark.parametrize(
    ("message", "reason", "text"),
    [
        ("1/2 replicas are updated", "", "1/2 replicas are updated"),
        ("1/2 replicas are updated", PULL, f"1/2 replicas are updated: {PULL}"),
        ("0/1 available: no pods.", PULL, f"0/1 available: no pods. {PULL}"),
    ],
)
def test_the_reason_of_pods_follows(message: str, reason: str, text: str) -> None:
    assert Finding(Health.UNHEALTHY, message).because(reason).message == text
