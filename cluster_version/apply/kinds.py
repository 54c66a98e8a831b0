"""The merge of each kind that has one of its own.

Source of the rules: upstream's notes, section 10.2.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from api.objects import GVK, KubeObject, annotations_of
from api.openshift.config.v1.kinds import CLUSTER_OPERATOR
from cluster_version.apply.pod_template import POD_TEMPLATE
from cluster_version.apply.rules import (
    METADATA,
    Rule,
    default,
    each,
    exactly,
    if_set,
    keys,
    struct,
)
from cluster_version.names import INJECT_CA_BUNDLE
from olm_content.kube_types.go_types import ShapeError
from olm_content.kube_types.typed_json import typed_json
from olm_runtime.errors import TerminalError

RBAC_GROUP = "rbac.authorization.k8s.io"


@dataclass(frozen=True, slots=True)
class Kind:
    """How objects of a kind are read, by the name of their type, and what their merge does."""

    type_name: str
    rule: Rule

    def read(self, obj: KubeObject) -> KubeObject:
        """The object without status, as its type writes it. Raises TerminalError."""
        try:
            shown = typed_json(self.type_name, _without(obj, "status"))
        except ShapeError as error:
            raise TerminalError(f"{self.type_name} cannot be read: {error}") from error
        return _without(shown, "status")


def _without(obj: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in obj.items() if name != key}


# --- services and rights ---------------------------------------------------------------------


def _service_port(live: Any, wanted: Any) -> Any:
    target = wanted.get("targetPort") or wanted["port"]
    return exactly(live, {"protocol": "TCP", **wanted, "targetPort": target})


_SERVICE = struct(
    ports=each("name", _service_port),
    type=default("ClusterIP"),
    selector=exactly,
)


def _role_reference(live: Any, wanted: Any) -> Any:
    return exactly(live, {**wanted, "apiGroup": wanted["apiGroup"] or RBAC_GROUP})


_CLUSTER_ROLE = struct(metadata=METADATA, rules=exactly, aggregationRule=exactly)
_AGGREGATE = struct(metadata=METADATA, aggregationRule=exactly)


def _cluster_role(live: Any, wanted: Any) -> Any:
    """The rules of one that aggregates others are the controller's."""
    return (_AGGREGATE if "aggregationRule" in wanted else _CLUSTER_ROLE)(live, wanted)


_ROLE = struct(metadata=METADATA, rules=exactly)
_BINDING = struct(metadata=METADATA, subjects=exactly, roleRef=_role_reference)


# --- workloads -------------------------------------------------------------------------------

ROLLING, QUARTER = "RollingUpdate", "25%"


def _strategy(live: Any, wanted: Any) -> Any:
    strategy = {"type": ROLLING, **(wanted or {})}
    if strategy["type"] == ROLLING:
        steps = {"maxUnavailable": QUARTER, "maxSurge": QUARTER}
        strategy["rollingUpdate"] = {**steps, **(strategy.get("rollingUpdate") or {})}
    return exactly(live, strategy)


_DEPLOYMENT = struct(
    replicas=default(1),
    selector=exactly,
    paused=exactly,
    minReadySeconds=exactly,
    revisionHistoryLimit=if_set,
    progressDeadlineSeconds=if_set,
    strategy=_strategy,
    template=POD_TEMPLATE,
)

_JOB = struct(
    parallelism=exactly,
    completions=exactly,
    activeDeadlineSeconds=exactly,
    backoffLimit=default(6),
    manualSelector=exactly,
    ttlSecondsAfterFinished=exactly,
    suspend=default(False),
    completionMode=default("NonIndexed"),
    podFailurePolicy=exactly,
    template=POD_TEMPLATE,
)


def _job(live: Any, wanted: Any) -> Any:
    """Raises TerminalError for a selector, which the API server makes."""
    if "selector" in (wanted or {}):
        raise TerminalError("spec.selector is not supported in Job manifests")
    return _JOB(live, wanted)


_CRON_JOB = struct(
    schedule=exactly,
    timeZone=exactly,
    startingDeadlineSeconds=exactly,
    concurrencyPolicy=default("Allow"),
    suspend=default(False),
    successfulJobsHistoryLimit=default(3),
    failedJobsHistoryLimit=default(1),
    jobTemplate=struct(metadata=METADATA, spec=_job),
)


# --- what extends the API --------------------------------------------------------------------


def _is_injected(live: Any, wanted: Any) -> bool:
    return (annotations_of(live) | annotations_of(wanted)).get(INJECT_CA_BUNDLE) == "true"


def _with_bundle(client: dict[str, Any], bundle: str | None) -> dict[str, Any]:
    own = _without(client, "caBundle")
    return own if bundle is None else {**own, "caBundle": bundle}


def _definition(live: Any, wanted: Any) -> Any:
    spec = dict(wanted["spec"])
    kind = spec["names"]["kind"]
    spec["names"] = {"singular": kind.lower(), "listKind": f"{kind}List", **spec["names"]}
    client = _conversion_client(spec)
    live_client = _conversion_client(live["spec"])
    is_webhook = (spec.get("conversion") or {}).get("strategy") == "Webhook"
    if is_webhook and client is not None and live_client is not None and _is_injected(live, wanted):
        webhook = {
            **spec["conversion"]["webhook"],
            "clientConfig": _with_bundle(client, live_client.get("caBundle")),
        }
        spec["conversion"] = {**spec["conversion"], "webhook": webhook}
    return struct(metadata=METADATA, spec=exactly)(live, {**wanted, "spec": spec})


