"""Checks of `olm doctor`, by snapshots."""

from typing import Any

import pytest

from api.objects import GVK, KubeObject
from api.olm.v1 import names
from api.olm.v1.crds import definitions
from api.olm.v1.kinds import CATALOG, EXTENSION, OBJECT_SET
from olm_client.diagnosis import facts
from olm_client.diagnosis.facts import Answer, Fact, Lack, Right
from olm_client.diagnosis.findings import Severity, exit_code
from olm_client.diagnosis.programs import CATALOGD, CONTROLLER, Program
from tests.unit.olm_client.diagnosis.snapshots import NOW, obj, of_extension, verdict

WIDGET = GVK("widgets.example.com", "v1", "Widget")
OURS = list(definitions().values())


def widgets(**rest: Any) -> KubeObject:
    """The definition of Widgets."""
    spec = {
        "group": WIDGET.group,
        "names": {"kind": "Widget", "plural": "widgets"},
        "scope": "Namespaced",
        "versions": [{"name": "v1", "storage": True}],
    }
    return obj(facts.DEFINITION, "widgets.widgets.example.com", spec=spec, **rest)


def deployment(name: str, namespace: str, *, working: int = 0, **rest: Any) -> KubeObject:
    return obj(
        facts.DEPLOYMENT,
        name,
        namespace,
        **{"spec": {"replicas": 1}, "status": {"availableReplicas": working}} | rest,
    )


def program(which: Program, namespace: str = "olmv1-system", **rest: Any) -> KubeObject:
    return deployment(which.deployment, namespace, **rest)


def lease(seconds_ago: int, *, duration: int = 15, holder: str = "pod-1_uid") -> KubeObject:
    renewed = NOW.timestamp() - seconds_ago
    text = NOW.fromtimestamp(renewed, NOW.tzinfo).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    spec = {"holderIdentity": holder, "leaseDurationSeconds": duration, "renewTime": text}
    return obj(facts.LEASE, CONTROLLER.lease, "olmv1-system", spec=spec)


# Finalizers

LEAVING = {"finalizers": ["example.com/cleanup"], "labels": {}}


@pytest.mark.parametrize(
    ("since", "workloads", "severity", "why"),
    [
        ("11:59:59", [], Severity.ERROR, "no Deployment of extension hello is there"),
        ("11:59:59", [0], Severity.ERROR, "with 0 of 1 pods working"),
        ("11:59:00", [1], None, ""),
        ("11:50:00", [1], Severity.WARNING, "which works"),
    ],
)
def test_who_holds_a_custom_resource_is_the_extension_of_its_definition(
    since: str, workloads: list[int], severity: Severity | None, why: str
) -> None:
    stuck = obj(
        WIDGET, "one", "apps", leaving=f"2026-05-01T{since}Z", finalizers=["example.com/cleanup"]
    )
    labels = of_extension("hello")
    running = [deployment(f"d{n}", "hello", working=n, labels=labels) for n in workloads]
    found = verdict(
        "deletions",
        {
            Fact.STUCK: [stuck],
            Fact.DEFINITIONS: [widgets(labels=labels)],
            Fact.DEPLOYMENTS: running,
        },
    )
    assert [each.severity for each in found.findings] == ([severity] if severity else [])
    assert all(why in each.why for each in found.findings)


def test_of_an_unknown_controller_the_field_manager_is_named() -> None:
    stuck = obj(
        WIDGET, "one", "apps", leaving="2026-05-01T11:59:00Z", finalizers=["a.com/x", "b.com/y"]
    )
    fields: Any = {"f:metadata": {"f:finalizers": {".": {}, 'v:"a.com/x"': {}}}}
    stuck["metadata"]["managedFields"] = [
        {"manager": "widget-operator", "time": "2026-04-01T00:00:00Z", "fieldsV1": fields}
    ]
    [finding] = verdict("deletions", {Fact.STUCK: [stuck], Fact.DEFINITIONS: [widgets()]}).findings
    assert "field manager widget-operator at 2026-04-01T00:00:00Z" in finding.why
    assert "who set it is not known" in finding.why
    [command] = finding.remedies[-1].commands
    assert command == (
        "kubectl patch widget.widgets.example.com one --namespace apps --type=merge "
        """--patch '{"metadata":{"finalizers":null}}'"""
    )


