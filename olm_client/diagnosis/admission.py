"""Which requests a webhook is asked about, as the API server decides it. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from api.metadata import LabelSelector, LabelSelectorRequirement
from api.objects import KubeObject, labels_of
from olm_client.diagnosis.facts import NAMESPACE, Fact, Snapshot
from olm_client.diagnosis.references import pod_labels
from olm_content.selectors import selects


@dataclass(frozen=True, slots=True)
class Attempt:
    """A request that is needed for a workload to run: a resource, and the labels of the object.

    Labels are None where they are not known.
    """

    group: str
    resource: str
    operation: str
    labels: Mapping[str, str] | None = None


def needed_by(workload: KubeObject) -> tuple[Attempt, ...]:
    """The requests without which no pod of a Deployment works."""
    return (
        Attempt("", "pods", "CREATE", pod_labels(workload)),
        Attempt("apps", "replicasets", "CREATE", pod_labels(workload)),
        Attempt("apps", "deployments", "UPDATE", labels_of(workload)),
        Attempt("discovery.k8s.io", "endpointslices", "CREATE"),
    )


def blocks(
    snapshot: Snapshot, webhook: Mapping[str, Any], namespace: str, workload: KubeObject
) -> Attempt | None:
    """The first request of a workload that a webhook is asked about; None if it is not.

    A webhook with `matchConditions` counts as not asked: they are not evaluated here.
    """
    if webhook.get("matchConditions") or not _selects_namespace(snapshot, webhook, namespace):
        return None
    return next((each for each in needed_by(workload) if _matches(webhook, each)), None)


def _matches(webhook: Mapping[str, Any], attempt: Attempt) -> bool:
    selector = webhook.get("objectSelector") or {}
    if selector and (attempt.labels is None or not selects(selector_of(selector), attempt.labels)):
        return False
    return any(_covers(rule, attempt) for rule in webhook.get("rules") or ())


def _covers(rule: Mapping[str, Any], attempt: Attempt) -> bool:
    return (
        _has(rule.get("apiGroups"), attempt.group)
        and _has(rule.get("resources"), attempt.resource, f"{attempt.resource}/*", "*/*")
        and _has(rule.get("operations"), attempt.operation)
        and rule.get("scope") != "Cluster"
    )


def _has(given: Iterable[str] | None, *wanted: str) -> bool:
    return not {"*", *wanted}.isdisjoint(given or ())


def _selects_namespace(snapshot: Snapshot, webhook: Mapping[str, Any], namespace: str) -> bool:
    selector = webhook.get("namespaceSelector") or {}
    found = snapshot.find(Fact.NAMESPACES, NAMESPACE, namespace)
    labels = labels_of(found) if found is not None else {"kubernetes.io/metadata.name": namespace}
    return selects(selector_of(selector), labels)


def selector_of(raw: Mapping[str, Any]) -> LabelSelector:
    """A label selector as the API has it."""
    return LabelSelector(
        match_labels=raw.get("matchLabels") or {},
        match_expressions=tuple(
            LabelSelectorRequirement(
                key=each["key"], operator=each["operator"], values=tuple(each.get("values") or ())
            )
            for each in raw.get("matchExpressions") or ()
        ),
    )


def rules_text(webhook: Mapping[str, Any]) -> str:
    """What a webhook is asked about, in words."""
    rules = webhook.get("rules") or ()
    texts = (
        f"{'/'.join(rule.get('operations') or ())} of {', '.join(rule.get('resources') or ())}"
        for rule in rules
    )
    return "; ".join(texts)


def webhook_of(configuration: KubeObject, number: int) -> Mapping[str, Any]:
    """One of the webhooks of a configuration."""
    found: Mapping[str, Any] = (configuration.get("webhooks") or ())[number]
    return found
