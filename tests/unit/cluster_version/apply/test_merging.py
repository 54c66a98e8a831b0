"""What an object of a manifest is to be on the cluster."""

from copy import deepcopy
from typing import Any

import pytest

from cluster_version.apply.merging import merged
from cluster_version.names import INJECT_CA_BUNDLE
from olm_runtime.errors import TerminalError

Json = dict[str, Any]


def obj(api_version: str, kind: str, /, meta: Json | None = None, **content: Any) -> Json:
    named = {"name": "x", **(meta or {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": named, **content}


def after(live: Json, manifest: Json) -> Json:
    """What is written, which then stays as it is and leaves what it was made of alone."""
    before = deepcopy((live, manifest))
    written = merged(live, manifest)
    assert (live, manifest) == before
    assert merged(written, manifest) is written
    return written


# --- metadata --------------------------------------------------------------------------------


def owner(uid: str, **more: Any) -> Json:
    return {"apiVersion": "v1", "kind": "Owner", "name": uid, "uid": uid, **more}


def test_metadata_of_the_manifest_is_added_and_nothing_is_taken_away() -> None:
    live = obj(
        "v1",
        "Namespace",
        {
            "labels": {"a": "1", "b": "2"},
            "annotations": {"c": "3"},
            "ownerReferences": [owner("1"), owner("2")],
            "finalizers": ["f"],
            "uid": "u",
        },
        status={"phase": "Active"},
    )
    meta = {"labels": {"a": "9"}, "ownerReferences": [owner("2", controller=True), owner("3")]}
    written = after(live, obj("v1", "Namespace", meta))
    assert written["metadata"] == {
        "name": "x",
        "labels": {"a": "9", "b": "2"},
        "annotations": {"c": "3"},
        "ownerReferences": [owner("1"), owner("2", controller=True), owner("3")],
        "finalizers": ["f"],
        "uid": "u",
    }
    assert written["status"] == {"phase": "Active"}


# --- simple kinds ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("live", "manifest", "written"),
    [
        ({"data": {"a": "1", "b": "2"}}, {"data": {"a": "1"}}, None),
        ({"data": {"b": "2"}}, {"data": {"a": "1"}}, {"data": {"a": "1", "b": "2"}}),
        ({}, {"binaryData": {"a": "MQ=="}}, {"binaryData": {"a": "MQ=="}}),
        ({"immutable": True}, {"immutable": False}, None),
        ({}, {"data": {}}, None),
    ],
)
def test_keys_of_a_config_map_are_merged(live: Json, manifest: Json, written: Json | None) -> None:
    check(obj("v1", "ConfigMap", **live), obj("v1", "ConfigMap", **manifest), written)


def check(live: Json, manifest: Json, written: Json | None) -> None:
    """What fields become; None where nothing is written."""
    found = after(live, manifest)
    assert (found is live) == (written is None)
    for field, value in (written or {}).items():
        assert found.get(field) == value


def service(**spec: Any) -> Json:
    return obj("v1", "Service", spec={"type": "ClusterIP", "sessionAffinity": "None", **spec})


HTTPS = {"name": "https", "port": 443, "protocol": "TCP", "targetPort": 443}


@pytest.mark.parametrize(
    ("live", "manifest", "written"),
    [
        ({"ports": [HTTPS]}, {"ports": [{"name": "https", "port": 443}]}, None),
        (
            {"ports": [{**HTTPS, "nodePort": 30000}]},
            {"ports": [{"name": "https", "port": 443}]},
            {"ports": [HTTPS]},
        ),
        (
            {"ports": [{"name": "old", "port": 1}, HTTPS]},
            {"ports": [{"name": "https", "port": 443}]},
            {"ports": [HTTPS]},
        ),
        ({"selector": {"a": "1", "b": "2"}}, {"selector": {"a": "1"}}, {"selector": {"a": "1"}}),
        ({"type": "NodePort"}, {}, {"type": "ClusterIP"}),
        ({"clusterIP": "10.0.0.1"}, {"clusterIP": "None"}, None),
    ],
)
def test_services(live: Json, manifest: Json, written: Json | None) -> None:
    found = after(service(**live), obj("v1", "Service", spec=manifest))
    for field, value in (written or live).items():
        assert found["spec"].get(field) == value


def test_absence_of_the_token_mount_resets_it() -> None:
    live = obj("v1", "ServiceAccount", automountServiceAccountToken=False, secrets=[{"name": "s"}])
    written = after(live, obj("v1", "ServiceAccount"))
    assert "automountServiceAccountToken" not in written
    assert written["secrets"] == [{"name": "s"}]


RBAC = "rbac.authorization.k8s.io/v1"
RULE = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}


def test_rules_and_subjects_are_exactly_those_of_the_manifest() -> None:
    check(obj(RBAC, "Role", rules=[RULE, RULE]), obj(RBAC, "Role", rules=[RULE]), {"rules": [RULE]})
    check(obj(RBAC, "Role", rules=[]), obj(RBAC, "Role"), None)
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}
    live = obj(RBAC, "RoleBinding", subjects=[{"kind": "User", "name": "u"}], roleRef=reference)
    manifest = obj(RBAC, "RoleBinding", roleRef={"kind": "Role", "name": "r"})
    check(live, manifest, {"subjects": None, "roleRef": reference})


