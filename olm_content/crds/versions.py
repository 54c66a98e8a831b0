"""The check of one CustomResourceDefinition: all of it first, then version by version.

A version is compared with itself in the new definition, and each served version of the new one
with the served versions above it, because without a conversion webhook the same stored object is
read as all of them.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from api.objects import KubeObject, name_of
from olm_content.crds.findings import PAIR, Finding, Validator, worst_first
from olm_content.crds.rules import judge
from olm_content.crds.schema import Schema, differing, flattened
from olm_content.formats.go_text import quote

Check = Callable[[KubeObject, KubeObject], Iterator[Finding]]

_KUBE_VERSION = re.compile(r"v([0-9]{1,18})(?:(alpha|beta)([0-9]{1,18}))?")
_STABILITY = {"alpha": 0, "beta": 1, None: 2}


def check(old: KubeObject, new: KubeObject) -> tuple[Finding, ...]:
    """What makes replacing `old` by `new` unsafe for stored objects; empty when nothing does.

    Both are CustomResourceDefinitions of apiextensions.k8s.io/v1 in the API's shapes, `old` with
    the status of the cluster if it comes from one. Worst first, in a fixed order.
    """
    return worst_first(finding for each in CHECKS for finding in each(old, new))


def scope_changed(old: KubeObject, new: KubeObject) -> Iterator[Finding]:
    """Objects of one scope do not exist in the other."""
    before, after = (str(_spec(crd).get("scope") or "") for crd in (old, new))
    if before != after:
        problem = f"scope changed from {quote(before)} to {quote(after)}"
        yield Finding(name_of(new), Validator.SCOPE, problem)


def stored_versions_removed(old: KubeObject, new: KubeObject) -> Iterator[Finding]:
    """Objects stored in a version that is gone cannot be read any more."""
    remaining = _schemas(new)
    for version in _stored_versions(old):
        if version not in remaining:
            problem = f"stored version {quote(version)} removed"
            yield Finding(name_of(new), Validator.STORED_VERSION, problem, version)


def schemas_changed(old: KubeObject, new: KubeObject) -> Iterator[Finding]:
    """Every version that both have."""
    after = _schemas(new)
    for version, schema in _schemas(old).items():
        if version in after:
            yield from _schema_changed(name_of(new), version, schema, after[version])


def _schema_changed(crd: str, version: str, old: Schema, new: Schema) -> Iterator[Finding]:
    for node in differing(old, new):
        if node.new is None:
            yield Finding(crd, Validator.FIELD_REMOVED, "may not be removed", version, node.path)
            continue
        for problem in judge(node.old, node.new):
            yield Finding(crd, Validator.CHANGE, problem, version, node.path)


def served_versions_differ(old: KubeObject, new: KubeObject) -> Iterator[Finding]:
    """Served versions that one object does not fit both of, unless it was so before."""
    if (_spec(new).get("conversion") or {}).get("strategy") == "Webhook":
        return
    crd = name_of(new)
    before = _served(old)
    served = _served(new)
    for older, newer in _ascending_pairs(served):
        problems = set(_incompatible(served[older], served[newer]))
        if problems and older in before and newer in before:
            problems -= set(_incompatible(before[older], before[newer]))
        for path, problem in problems:
            yield Finding(crd, Validator.SERVED_VERSION, problem, older + PAIR + newer, path)


def served_changes(old: KubeObject, new: KubeObject) -> list[tuple[str, bool]]:
    """Versions that are served no longer (False) or newly (True): clients, not objects, mind."""
    before, after = _served(old), _served(new)
    return [(name, name in after) for name in ascending(before.keys() ^ after.keys())]


CHECKS: tuple[Check, ...] = (
    scope_changed,
    stored_versions_removed,
    schemas_changed,
    served_versions_differ,
)


def _incompatible(old: Schema, new: Schema) -> Iterator[tuple[str, str]]:
    """Path and problem of every node; a field that the other version has not counts as empty."""
    for node in differing(old, new):
        if node.new is not None:
            for problem in judge(node.old, node.new):
                yield node.path, problem
            continue
        for removed in flattened(node):
            for problem in judge(removed.old, {}):
                yield removed.path, problem


def _spec(crd: KubeObject) -> dict[str, Any]:
    return crd.get("spec") or {}


def _versions(crd: KubeObject) -> list[dict[str, Any]]:
    return _spec(crd).get("versions") or []


def _schemas(crd: KubeObject) -> dict[str, Schema]:
    """The schema of every version; a version without one accepts everything."""
    return {
        str(version.get("name")): (version.get("schema") or {}).get("openAPIV3Schema") or {}
        for version in _versions(crd)
    }


def _served(crd: KubeObject) -> dict[str, Schema]:
    names = {str(version.get("name")) for version in _versions(crd) if version.get("served")}
    return {name: schema for name, schema in _schemas(crd).items() if name in names}


def _stored_versions(crd: KubeObject) -> list[str]:
    """What the cluster says; of a definition that no cluster has seen, what it would store."""
    stored = (crd.get("status") or {}).get("storedVersions")
    return stored or [str(v.get("name")) for v in _versions(crd) if v.get("storage")]


def _ascending_pairs(served: dict[str, Schema]) -> Iterator[tuple[str, str]]:
    names = ascending(served)
    for index, older in enumerate(names):
        for newer in names[index + 1 :]:
            yield older, newer


def ascending(versions: Iterable[str]) -> list[str]:
    """Names of versions as Kubernetes ranks them, least stable first; other names before all."""
    known: list[tuple[tuple[int, int, int], str]] = []
    others: list[str] = []
    for name in versions:
        found = _KUBE_VERSION.fullmatch(name)
        if found is None:
            others.append(name)
        else:
            rank = (_STABILITY[found[2]], int(found[1]), int(found[3] or 0))
            known.append((rank, name))
    return sorted(others, reverse=True) + [name for _, name in sorted(known)]
