"""Webhook configurations, converted definitions, and the services that webhooks answer on."""

import re
from collections.abc import Iterator
from typing import Any

from api.objects import KubeObject, annotations_of, metadata, name_of
from olm_content.bundle.model import Webhook, WebhookType
from olm_content.render.certificates import serving_of
from olm_content.render.context import Context
from olm_content.render.options import RenderError

DEFAULT_SERVICE_PORT = 443

_COPIED_FIELDS = (
    "rules",
    "failurePolicy",
    "matchPolicy",
    "objectSelector",
    "sideEffects",
    "timeoutSeconds",
    "admissionReviewVersions",
)


def crds(context: Context) -> Iterator[KubeObject]:
    """The bundle's definitions; those that a webhook converts say where it is."""
    converters = _converters(context)
    for crd in context.bundle.crds:
        webhook = converters.get(name_of(crd))
        yield crd if webhook is None else _converted(context, crd, webhook)


def _converters(context: Context) -> dict[str, Webhook]:
    converters: dict[str, Webhook] = {}
    for webhook in context.bundle.csv.webhooks_of(WebhookType.CONVERSION):
        for name in webhook.conversion_crds:
            if name in converters:
                raise RenderError(
                    f"custom resource definition '{name}' is referenced by multiple conversion "
                    "webhook definitions"
                )
            converters[name] = webhook
    return converters


def _converted(context: Context, crd: KubeObject, webhook: Webhook) -> KubeObject:
    if crd["spec"].get("preserveUnknownFields"):
        raise RenderError(
            f"custom resource definition '{name_of(crd)}' must have "
            ".spec.preserveUnknownFields set to false to let API Server call webhook to do the "
            "conversion"
        )
    serving = context.serving(webhook)
    service = {
        "namespace": context.install_namespace,
        "name": serving.service,
        "path": webhook.fields.get("webhookPath", "/"),
        "port": webhook.container_port,
    }
    conversion = {
        "strategy": "Webhook",
        "webhook": {
            "clientConfig": {"service": service},
            "conversionReviewVersions": webhook.fields.get("admissionReviewVersions"),
        },
    }
    annotations = annotations_of(crd) | context.caller_annotations(serving)
    return {
        **crd,
        "metadata": _annotated(metadata(crd), annotations),
        "spec": {**crd["spec"], "conversion": conversion},
    }


def _annotated(fields: dict[str, Any], annotations: dict[str, str]) -> dict[str, Any]:
    return {**fields, "annotations": annotations} if annotations else fields


def validating_webhooks(context: Context) -> Iterator[KubeObject]:
    """One configuration per validating webhook."""
    for webhook in context.bundle.csv.webhooks_of(WebhookType.VALIDATING):
        yield _configuration(context, webhook, "ValidatingWebhookConfiguration", _COPIED_FIELDS)


def mutating_webhooks(context: Context) -> Iterator[KubeObject]:
    """One configuration per mutating webhook."""
    copied = (*_COPIED_FIELDS, "reinvocationPolicy")
    for webhook in context.bundle.csv.webhooks_of(WebhookType.MUTATING):
        yield _configuration(context, webhook, "MutatingWebhookConfiguration", copied)


def _configuration(
    context: Context, webhook: Webhook, kind: str, copied: tuple[str, ...]
) -> KubeObject:
    name = webhook.generate_name.removesuffix("-")
    serving = context.serving(webhook)
    service: dict[str, Any] = {
        "namespace": context.install_namespace,
        "name": serving.service,
        "port": webhook.container_port,
    }
    if "webhookPath" in webhook.fields:
        service["path"] = webhook.fields["webhookPath"]
    entry: dict[str, Any] = {"name": name, "clientConfig": {"service": service}}
    entry |= {field: webhook.fields[field] for field in copied if field in webhook.fields}
    if selector := _namespace_selector(context):
        entry["namespaceSelector"] = selector
    # A cluster-scoped kind with a namespace: harmless, and what upstream's objects look like.
    fields = {"name": name, "namespace": context.install_namespace}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": _annotated(fields, context.caller_annotations(serving)),
        "webhooks": [entry],
    }


def _namespace_selector(context: Context) -> dict[str, Any] | None:
    if "" in context.target_namespaces:
        return None
    expression = {
        "key": "kubernetes.io/metadata.name",
        "operator": "In",
        "values": list(context.target_namespaces),
    }
    return {"matchExpressions": [expression]}


def services(context: Context) -> Iterator[KubeObject]:
    """One Service per deployment that serves webhooks, with a port for each place they use."""
    for deployment in context.bundle.csv.deployments:
        hooks = [w for w in context.bundle.csv.webhooks if w.deployment_name == deployment.name]
        if not hooks:
            continue
        serving = serving_of(deployment.name, context.install_namespace)
        provider = context.certificates
        annotations = provider.service_annotations(serving) if provider else {}
        fields = {"name": serving.service, "namespace": context.install_namespace}
        selector = deployment.spec.get("selector") or {}
        yield {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": _annotated(fields, annotations),
            "spec": {"ports": _ports(hooks), "selector": selector.get("matchLabels") or {}},
        }


def _ports(hooks: list[Webhook]) -> list[dict[str, Any]]:
    distinct = {_port_pair(hook) for hook in hooks}
    in_order = sorted(distinct, key=lambda pair: (pair[0], _number(pair[1]), str(pair[1])))
    return [
        {"name": str(port), "port": port, "targetPort": target_port}
        for port, target_port in in_order
    ]


def _number(target_port: int | str) -> int:
    """A target port as a number; names count as 0."""
    if isinstance(target_port, int):
        return target_port
    return int(target_port) if re.fullmatch(r"[-+]?[0-9]{1,18}", target_port) else 0


def _port_pair(hook: Webhook) -> tuple[int, int | str]:
    port = hook.container_port if hook.container_port > 0 else DEFAULT_SERVICE_PORT
    return port, hook.fields.get("targetPort", port)


def certificates(context: Context) -> Iterator[KubeObject]:
    """What the certificate provider needs besides annotations, per serving deployment."""
    if context.certificates is None:
        return
    for name in sorted({webhook.deployment_name for webhook in context.bundle.csv.webhooks}):
        serving = serving_of(name, context.install_namespace)
        yield from context.certificates.additional_objects(serving)