def test_a_finalizer_of_a_controller_that_works_stays() -> None:
    stuck = obj(
        CATALOG,
        "one",
        leaving="2026-05-01T11:59:00Z",
        finalizers=[names.FINALIZER_DELETE_SERVER_CACHE, "example.com/keep"],
    )
    running = [program(CATALOGD, working=1)]
    [finding] = verdict("deletions", {Fact.CATALOGS: [stuck], Fact.DEPLOYMENTS: running}).findings
    assert names.FINALIZER_DELETE_SERVER_CACHE not in finding.message
    finalizers = f'"finalizers":["{names.FINALIZER_DELETE_SERVER_CACHE}"]'
    assert finalizers in finding.remedies[-1].commands[0]


def test_finalizers_of_kubernetes_are_its_own_business() -> None:
    stuck = obj(
        WIDGET, "one", "apps", leaving="2026-05-01T00:00:00Z", finalizers=["foregroundDeletion"]
    )
    assert not verdict("deletions", {Fact.STUCK: [stuck]}).findings


# Programs


@pytest.mark.parametrize(
    ("held", "workloads", "found"),
    [
        (lease(1), [], 0),  # outside the cluster
        (lease(300, duration=7200), [], 1),  # outside, and not renewed
        (lease(1), [program(CONTROLLER)], 1),  # in the cluster, and there is no such pod
        (lease(300), [program(CONTROLLER)], 0),  # has ended, and nobody runs who would take it
        (lease(300), [program(CONTROLLER, working=1)], 1),  # and somebody runs and does not
        (lease(1, holder=""), [], 0),  # released
    ],
)
def test_a_lease_of_a_pod_that_is_gone(
    held: KubeObject, workloads: list[KubeObject], found: int
) -> None:
    said = verdict("leader", {Fact.LEASES: [held], Fact.DEPLOYMENTS: workloads})
    assert len(said.findings) == found
    pod = obj(facts.POD, "pod-1", "olmv1-system")
    there = verdict("leader", {Fact.LEASES: [held, pod], Fact.DEPLOYMENTS: workloads})
    assert not there.findings


def test_without_deployment_and_lease_it_is_an_error_only_if_somebody_waits() -> None:
    known = {Fact.DEFINITIONS: OURS, Fact.LEASES: [lease(1)]}
    [finding] = verdict("programs", known).findings
    assert finding.severity is Severity.WARNING
    assert finding.message.startswith("catalogd is not in the cluster")
    waiting = obj(CATALOG, "new")
    [finding] = verdict("programs", {**known, Fact.CATALOGS: [waiting]}).findings
    assert finding.severity is Severity.ERROR
    assert "ClusterCatalog new waits for it" in finding.message


def test_a_program_that_is_scaled_down_is_started() -> None:
    down = program(CONTROLLER, spec={"replicas": 0})
    up = program(CATALOGD, working=2)
    found = verdict("programs", {Fact.DEFINITIONS: OURS, Fact.DEPLOYMENTS: [down, up]})
    [finding] = found.findings
    assert finding.remedies[0].commands == (
        (
            "kubectl scale deployment operator-controller-controller-manager "
            "--namespace olmv1-system --replicas=1"
        ),
    )


