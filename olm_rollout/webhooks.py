"""Webhook configurations, and which of their webhooks refuse everything because nobody answers."""

import re
from collections.abc import Iterable
from typing import Any

from api.objects import GVK, KubeObject, gvk_of

CONFIGURATIONS = tuple(
    GVK("admissionregistration.k8s.io", "v1", f"{what}WebhookConfiguration")
    for what in ("Validating", "Mutating")
)

_FAILED = re.compile(r'failed calling webhook "([^"]+)"')
"""The API server's words when a webhook with `failurePolicy: Fail` cannot be called.

One that answers no denies a request, which is something else.
"""


def is_configuration(obj: KubeObject) -> bool:
    """Whether an object configures admission webhooks, in whichever version."""
    gvk = gvk_of(obj)
    return any((gvk.group, gvk.kind) == (each.group, each.kind) for each in CONFIGURATIONS)


def uncallable(message: str) -> frozenset[str]:
    """The webhooks that could not be called, by an error of the API server."""
    return frozenset(_FAILED.findall(message))


def configures(obj: KubeObject, webhooks: Iterable[str]) -> bool:
    """Whether one of these webhooks is in a configuration."""
    entries: Iterable[dict[str, Any]] = obj.get("webhooks") or ()
    return not {entry.get("name") for entry in entries}.isdisjoint(webhooks)
