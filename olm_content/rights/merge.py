"""Many single permissions as few rules, and without those that come with others."""

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, Literal, NamedTuple

from olm_content.rights.rules import ALL, NONE, Permission, Words, rule_for, uncovered


class MergedRule(NamedTuple):
    """Permissions that are one rule; `urls` or the rest of it is empty."""

    namespace: str
    group: str
    resources: Words
    names: Words
    verbs: Words
    urls: Words

    def permissions(self) -> Iterator[Permission]:
        """The single permissions that were merged."""
        for verb in self.verbs:
            for url in self.urls:
                yield Permission(self.namespace, verb, url=url)
            for resource, name in product(self.resources, self.names or ("",)):
                yield Permission(self.namespace, verb, self.group, resource, name)


def merged(permissions: Iterable[Permission]) -> set[MergedRule]:
    """The permissions, no more and no less, as few rules."""
    rules = {_rule(permission) for permission in permissions}
    for part in _MERGED_BY:
        rules = _merged_by(part, rules)
    return rules


_Part = Literal["resources", "names", "verbs", "urls"]
_MERGED_BY: tuple[_Part, ...] = ("verbs", "names", "resources", "urls")


def _rule(p: Permission) -> MergedRule:
    return MergedRule(
        p.namespace,
        p.group,
        resources=frozenset({p.resource} - {""}),
        names=frozenset({p.name} - {""}),
        verbs=frozenset({p.verb}),
        urls=frozenset({p.url} - {""}),
    )


def _merged_by(part: _Part, rules: Iterable[MergedRule]) -> set[MergedRule]:
    """Rules that differ in one part only become one; a rule without the part stays alone."""
    unions: dict[tuple[MergedRule, bool], Words] = {}
    for rule in rules:
        words: Words = getattr(rule, part)
        key = _with(rule, part, NONE), bool(words)
        unions[key] = unions.get(key, NONE) | words
    return {_with(rest, part, words) for (rest, _), words in unions.items()}


def _with(rule: MergedRule, part: _Part, words: Words) -> MergedRule:
    change: dict[str, Any] = {part: words}
    return rule._replace(**change)


def without_implied(permissions: Iterable[Permission]) -> set[Permission]:
    """Without permissions that come with others among them."""
    return set(widest(permissions).values())


def widest(permissions: Iterable[Permission]) -> dict[Permission, Permission]:
    """Each permission with the one among them that brings it and comes with no other itself."""
    everything = set(permissions)
    broad = sorted(p for p in everything if ALL in f"{p.verb}{p.group}{p.resource}{p.url}")
    next_wider = {p: _wider_than(p, everything, broad) for p in everything}

    def top(permission: Permission) -> Permission:
        while wider := next_wider[permission]:
            permission = wider
        return permission

    return {permission: top(permission) for permission in everything}


def _wider_than(
    permission: Permission, everything: set[Permission], broad: list[Permission]
) -> Permission | None:
    for wider in _for_more_places(permission):
        if wider in everything:
            return wider
    for other in broad:
        if other == permission or not _covers(other, permission):
            continue
        # Two URLs may cover each other, such as /a* and /a**: one of them has to stay.
        if permission > other or not _covers(permission, other):
            return other
    return None


def _for_more_places(p: Permission) -> set[Permission]:
    """The same for all names, for the whole cluster, and both."""
    return {
        Permission(namespace, p.verb, p.group, p.resource, name, p.url)
        for namespace in {p.namespace, ""}
        for name in {p.name, ""}
    } - {p}


def _covers(held: Permission, permission: Permission) -> bool:
    if held.namespace not in ("", permission.namespace):
        return False
    return not any(uncovered("", rule_for(permission), [rule_for(held)]))