def test_a_definition_without_a_field_is_reported() -> None:
    old = [dict(each) for each in definitions().values()]
    extension = next(d for d in old if d["metadata"]["name"].startswith("clusterextensions"))
    spec = extension["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    del spec["properties"]["progressDeadlineMinutes"]
    chart = program(CONTROLLER, working=1, labels={"helm.sh/chart": "olmv1-0.1.0"})
    found = verdict("versions", {Fact.DEFINITIONS: old, Fact.DEPLOYMENTS: [chart]})
    assert ["lacks .spec.progressDeadlineMinutes" in f.message for f in found.findings] == [True]
    upstream = program(CONTROLLER, working=1)
    assert not verdict("versions", {Fact.DEFINITIONS: old, Fact.DEPLOYMENTS: [upstream]}).findings


# What cannot be seen


def test_what_cannot_be_seen_is_never_well() -> None:
    lack = Lack("objects of kind ClusterExtension could not be read", "you lack the right to list")
    orphan = obj(facts.CONFIG_MAP, "c", "n", labels=of_extension("hello"))
    found = verdict("leftovers", {Fact.OWNED: [orphan]}, {Fact.EXTENSIONS: [lack]})
    assert [(f.severity, f.why) for f in found.findings] == [(Severity.UNKNOWN, lack.why)]
    assert found.well == ""
    assert exit_code([found]) == 2


def test_what_a_check_merely_uses_does_not_keep_it_from_finding() -> None:
    lack = Lack("objects of kind Secret could not be read", "you lack the right to list")
    orphan = obj(facts.CONFIG_MAP, "c", "n", labels=of_extension("hello"))
    found = verdict("leftovers", {Fact.OWNED: [orphan]}, {Fact.OWNED: [lack]})
    assert [f.severity for f in found.findings] == [Severity.WARNING, Severity.UNKNOWN]


@pytest.mark.parametrize(
    ("answer", "severity"),
    [
        (Answer("c", "https://c", 200), None),
        (Answer("c", "https://c", 404), Severity.ERROR),
        (Answer("c", "https://c", 503, proxied=True), Severity.ERROR),
        (Answer("c", "https://c", 403, proxied=True), Severity.UNKNOWN),
        (Answer("c", "https://c", fault="x509", untrusted=True), Severity.UNKNOWN),
        (Answer("c", "https://c", fault="refused"), Severity.ERROR),
    ],
)
def test_answers_of_catalogd(answer: Answer, severity: Severity | None) -> None:
    found = verdict("catalogd", {}, answers=[answer])
    assert [f.severity for f in found.findings] == ([severity] if severity else [])


def test_rights_that_are_missing_are_granted_together() -> None:
    lacking = [
        Right(verb, "clusterextensions.olm.operatorframework.io", "", False, "olm install")
        for verb in ("create", "patch")
    ]
    there = Right("list", "clustercatalogs.olm.operatorframework.io", "", True, "olm status")
    [finding] = verdict("rights", {}, rights=[*lacking, there], user="jane").findings
    assert finding.remedies[0].commands == (
        (
            "kubectl create clusterrole olm-user-clusterextensions --verb=create,patch "
            "--resource=clusterextensions.olm.operatorframework.io"
        ),
        (
            "kubectl create clusterrolebinding olm-user-clusterextensions "
            "--clusterrole=olm-user-clusterextensions --user=jane"
        ),
    )


# Objects


@pytest.mark.parametrize(
    ("expected", "healthy", "found"), [(1, 1, 1), (2, 1, 0), (2, 2, 1), (0, 0, 0)]
)
def test_a_budget_that_lets_no_pod_go(expected: int, healthy: int, found: int) -> None:
    budget = obj(
        facts.BUDGET,
        "b",
        "olmv1-system",
        status={"expectedPods": expected, "desiredHealthy": healthy},
    )
    other = obj(facts.BUDGET, "b", "apps", status={"expectedPods": 1, "desiredHealthy": 1})
    known = {Fact.BUDGETS: [budget, other], Fact.DEPLOYMENTS: [program(CATALOGD)]}
    assert len(verdict("disruption-budgets", known).findings) == found


def test_rights_that_nobody_uses_are_leftovers() -> None:
    subjects = [{"kind": "ServiceAccount", "namespace": "hello", "name": "hello-installer"}]
    binding = obj(facts.CLUSTER_ROLE_BINDING, "hello-installer", subjects=subjects)
    [finding] = verdict("leftovers", {Fact.BINDINGS: [binding]}).findings
    assert "service account hello/hello-installer still has the rights" in finding.message
    spec = {"namespace": "hello", "serviceAccount": {"name": "hello-installer"}}
    user = obj(EXTENSION, "hello", spec=spec)
    known = {Fact.BINDINGS: [binding], Fact.EXTENSIONS: [user]}
    assert not verdict("leftovers", known).findings


def test_an_immutable_field_is_reported_with_its_command() -> None:
    message = (
        "Deployment apps/d cannot be changed to what it is to be: field is immutable\n"
        "hint: delete it, and it is made anew at once (its pods are stopped and started anew): "
        "kubectl delete deployment.apps d --namespace apps"
    )
    progressing = {"type": "Progressing", "status": "False", "reason": "Blocked"}
    revision = obj(
        OBJECT_SET,
        "hello-2",
        labels=of_extension("hello"),
        status={"conditions": [{**progressing, "message": message}]},
    )
    [finding] = verdict("revisions", {Fact.OBJECT_SETS: [revision]}).findings
    commands = [command for remedy in finding.remedies for command in remedy.commands]
    assert commands[0] == "kubectl delete deployment.apps d --namespace apps"
    assert commands[-1] == "olm status hello"
