"""The verdict in the documents' form (1.20): one line for each set of missing permissions."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from olm_shared.go_text import quote
from operator_controller.preflight.bounded_lines import joined
from operator_controller.preflight.rbac.judge import Verdict
from operator_controller.preflight.rbac.rules import (
    ALL,
    NONE,
    Permission,
    Words,
    rule_for,
    uncovered,
)

HEADER = "service account requires the following permissions to manage cluster extension:"


def report(verdict: Verdict) -> str:
    """What has to be granted, complete, merged and sorted; empty when nothing is missing."""
    lines = sorted(f"  {line}" for line in merged(without_implied(verdict.missing)))
    if lines:
        lines.insert(0, HEADER)
    lines += [f"permission evaluation error: {error}" for error in verdict.errors]
    if not lines:
        return ""
    lines[0] = f"pre-authorization failed: {lines[0]}"
    return joined(lines, count=len(lines), what="lines")


def without_implied(missing: Iterable[Permission]) -> set[Permission]:
    """Without permissions that come with others that are missing too."""
    everything = set(missing)
    broad = [(p, rule_for(p)) for p in everything if ALL in (p.verb, p.group, p.resource, p.url)]

    def implied(permission: Permission) -> bool:
        if any(wider in everything for wider in _wider(permission)):
            return True
        rule = rule_for(permission)
        return any(
            other != permission
            and other.namespace in ("", permission.namespace)
            and not any(uncovered("", rule, [held]))
            for other, held in broad
        )

    return {permission for permission in everything if not implied(permission)}


def _wider(permission: Permission) -> set[Permission]:
    """The same for all names, for the whole cluster, and both."""
    p = permission
    return {
        replace(p, namespace=namespace, name=name)
        for namespace in (p.namespace, "")
        for name in (p.name, "")
    } - {p}


@dataclass(frozen=True, slots=True)
class _Line:
    """Permissions that are one rule."""

    namespace: str
    group: str
    resources: Words
    names: Words
    verbs: Words
    urls: Words

    def __str__(self) -> str:
        """The rule as the documents print it; what it does not limit is left out."""
        if self.urls:
            return (
                f"Namespace:{quote(self.namespace)} Verbs:{_list(self.verbs)} "
                f"NonResourceURLs:{_list(self.urls)}"
            )
        names = f" ResourceNames:{_list(self.names)}" if self.names else ""
        return (
            f"Namespace:{quote(self.namespace)} APIGroups:[{quote(self.group) * bool(self.group)}] "
            f"Resources:{_list(self.resources)}{names} Verbs:{_list(self.verbs)}"
        )


def merged(permissions: Iterable[Permission]) -> Iterator[str]:
    """The permissions as few lines, in no order."""
    lines = {_line(permission) for permission in permissions}
    for part in _MERGED_BY:
        lines = _merged_by(part, lines)
    return map(str, lines)


_Part = Literal["resources", "names", "verbs", "urls"]
_MERGED_BY: tuple[_Part, ...] = ("verbs", "names", "resources", "urls")


def _line(p: Permission) -> _Line:
    return _Line(
        p.namespace,
        p.group,
        resources=frozenset({p.resource} - {""}),
        names=frozenset({p.name} - {""}),
        verbs=frozenset({p.verb}),
        urls=frozenset({p.url} - {""}),
    )


def _merged_by(part: _Part, lines: Iterable[_Line]) -> set[_Line]:
    """Lines that differ in one part only become one; a line without the part stays alone."""
    unions: dict[tuple[_Line, bool], Words] = {}
    for line in lines:
        words: Words = getattr(line, part)
        key = _with(line, part, NONE), bool(words)
        unions[key] = unions.get(key, NONE) | words
    return {_with(rest, part, words) for (rest, _), words in unions.items()}


def _with(line: _Line, part: _Part, words: Words) -> _Line:
    change: dict[str, Any] = {part: words}
    return replace(line, **change)


def _list(words: Iterable[str]) -> str:
    return f"[{','.join(sorted(words))}]"
