"""Fields that controllers of Kubernetes own by design; they are left out of what is applied.

What is applied is forced, so a field that such a controller sets as well would change back and
forth for ever. Finalizers are refused before (`olm_rollout.checks`); defaults are not applied.
"""

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from api.objects import KubeObject, annotations_of, gvk_of, metadata

CA_INJECTORS = frozenset(
    {
        "cert-manager.io/inject-apiserver-ca",
        "cert-manager.io/inject-ca-from",
        "cert-manager.io/inject-ca-from-secret",
        "service.alpha.openshift.io/inject-cabundle",
        "service.beta.openshift.io/inject-cabundle",
    }
)
"""Annotations that ask a controller to fill in `caBundle`."""

CA_BUNDLES = {
    "APIService": ("spec",),
    "CustomResourceDefinition": ("spec", "conversion", "webhook", "clientConfig"),
    "MutatingWebhookConfiguration": ("webhooks", "clientConfig"),
    "ValidatingWebhookConfiguration": ("webhooks", "clientConfig"),
}
"""Where objects have their `caBundle`, by kind."""

CONTROLLERS_ANNOTATIONS = frozenset(
    {"deployment.kubernetes.io/revision", "deprecated.daemonset.template.generation"}
)
"""Annotations that come along where somebody exports an object as a manifest."""

AUTOSCALER = "kube-controller-manager"
"""The field manager of HorizontalPodAutoscalers, whoever made them."""
SCALE = "scale"

_CERTIFICATE = b"-----BEGIN CERTIFICATE-----"


def without_controlled(obj: KubeObject, live: KubeObject | None) -> KubeObject:
    """What of an object is ours to apply; `live` is what is known of the metadata that it has."""
    for rule in RULES:
        obj = rule(obj, live)
    return obj


def is_scaling(entry: Mapping[str, Any]) -> bool:
    """Whether an entry of managedFields says that an autoscaler sets the replicas."""
    return entry.get("manager") == AUTOSCALER and entry.get("subresource") == SCALE


def _aggregated_rules(obj: KubeObject, _live: KubeObject | None) -> KubeObject:
    is_role = gvk_of(obj).group == "rbac.authorization.k8s.io" and obj.get("kind") == "ClusterRole"
    return _without(obj, "rules") if is_role and obj.get("aggregationRule") is not None else obj


def _injected_bundles(obj: KubeObject, _live: KubeObject | None) -> KubeObject:
    path = CA_BUNDLES.get(str(obj.get("kind")))
    if path is None:
        return obj
    asked = bool(CA_INJECTORS & annotations_of(obj).keys())
    changed: KubeObject = _changed(obj, path, partial(_without_bundle, asked=asked))
    return changed


def _changed(value: Any, path: Sequence[str], change: Callable[[Any], Any]) -> Any:
    """A value with what it has at a path, in all items of lists, changed."""
    if isinstance(value, list):
        return [_changed(item, path, change) for item in value]
    if not isinstance(value, dict):
        return value
    if not path:
        return change(value)
    step, *rest = path
    return {**value, step: _changed(value[step], rest, change)} if step in value else value


def _without_bundle(config: dict[str, Any], *, asked: bool) -> dict[str, Any]:
    """Without a bundle that an injector is asked for, or that is a placeholder."""
    if "caBundle" not in config or (not asked and _holds_certificate(config["caBundle"])):
        return config
    return _without(config, "caBundle")


def _holds_certificate(bundle: Any) -> bool:
    try:
        return _CERTIFICATE in base64.b64decode(bundle or "", validate=True)
    except (binascii.Error, TypeError, ValueError):
        return True  # the API server says what is wrong with it


def _scaled_replicas(obj: KubeObject, live: KubeObject | None) -> KubeObject:
    entries = metadata(live or {}).get("managedFields") or ()
    if not any(map(is_scaling, entries)):
        return obj
    changed: KubeObject = _changed(obj, ("spec",), partial(_without, field="replicas"))
    return changed


def _exported_annotations(obj: KubeObject, _live: KubeObject | None) -> KubeObject:
    notes = annotations_of(obj)
    if not CONTROLLERS_ANNOTATIONS & notes.keys():
        return obj
    own = {key: value for key, value in notes.items() if key not in CONTROLLERS_ANNOTATIONS}
    return {**obj, "metadata": {**metadata(obj), "annotations": own}}


def _without(value: dict[str, Any], field: str) -> dict[str, Any]:
    return {key: found for key, found in value.items() if key != field}


RULES: tuple[Callable[[KubeObject, KubeObject | None], KubeObject], ...] = (
    _aggregated_rules,
    _injected_bundles,
    _scaled_replicas,
    _exported_annotations,
)