def _conversion_client(spec: dict[str, Any]) -> dict[str, Any] | None:
    webhook = (spec.get("conversion") or {}).get("webhook") or {}
    client: dict[str, Any] | None = webhook.get("clientConfig")
    return client


_WEBHOOK_DEFAULTS: Mapping[str, Any] = {
    "failurePolicy": "Fail",
    "matchPolicy": "Equivalent",
    "namespaceSelector": {},
    "objectSelector": {},
    "timeoutSeconds": 10,
}


def _webhook_configuration(live: Any, wanted: Any) -> Any:
    """One bundle is in all webhooks of a configuration."""
    webhooks = [_webhook(webhook) for webhook in wanted.get("webhooks") or ()]
    before = live.get("webhooks")
    if before and _is_injected(live, wanted):
        bundle = before[0]["clientConfig"].get("caBundle")
        webhooks = [
            {**webhook, "clientConfig": _with_bundle(webhook["clientConfig"], bundle)}
            for webhook in webhooks
        ]
    merge = struct(metadata=METADATA, webhooks=exactly)
    return merge(live, {**wanted, "webhooks": webhooks or None})


def _webhook(webhook: dict[str, Any]) -> dict[str, Any]:
    filled = {**_WEBHOOK_DEFAULTS, **webhook}
    if "rules" in filled:
        filled["rules"] = [{"scope": "*", **rule} for rule in filled["rules"]]
    return filled


# --- OpenShift's and OLM's -------------------------------------------------------------------


def _import_policy(live: Any, wanted: Any) -> Any:
    return exactly(live, {"importMode": "Legacy", **(wanted or {})})


_TAG = struct(**{"importPolicy": _import_policy, "from": exactly})

_IMAGE_STREAM = struct(lookupPolicy=exactly, tags=each("name", _TAG, others_stay=True))

_SECURITY_CONTEXT_CONSTRAINTS = struct(
    metadata=METADATA,
    priority=exactly,
    allowPrivilegedContainer=exactly,
    defaultAddCapabilities=exactly,
    requiredDropCapabilities=exactly,
    allowedCapabilities=exactly,
    allowHostDirVolumePlugin=exactly,
    volumes=exactly,
    allowedFlexVolumes=exactly,
    allowHostNetwork=exactly,
    allowHostPorts=exactly,
    allowHostPID=exactly,
    allowHostIPC=exactly,
    defaultAllowPrivilegeEscalation=exactly,
    seLinuxContext=exactly,
    runAsUser=exactly,
    fsGroup=exactly,
    supplementalGroups=exactly,
    readOnlyRootFilesystem=exactly,
    users=exactly,
    groups=exactly,
    seccompProfiles=exactly,
    allowedUnsafeSysctls=exactly,
    forbiddenSysctls=exactly,
    allowPrivilegeEscalation=default(True),
)

_OPERATOR_GROUP = struct(
    selector=exactly,
    targetNamespaces=exactly,
    serviceAccountName=if_set,
    staticProvidedAPIs=exactly,
    upgradeStrategy=default("Default"),
)


# --- all of them -----------------------------------------------------------------------------


def _with_spec(rule: Rule) -> Rule:
    return struct(metadata=METADATA, spec=rule)


KINDS: Mapping[GVK, Kind] = {
    GVK(group, "v1", name): Kind(name, rule)
    for group, name, rule in (
        ("", "Namespace", struct(metadata=METADATA)),
        ("", "ConfigMap", struct(metadata=METADATA, data=keys, binaryData=keys)),
        ("", "ServiceAccount", struct(metadata=METADATA, automountServiceAccountToken=exactly)),
        ("", "Service", _with_spec(_SERVICE)),
        (RBAC_GROUP, "Role", _ROLE),
        (RBAC_GROUP, "RoleBinding", _BINDING),
        (RBAC_GROUP, "ClusterRole", _cluster_role),
        (RBAC_GROUP, "ClusterRoleBinding", _BINDING),
        ("apps", "Deployment", _with_spec(_DEPLOYMENT)),
        ("apps", "DaemonSet", _with_spec(struct(selector=exactly, template=POD_TEMPLATE))),
        ("batch", "Job", _with_spec(_job)),
        ("batch", "CronJob", _with_spec(_CRON_JOB)),
        ("apiextensions.k8s.io", "CustomResourceDefinition", _definition),
        (
            "admissionregistration.k8s.io",
            "ValidatingWebhookConfiguration",
            _webhook_configuration,
        ),
        ("image.openshift.io", "ImageStream", _with_spec(_IMAGE_STREAM)),
        (
            "security.openshift.io",
            "SecurityContextConstraints",
            _SECURITY_CONTEXT_CONSTRAINTS,
        ),
        ("operators.coreos.com", "OperatorGroup", _with_spec(_OPERATOR_GROUP)),
        (CLUSTER_OPERATOR.group, CLUSTER_OPERATOR.kind, struct(metadata=METADATA)),
    )
}
"""Kinds whose objects are merged; all others are replaced as a whole."""