def test_rules_of_an_aggregate_are_the_controllers() -> None:
    aggregation = {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}
    live = obj(RBAC, "ClusterRole", rules=[RULE], aggregationRule=aggregation)
    check(live, obj(RBAC, "ClusterRole", rules=[], aggregationRule=aggregation), None)
    check(live, obj(RBAC, "ClusterRole", rules=[]), {"aggregationRule": None, "rules": []})


# --- workloads -------------------------------------------------------------------------------

QUARTERS = {
    "type": "RollingUpdate",
    "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
}
POD = {"dnsPolicy": "ClusterFirst", "terminationGracePeriodSeconds": 30, "restartPolicy": "Always"}


def deployment(pod: Json | None = None, **spec: Any) -> Json:
    live = {"replicas": 1, "strategy": QUARTERS, "progressDeadlineSeconds": 600, **spec}
    return obj("apps/v1", "Deployment", spec={**live, "template": {"spec": {**POD, **(pod or {})}}})


def wanted_deployment(pod: Json | None = None, **spec: Any) -> Json:
    return obj("apps/v1", "Deployment", spec={**spec, "template": {"spec": pod or {}}})


@pytest.mark.parametrize(
    ("live", "manifest", "written"),
    [
        ({}, {}, {}),
        ({"replicas": 5}, {}, {"replicas": 1}),
        ({}, {"replicas": 0}, {"replicas": 0}),
        ({"paused": True}, {}, {"paused": None}),
        ({"minReadySeconds": 5}, {}, {"minReadySeconds": None}),
        ({}, {"progressDeadlineSeconds": 60}, {"progressDeadlineSeconds": 60}),
        ({"revisionHistoryLimit": 3}, {}, {"revisionHistoryLimit": 3}),
        ({}, {"strategy": {"type": "Recreate"}}, {"strategy": {"type": "Recreate"}}),
        (
            {},
            {"strategy": {"rollingUpdate": {"maxSurge": 0}}},
            {
                "strategy": {
                    "type": "RollingUpdate",
                    "rollingUpdate": {"maxSurge": 0, "maxUnavailable": "25%"},
                }
            },
        ),
        ({"selector": {"matchLabels": {"a": "b"}}}, {}, {"selector": None}),
    ],
)
def test_deployments(live: Json, manifest: Json, written: Json) -> None:
    found = after(deployment(**live), wanted_deployment(**manifest))["spec"]
    assert {field: found.get(field) for field in written} == written
    assert "progressDeadlineSeconds" in found


PORT = {"containerPort": 80, "protocol": "TCP"}
PROBE = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}


