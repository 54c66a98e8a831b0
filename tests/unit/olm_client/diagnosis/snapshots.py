"""Objects and snapshots for tests of checks."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from api.objects import GVK, KubeObject
from api.olm.v1 import names
from olm_client.diagnosis.checks.every import CHECKS
from olm_client.diagnosis.facts import Fact, Lack, Snapshot
from olm_client.diagnosis.findings import Check, Verdict, examine

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


def obj(
    gvk: GVK,
    name: str,
    namespace: str = "",
    *,
    labels: Mapping[str, str] | None = None,
    leaving: str = "",
    finalizers: Sequence[str] = (),
    **rest: Any,
) -> KubeObject:
    """An object; `leaving` is when its deletion was asked for."""
    metadata: dict[str, Any] = {"name": name, "labels": dict(labels or {})}
    if namespace:
        metadata["namespace"] = namespace
    if leaving:
        metadata["deletionTimestamp"] = leaving
    if finalizers:
        metadata["finalizers"] = list(finalizers)
    return {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": metadata, **rest}


def of_extension(name: str) -> dict[str, str]:
    """The labels of what an extension has installed."""
    return {names.LABEL_OWNER_KIND: names.CLUSTER_EXTENSION, names.LABEL_OWNER_NAME: name}


def check_named(name: str) -> Check:
    """A check by name."""
    return next(check for check in CHECKS if check.name == name)


def verdict(
    name: str,
    objects: Mapping[Fact, Sequence[KubeObject]],
    lacks: Mapping[Fact, Sequence[Lack]] | None = None,
    **rest: Any,
) -> Verdict:
    """What a check says of these facts."""
    snapshot = Snapshot(now=NOW, objects=objects, lacks=lacks or {}, **rest)
    return examine([check_named(name)], snapshot)[0]
