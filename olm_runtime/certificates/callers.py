"""CA bundles in objects that call webhooks: configurations and conversions. Pure."""

import base64
from typing import Any

from api.objects import CRD_KIND, KubeObject

WEBHOOK_KINDS = frozenset({"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"})


def trusting(obj: KubeObject, authorities: bytes) -> KubeObject:
    """The object with the CAs (PEM) in all its webhooks; itself if it calls none."""
    bundle = base64.b64encode(authorities).decode()
    if obj["kind"] in WEBHOOK_KINDS:
        webhooks = [_with_bundle(webhook, bundle) for webhook in obj.get("webhooks") or ()]
        return {**obj, "webhooks": webhooks}
    conversion = obj["spec"].get("conversion") or {} if obj["kind"] == CRD_KIND else {}
    if not conversion.get("webhook"):
        return obj
    webhook = _with_bundle(conversion["webhook"], bundle)
    return {**obj, "spec": {**obj["spec"], "conversion": {**conversion, "webhook": webhook}}}


def _with_bundle(caller: dict[str, Any], bundle: str) -> dict[str, Any]:
    return {**caller, "clientConfig": {**caller["clientConfig"], "caBundle": bundle}}