@pytest.mark.parametrize(
    ("live", "manifest", "written"),
    [
        ({}, {"image": "i"}, {"image": "i"}),
        ({"image": "i"}, {}, {"image": "i"}),
        ({"args": ["a"]}, {}, {"args": None}),
        ({"args": ["a"]}, {"args": []}, {"args": None}),
        ({"env": [{"name": "A"}]}, {}, {"env": None}),
        (
            {"imagePullPolicy": "Always"},
            {"imagePullPolicy": "Never"},
            {"imagePullPolicy": "Always"},
        ),
        ({"lifecycle": {}}, {}, {"lifecycle": {}}),
        ({"ports": [PORT]}, {"ports": [{"containerPort": 80}]}, {"ports": [PORT]}),
        ({"ports": [PORT]}, {}, {"ports": None}),
        (
            {"volumeMounts": [{"name": "a", "mountPath": "/a"}]},
            {"volumeMounts": [{"name": "b", "mountPath": "/a", "readOnly": False}]},
            {"volumeMounts": [{"name": "b", "mountPath": "/a"}]},
        ),
        (
            {"livenessProbe": {"httpGet": {"port": 1, "scheme": "HTTP"}, **PROBE}},
            {"livenessProbe": {"httpGet": {"port": 2}, "periodSeconds": 5}},
            {
                "livenessProbe": {
                    "httpGet": {"port": 2, "scheme": "HTTP"},
                    **PROBE,
                    "periodSeconds": 5,
                }
            },
        ),
        ({"readinessProbe": PROBE}, {}, {"readinessProbe": None}),
        ({"startupProbe": PROBE}, {}, {"startupProbe": PROBE}),
        ({"securityContext": {"privileged": True}}, {}, {"securityContext": None}),
        (
            {"securityContext": {"privileged": True, "procMount": "Default"}},
            {"securityContext": {"runAsUser": 1}},
            {"securityContext": {"procMount": "Default", "runAsUser": 1}},
        ),
        (
            {"securityContext": {"capabilities": {"drop": ["A"], "add": ["C"]}}},
            {"securityContext": {"capabilities": {"drop": ["B"]}}},
            {"securityContext": {"capabilities": {"drop": ["A", "B"], "add": ["C"]}}},
        ),
        (
            {"resources": {"requests": {"cpu": "10m"}, "limits": {"cpu": "1"}}},
            {"resources": {"requests": {"cpu": 0.01}}},
            {"resources": {"requests": {"cpu": "10m"}}},
        ),
    ],
)
def test_containers(live: Json, manifest: Json, written: Json) -> None:
    name = {"name": "c"}
    found = after(
        deployment({"containers": [{**name, **live}]}),
        wanted_deployment({"containers": [{**name, **manifest}]}),
    )
    (container,) = found["spec"]["template"]["spec"]["containers"]
    assert {field: container.get(field) for field in written} == written


def test_containers_keep_the_order_of_the_cluster() -> None:
    live = [{"name": name} for name in ("b", "gone", "a")]
    manifest = [{"name": name} for name in ("a", "b", "new")]
    found = after(deployment({"containers": live}), wanted_deployment({"containers": manifest}))
    containers = found["spec"]["template"]["spec"]["containers"]
    assert [container["name"] for container in containers] == ["b", "a", "new"]


def test_ports_on_the_network_of_the_host_are_those_of_the_container() -> None:
    port = {"name": "p", "containerPort": 80}
    live = deployment({"hostNetwork": True, "containers": [{"name": "c", "ports": [port]}]})
    pod = {"hostNetwork": True, "containers": [{"name": "c", "ports": [port]}]}
    found = after(live, wanted_deployment(pod))
    (container,) = found["spec"]["template"]["spec"]["containers"]
    assert container["ports"] == [{**port, "protocol": "TCP", "hostPort": 80}]


EXISTS = {"key": "k", "operator": "Exists"}


