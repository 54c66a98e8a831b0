"""Which of a revision's objects ask for certificates, and the objects with what they asked for.

The annotations are those that the renderer writes for the provider `self`. What is filled in
becomes part of what is applied, so a CA bundle that somebody removes is restored like any field.
"""

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from api.objects import KubeObject, ObjectKey, annotations_of, gvk_of, key_of, name_of, namespace_of
from api.olm.v1 import names
from olm_content.render.certificates import Serving
from olm_rollout.phases import Phase
from operator_controller.certificates.kept import Kept

Where = tuple[str, str]
"""Namespace and name of a Secret."""

WEBHOOK_KINDS = frozenset({"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"})
CRD_KIND = "CustomResourceDefinition"


@dataclass(frozen=True, slots=True)
class Filled:
    """The objects to apply, and what was put into those that asked."""

    phases: tuple[Phase, ...]
    values: Mapping[ObjectKey, Any]


def demands(phases: Sequence[Phase]) -> dict[Where, tuple[str, ...]]:
    """The DNS names to certify, by the Secret that is to hold the certificate.

    A Secret has to be one of the revision's own objects.
    """
    brought = {_where(obj) for obj in _objects(phases) if _is_secret(obj)}
    asked: dict[Where, tuple[str, ...]] = {}
    for obj in _objects(phases):
        secret = annotations_of(obj).get(names.ANNOTATION_SERVING_SECRET)
        where = (namespace_of(obj), secret or "")
        if obj.get("kind") == "Service" and where in brought:
            asked[where] = Serving(name_of(obj), namespace_of(obj)).dns_names
    return asked


def filled(phases: Sequence[Phase], kept: Mapping[Where, Kept]) -> Filled:
    """The phases with certificates in their Secrets and CA bundles in their callers."""
    values: dict[ObjectKey, Any] = {}
    result = []
    for phase in phases:
        objects = tuple(_fill(obj, kept, values) for obj in phase.objects)
        result.append(replace(phase, objects=objects))
    return Filled(tuple(result), values)


def _fill(obj: KubeObject, kept: Mapping[Where, Kept], values: dict[ObjectKey, Any]) -> KubeObject:
    if _is_secret(obj) and _where(obj) in kept:
        data = kept[_where(obj)].data()
        values[key_of(obj)] = data
        return {**obj, "data": data}
    namespace, _, name = annotations_of(obj).get(names.ANNOTATION_INJECT_CA, "").partition("/")
    trusted = kept.get((namespace, name))
    if trusted is None:
        return obj
    bundle = base64.b64encode(trusted.bundle).decode()
    changed = _with_bundle(obj, bundle)
    if changed is not obj:
        values[key_of(obj)] = bundle
    return changed


def _with_bundle(obj: KubeObject, bundle: str) -> KubeObject:
    if obj["kind"] in WEBHOOK_KINDS:
        webhooks = [_trusting(webhook, bundle) for webhook in obj.get("webhooks") or ()]
        return {**obj, "webhooks": webhooks}
    conversion = obj["spec"].get("conversion") or {} if obj["kind"] == CRD_KIND else {}
    if not conversion.get("webhook"):
        return obj
    webhook = _trusting(conversion["webhook"], bundle)
    return {**obj, "spec": {**obj["spec"], "conversion": {**conversion, "webhook": webhook}}}


def _trusting(caller: dict[str, Any], bundle: str) -> dict[str, Any]:
    return {**caller, "clientConfig": {**caller["clientConfig"], "caBundle": bundle}}


def _objects(phases: Sequence[Phase]) -> Iterator[KubeObject]:
    return (obj for phase in phases for obj in phase.objects)


def _is_secret(obj: KubeObject) -> bool:
    gvk = gvk_of(obj)
    return (gvk.group, gvk.kind) == ("", "Secret")


def _where(obj: KubeObject) -> Where:
    return namespace_of(obj), name_of(obj)
