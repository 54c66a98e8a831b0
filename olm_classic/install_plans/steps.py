"""The steps of a plan, as its status lists them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from api.objects import CRD_KIND, GVK, KubeObject, gvk_of, metadata, name_of
from api.operators.names import V1ALPHA1
from olm_classic.install_plans.lookups import BundleLookup, Unpacked
from olm_classic.install_plans.objects import manifest_of, objects_of
from olm_classic.resolve import SourceKey
from olm_content.names import CSV_KIND

UNKNOWN = "Unknown"
BUNDLE_SECRET = "BundleSecret"  # noqa: S105 - a kind of step
SUBSCRIPTION = "Subscription"

_GROUPED = {
    "": ("ServiceAccount", "Service", "ConfigMap", "Secret"),
    "apiextensions.k8s.io": (CRD_KIND,),
    "autoscaling.k8s.io": ("VerticalPodAutoscaler",),
    "console.openshift.io": (
        "ConsoleCLIDownload",
        "ConsoleLink",
        "ConsolePlugin",
        "ConsoleQuickStart",
        "ConsoleYAMLSample",
    ),
    "monitoring.coreos.com": ("PrometheusRule", "ServiceMonitor"),
    "networking.k8s.io": ("NetworkPolicy",),
    "operators.coreos.com": (CSV_KIND, SUBSCRIPTION),
    "policy": ("PodDisruptionBudget",),
    "rbac.authorization.k8s.io": ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
    "scheduling.k8s.io": ("PriorityClass",),
}
SUPPORTED = frozenset((group, kind) for group, kinds in _GROUPED.items() for kind in kinds)
"""Group and kind of what a plan may write."""

Step = dict[str, Any]


def is_supported(kind: GVK) -> bool:
    """Whether a plan may write objects of a kind."""
    return (kind.group, kind.kind) in SUPPORTED


def steps_of(
    bundles: Sequence[Unpacked],
    subscriptions: Iterable[tuple[str, Mapping[str, Any]]],
    namespace: str,
) -> list[Step]:
    """All steps: CSVs, definitions, all others in the order of bundles, then new Subscriptions.

    Raises InvalidBundleError.
    """
    steps = [
        _step(bundle.lookup.identifier, obj, bundle.lookup.catalog, manifest_of(obj, bundle))
        for bundle in bundles
        for obj in objects_of(bundle, namespace)
    ]
    steps.sort(key=_rank)
    return steps + [_subscription(name, spec, namespace) for name, spec in subscriptions]


def lookups_of(bundles: Iterable[Unpacked]) -> list[dict[str, Any]]:
    """The bundles as the status of a plan lists them."""
    return [_lookup(bundle.lookup) for bundle in bundles]


def _lookup(lookup: BundleLookup) -> dict[str, Any]:
    return {
        "path": lookup.image,
        "identifier": lookup.identifier,
        "replaces": lookup.replaces,
        "properties": lookup.properties,
        "catalogSourceRef": {
            "namespace": lookup.catalog.namespace,
            "name": lookup.catalog.name,
        },
    }


def _rank(step: Step) -> int:
    kind = step["resource"]["kind"]
    return 0 if kind == CSV_KIND else 1 if kind == CRD_KIND else 2


def _step(resolving: str, obj: KubeObject, source: SourceKey, manifest: str) -> Step:
    gvk, name = gvk_of(obj), name_of(obj) or str(metadata(obj).get("generateName") or "")
    secret = (gvk.group, gvk.kind) == ("", "Secret")
    return {
        "resolving": resolving,
        "status": UNKNOWN,
        "resource": {
            "group": gvk.group,
            "version": gvk.version,
            "kind": BUNDLE_SECRET if secret else gvk.kind,
            "name": name,
            "sourceName": source.name,
            "sourceNamespace": source.namespace,
            "manifest": manifest,
        },
    }


def _subscription(name: str, spec: Mapping[str, Any], namespace: str) -> Step:
    made: KubeObject = {
        "apiVersion": V1ALPHA1,
        "kind": SUBSCRIPTION,
        "metadata": {"name": name, "namespace": namespace},
        "spec": dict(spec),
    }
    source = SourceKey(spec["source"], spec["sourceNamespace"])
    return _step(spec["startingCSV"], made, source, orjson.dumps(made).decode())