@pytest.mark.parametrize(
    ("live", "manifest", "written"),
    [
        ({"nodeSelector": {"a": "1"}}, {"nodeSelector": {"b": "2"}}, {"a": "1", "b": "2"}),
        ({"tolerations": [EXISTS, EXISTS]}, {"tolerations": [EXISTS]}, [EXISTS]),
        ({"tolerations": [EXISTS, EXISTS]}, {}, [EXISTS, EXISTS]),
        ({"tolerations": [EXISTS]}, {"tolerations": [{"key": "j"}]}, [EXISTS, {"key": "j"}]),
        ({"priority": 5}, {}, None),
        ({"priorityClassName": "p"}, {}, "p"),
        ({"affinity": {"nodeAffinity": {}}}, {}, {"nodeAffinity": {}}),
        (
            {"affinity": {"nodeAffinity": {}}},
            {"affinity": {"podAffinity": {}}},
            {"podAffinity": {}},
        ),
        ({"dnsPolicy": "None"}, {}, "ClusterFirst"),
        ({"terminationGracePeriodSeconds": 5}, {}, 30),
        ({"terminationGracePeriodSeconds": 5}, {"terminationGracePeriodSeconds": 0}, 0),
        ({"hostNetwork": True}, {}, None),
        ({"securityContext": {}}, {}, {}),
        ({"securityContext": {"fsGroup": 1}}, {}, None),
        (
            {"securityContext": {"supplementalGroups": [1], "fsGroup": 1}},
            {"securityContext": {"supplementalGroups": [2]}},
            {"supplementalGroups": [1, 2]},
        ),
        (
            {"securityContext": {"sysctls": [{"name": "a", "value": "1"}]}},
            {"securityContext": {"sysctls": [{"name": "a", "value": "2"}]}},
            {"sysctls": [{"name": "a", "value": "2"}]},
        ),
        ({"schedulerName": "own"}, {"schedulerName": "other"}, "own"),
    ],
)
def test_pods(live: Json, manifest: Json, written: Any) -> None:
    (field,) = live
    found = after(deployment(live), wanted_deployment(manifest))
    assert found["spec"]["template"]["spec"].get(field) == written


@pytest.mark.parametrize(
    ("manifest", "written"),
    [
        ({}, {"emptyDir": {}}),
        ({"secret": {"secretName": "s"}}, {"secret": {"secretName": "s", "defaultMode": 420}}),
        ({"configMap": {"defaultMode": 0}}, {"configMap": {"defaultMode": 0}}),
        ({"hostPath": {"path": "/"}}, {"hostPath": {"path": "/", "type": ""}}),
        (
            {"projected": {"sources": [{"serviceAccountToken": {"path": "t"}}, {"secret": {}}]}},
            {
                "projected": {
                    "defaultMode": 420,
                    "sources": [
                        {"serviceAccountToken": {"path": "t", "expirationSeconds": 3600}},
                        {"secret": {}},
                    ],
                }
            },
        ),
    ],
)
def test_volumes_have_the_defaults_of_their_sources(manifest: Json, written: Json) -> None:
    old = [{"name": "gone", "emptyDir": {}}]
    wanted = wanted_deployment({"volumes": [{"name": "v", **manifest}]})
    found = after(deployment({"volumes": old}), wanted)
    assert found["spec"]["template"]["spec"]["volumes"] == [{"name": "v", **written}]


def test_what_the_api_server_writes_of_nothing_is_no_difference() -> None:
    claim = {"spec": {"accessModes": ["ReadWriteOnce"]}}
    shown = {"metadata": {"creationTimestamp": None}, "spec": {**claim["spec"], "resources": {}}}
    live = deployment({"volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": shown}}]})
    pod = {"volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": claim}}]}
    assert merged(live, wanted_deployment(pod)) is live


def test_update_strategies_of_daemon_sets_are_left_alone() -> None:
    spec = {"updateStrategy": {"type": "OnDelete"}, "template": {"spec": POD}}
    live = obj("apps/v1", "DaemonSet", spec=spec)
    check(live, obj("apps/v1", "DaemonSet", spec={}), None)


