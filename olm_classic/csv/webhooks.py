"""What the webhooks of a ClusterServiceVersion may not be asked about."""

from collections.abc import Mapping, Sequence
from typing import Any

from api.operators.names import GROUP

ADMISSION_GROUP = "admissionregistration.k8s.io"
ADMISSION_RESOURCES = frozenset(
    {"*", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}
)


def invalid_webhooks(descriptions: Sequence[Mapping[str, Any]]) -> str:
    """Why they are refused, in the words of the status; empty if they are not."""
    names = [description["generateName"] for description in descriptions]
    if len(set(names)) < len(names):
        return "CSV contains repeated WebhookDescription name"
    rules = [rule for each in descriptions for rule in each.get("rules") or ()]
    return next((problem for rule in rules if (problem := _invalid_rule(rule))), "")


def _invalid_rule(rule: Mapping[str, Any]) -> str:
    groups = rule.get("apiGroups") or ()
    if "*" in groups:
        return "webhook rules cannot include all groups"
    if GROUP in groups:
        return "webhook rules cannot include the OLM group"
    if ADMISSION_GROUP in groups and not ADMISSION_RESOURCES.isdisjoint(
        rule.get("resources") or ()
    ):
        return (
            "webhook rules cannot include MutatingWebhookConfiguration or "
            "ValidatingWebhookConfiguration resources"
        )
    return ""
