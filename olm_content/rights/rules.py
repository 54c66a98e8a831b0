"""What an RBAC rule covers, exactly as Kubernetes sees it.

Kubernetes asks in two places: may this request be made (authorization), and does the writer of a
role hold all that is in it (escalation). Both come down to the same: each single permission must
be covered by one rule. Source: `RuleAllows` and `Covers` of k8s.io/kubernetes' RBAC authorizer
and registry validation.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

ALL = "*"

Words = frozenset[str]
NONE: Words = frozenset()


class Permission(NamedTuple):
    """One verb on one resource (or one URL that is none) in a namespace; "" is cluster-wide.

    `name` is the object's, "" where the verb is not about one. `resource` may have a subresource.
    """

    namespace: str
    verb: str
    group: str = ""
    resource: str = ""
    name: str = ""
    url: str = ""


class Rule(NamedTuple):
    """A PolicyRule. No `names` means objects of any name."""

    verbs: Words
    groups: Words = NONE
    resources: Words = NONE
    names: Words = NONE
    urls: Words = NONE

    def matches_group(self, group: str) -> bool:
        """Whether the rule is about a group at all."""
        return group in self.groups or ALL in self.groups

    def matches_resource(self, resource: str) -> bool:
        """Whether the rule is about a resource, whatever its group."""
        if resource in self.resources or ALL in self.resources:
            return True
        _, slash, subresource = resource.partition("/")
        return bool(slash) and f"{ALL}/{subresource}" in self.resources

    def matches_url(self, url: str) -> bool:
        """URLs may end with `*`."""
        return any(url == own or _is_prefix(own, url) for own in self.urls)


def rule_for(permission: Permission) -> Rule:
    """The rule that gives just this permission."""
    p = permission
    if p.url:
        return Rule(verbs=frozenset({p.verb}), urls=frozenset({p.url}))
    return Rule(
        verbs=frozenset({p.verb}),
        groups=frozenset({p.group}),
        resources=frozenset({p.resource}),
        names=frozenset({p.name} - {""}),
    )


def _is_prefix(own: str, url: str) -> bool:
    return own.endswith(ALL) and url.startswith(own.rstrip(ALL))


FULL_AUTHORITY = (
    Rule(verbs=frozenset({ALL}), groups=frozenset({ALL}), resources=frozenset({ALL})),
    Rule(verbs=frozenset({ALL}), urls=frozenset({ALL})),
)
"""What Kubernetes asks of who writes an aggregation rule: it may gather anything."""


def rules_of(items: Iterable[dict[str, Any]] | None) -> tuple[Rule, ...]:
    """The rules of a Role or ClusterRole, or of a SelfSubjectRulesReview."""
    return tuple(
        Rule(
            verbs=frozenset(item.get("verbs") or ()),
            groups=frozenset(item.get("apiGroups") or ()),
            resources=frozenset(item.get("resources") or ()),
            names=frozenset(item.get("resourceNames") or ()),
            urls=frozenset(item.get("nonResourceURLs") or ()),
        )
        for item in items or ()
    )


class RuleIndex:
    """Rules by the resource or the name of an object that they are about.

    Bundles need thousands of permissions, of which each is looked for among thousands of rules.
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._by_resource: dict[str, list[Rule]] = {}
        """Those for objects of any name."""
        self._by_name: dict[str, list[Rule]] = {}
        self._with_urls: list[Rule] = []
        for rule in rules:
            index, keys = (
                (self._by_name, rule.names) if rule.names else (self._by_resource, rule.resources)
            )
            for key in keys:
                index.setdefault(key, []).append(rule)
            if rule.urls:
                self._with_urls.append(rule)

    def uncovered(self, namespace: str, rule: Rule) -> Iterator[Permission]:
        """Every single permission of `rule` that none of these rules covers."""
        for group in rule.groups:
            for resource in rule.resources:
                for_all = self._for_all_names(group, resource)
                for name in rule.names or ("",):
                    held = chain(for_all, self._for_name(group, resource, name))
                    for verb in _lacking(rule, held):
                        yield Permission(namespace, verb, group, resource, name)
        for url in rule.urls:
            for verb in _lacking(rule, (own for own in self._with_urls if own.matches_url(url))):
                yield Permission(namespace, verb, url=url)

    def _for_all_names(self, group: str, resource: str) -> list[Rule]:
        _, slash, subresource = resource.partition("/")
        words = {resource, ALL} | ({f"{ALL}/{subresource}"} if slash else set())
        found = (rule for word in words for rule in self._by_resource.get(word, ()))
        return [rule for rule in found if rule.matches_group(group)]

    def _for_name(self, group: str, resource: str, name: str) -> Iterator[Rule]:
        """Rules for names do not cover what is not about a named object."""
        for rule in self._by_name.get(name, ()) if name else ():
            if rule.matches_group(group) and rule.matches_resource(resource):
                yield rule


def uncovered(namespace: str, rule: Rule, held: Iterable[Rule]) -> Iterator[Permission]:
    """Every single permission of `rule` that no rule of `held` covers."""
    return RuleIndex(held).uncovered(namespace, rule)


def _lacking(rule: Rule, held: Iterable[Rule]) -> Words:
    """The verbs of a rule that none of the others has."""
    verbs: Words = frozenset().union(*(own.verbs for own in held))
    return NONE if ALL in verbs else rule.verbs - verbs