JOB = {"backoffLimit": 6, "suspend": False, "completionMode": "NonIndexed"}


def test_jobs_have_defaults_and_no_selector() -> None:
    spec = {**JOB, "suspend": True, "template": {"spec": POD}, "selector": {}}
    live = obj("batch/v1", "Job", spec=spec)
    found = after(live, obj("batch/v1", "Job", spec={"parallelism": 2}))["spec"]
    assert found["suspend"] is False
    assert found["parallelism"] == 2
    assert found["selector"] == {}
    with pytest.raises(TerminalError, match="selector is not supported"):
        merged(live, obj("batch/v1", "Job", spec={"selector": {}}))


def test_cron_jobs_have_defaults() -> None:
    live = obj("batch/v1", "CronJob", spec={"schedule": "@daily", "suspend": True})
    found = after(live, obj("batch/v1", "CronJob", spec={"schedule": "@weekly"}))["spec"]
    template = found.pop("jobTemplate")["spec"]
    assert found == {
        "schedule": "@weekly",
        "suspend": False,
        "concurrencyPolicy": "Allow",
        "successfulJobsHistoryLimit": 3,
        "failedJobsHistoryLimit": 1,
    }
    assert JOB.items() <= template.items()


# --- what extends the API --------------------------------------------------------------------


def definition(meta: Json | None = None, **spec: Any) -> Json:
    names = {"kind": "Foo", "plural": "foos"}
    return obj(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        meta,
        spec={"group": "x.y", "scope": "Cluster", "versions": [], "names": names, **spec},
    )


NAMES = {"kind": "Foo", "plural": "foos", "singular": "foo", "listKind": "FooList"}
INJECTED = {"annotations": {INJECT_CA_BUNDLE: "true"}}


def conversion(bundle: str | None) -> Json:
    client = {"caBundle": bundle} if bundle else {}
    webhook = {"clientConfig": client, "conversionReviewVersions": ["v1"]}
    return {"conversion": {"strategy": "Webhook", "webhook": webhook}}


def test_definitions_are_those_of_the_manifest_with_the_names_made_of_the_kind() -> None:
    assert after(live := definition(names=NAMES), definition()) is live
    none = {"conversion": {"strategy": "None"}}
    found = after(definition(names=NAMES, **none), definition())
    assert "conversion" not in found["spec"]


@pytest.mark.parametrize(
    ("meta", "live", "manifest", "bundle"),
    [
        (INJECTED, "Yw==", None, "Yw=="),
        (INJECTED, "Yw==", "bQ==", "Yw=="),
        (INJECTED, None, "bQ==", None),
        ({}, "Yw==", "bQ==", "bQ=="),
    ],
)
def test_an_injected_bundle_of_a_definition_stays(
    meta: Json, live: str | None, manifest: str | None, bundle: str | None
) -> None:
    found = after(
        definition(names=NAMES, **conversion(live)), definition(meta, **conversion(manifest))
    )
    assert found["spec"]["conversion"]["webhook"]["clientConfig"].get("caBundle") == bundle


def webhooks(meta: Json, *hooks: Json) -> Json:
    kind = "ValidatingWebhookConfiguration"
    return obj("admissionregistration.k8s.io/v1", kind, meta, webhooks=list(hooks))


def test_webhooks_are_those_of_the_manifest_with_defaults_and_the_injected_bundle() -> None:
    live = webhooks(INJECTED, {"name": "old", "clientConfig": {"caBundle": "Yw=="}})
    rules = [{"operations": ["CREATE"]}]
    found = after(live, webhooks({}, {"name": "a", "clientConfig": {}, "rules": rules}))
    (hook,) = found["webhooks"]
    assert {field: value for field, value in hook.items() if value is not None} == {
        "name": "a",
        "clientConfig": {"caBundle": "Yw=="},
        "rules": [{"operations": ["CREATE"], "scope": "*"}],
        "failurePolicy": "Fail",
        "matchPolicy": "Equivalent",
        "namespaceSelector": {},
        "objectSelector": {},
        "timeoutSeconds": 10,
    }


# --- OpenShift's and OLM's -------------------------------------------------------------------


def stream(*tags: Json) -> Json:
    return obj("image.openshift.io/v1", "ImageStream", spec={"tags": list(tags)})


def test_tags_of_image_streams_are_added_and_others_stay() -> None:
    source = {"kind": "DockerImage", "name": "new"}
    live = stream(
        {"name": "own"}, {"name": "a", "annotations": {"k": "v"}, "from": {"name": "old"}}
    )
    added = {"name": "b", "from": source, "importPolicy": {"importMode": "Legacy"}}
    found = after(live, stream({"name": "a", "from": source}, added))
    own, changed, new = found["spec"]["tags"]
    assert (own["name"], new["name"], new["from"]) == ("own", "b", source)
    assert changed["annotations"] == {"k": "v"}
    assert changed["from"] == source
    assert changed["importPolicy"] == {"importMode": "Legacy"}


def constraints(**content: Any) -> Json:
    return obj("security.openshift.io/v1", "SecurityContextConstraints", **content)


def test_security_context_constraints() -> None:
    live = constraints(allowPrivilegeEscalation=True, groups=[], fsGroup={}, users=["a"])
    assert after(live, constraints(users=["a"])) is live
    found = after(constraints(users=["a", "b"], priority=5), constraints(users=["a"]))
    assert found["users"] == ["a"]
    assert found["allowPrivilegeEscalation"] is True
    assert "priority" not in found


def test_operator_groups_upgrade_by_default() -> None:
    group = "operators.coreos.com/v1"
    spec = {"targetNamespaces": ["a", "b"], "serviceAccountName": "s", "staticProvidedAPIs": True}
    live = obj(group, "OperatorGroup", spec=spec)
    found = after(live, obj(group, "OperatorGroup", spec={"targetNamespaces": ["a"]}))
    assert found["spec"] == {
        "targetNamespaces": ["a"],
        "serviceAccountName": "s",
        "upgradeStrategy": "Default",
    }


def test_status_of_cluster_operators_is_their_own() -> None:
    group = "config.openshift.io/v1"
    live = obj(group, "ClusterOperator", spec={}, status={"versions": [1]})
    assert after(live, obj(group, "ClusterOperator", status={"versions": []})) is live
    written = after(live, obj(group, "ClusterOperator", {"labels": {"a": "b"}}))
    assert written["status"] == {"versions": [1]}
    assert written["spec"] == {}


# --- everything else -------------------------------------------------------------------------

OWN = {"labels": {"own": "1"}, "annotations": {"own": "1"}, "uid": "u"}


def foo(meta: Json | None = None, **content: Any) -> Json:
    return obj("x.y/v1", "Foo", meta, **content)


def test_fields_of_other_kinds_are_exactly_those_of_the_manifest() -> None:
    live = foo(OWN, spec={"a": 1, "extra": 2}, status={"s": 1})
    manifest = foo({"labels": {"l": "1"}}, spec={"a": 1}, status={"s": 2})
    meta = {"labels": {"l": "1"}, "uid": "u"}
    assert after(live, manifest) == foo(meta, spec={"a": 1}, status={"s": 1})


def test_metadata_of_other_kinds_alone_is_no_difference() -> None:
    live = foo(OWN, spec={"a": 1})
    assert after(live, foo({"labels": {"l": "1"}}, spec={"a": 1})) is live


def test_a_field_that_only_the_cluster_has_stays_and_is_not_written_again() -> None:
    live = foo(OWN, spec={"a": 1}, extra=1)
    assert after(live, foo({"labels": {"l": "1"}}, spec={"a": 1}))["extra"] == 1


def test_a_manifest_of_the_wrong_shape_is_reported() -> None:
    with pytest.raises(TerminalError, match=r"Deployment cannot be read: spec\.replicas"):
        merged(deployment(), wanted_deployment(replicas="many"))
