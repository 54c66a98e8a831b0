"""The least that an account has to hold to pass the preauthorization, and what for.

Least means: without any one of these rules the check refuses. Rights that the objects hand out
have to be held, unless among them is the right to hand out what one does not hold ("escalate",
"bind"): then that right alone is asked for. A role that is not in the bundle is never known well
enough to hold what is in it, so "bind" is asked for, by its name.
"""

from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum, auto
from typing import NamedTuple

from api.olm.v1 import names
from olm_content.rights.authority import Authority
from olm_content.rights.judge import judge
from olm_content.rights.merge import MergedRule, merged, widest
from olm_content.rights.needs import Grant, Needs, RoleKey
from olm_content.rights.rules import Permission, Rule, rule_for, uncovered


class Purpose(IntEnum):
    """What a permission is for, in the order in which people read them."""

    OWN = auto()
    MANAGE = auto()
    HAND_OUT = auto()
    HAND_OUT_UNHELD = auto()
    REPLACE = auto()


class Reason(NamedTuple):
    """The object that a permission is for; `name` has its namespace only among roles."""

    purpose: Purpose
    kind: str
    name: str


Reasons = frozenset[Reason]
Needed = Mapping[Permission, Reasons]
"""Permissions of which none comes with another, each with why."""


class NeededRule(NamedTuple):
    """A rule, and all that it is for."""

    rule: MergedRule
    reasons: Reasons


def least(needs: Needs) -> Needed:
    """What satisfies `needs`, and nothing that could be left out."""
    needed = _Collected()
    for action in needs.actions:
        purpose = Purpose.OWN if action.kind == names.CLUSTER_EXTENSION else Purpose.MANAGE
        for permission in _all_of(action.namespace, action.rule):
            only = {permission.name} if permission.name else action.names
            needed.add(permission, {Reason(purpose, action.kind, name) for name in only})
    unheld = _hand_out(needs, needed)
    for permission in sorted(unheld):
        rest = held_by(needed.reasons.keys() - {permission})
        if judge(needs, rest, {}).granted:
            del needed.reasons[permission]
    return needed.without_implied()


def least_while_replacing(old: Needed, new: Needed) -> Needed:
    """What an update needs until the last object of the old bundle is gone."""
    both = _Collected({p: set(reasons) for p, reasons in new.items()})
    for permission, reasons in beyond(old, new).items():
        both.add(permission, {r._replace(purpose=Purpose.REPLACE) for r in reasons})
    return both.without_implied()


def beyond(needed: Needed, held: Iterable[Permission]) -> Needed:
    """The part of `needed` that those who hold `held` do not have."""
    authority = held_by(held)
    return {p: reasons for p, reasons in needed.items() if not authority.allows(p)}


def held_by(permissions: Iterable[Permission]) -> Authority:
    """The authority of who holds these permissions."""
    places: dict[str, list[Rule]] = {}
    for permission in permissions:
        places.setdefault(permission.namespace, []).append(rule_for(permission))
    cluster = tuple(places.pop("", ()))
    return Authority(cluster, {place: tuple(rules) for place, rules in places.items()})


def as_rules(needed: Needed) -> list[NeededRule]:
    """The permissions as rules, those for the same purpose together, in the order to read them."""
    groups: dict[frozenset[Reason], list[Permission]] = {}
    for permission, reasons in needed.items():
        groups.setdefault(frozenset(map(_group, reasons)), []).append(permission)
    rules = [
        NeededRule(rule, frozenset().union(*(needed[p] for p in rule.permissions())))
        for permissions in groups.values()
        for rule in merged(permissions)
    ]
    return sorted(rules, key=_reading_order)


class _Collected:
    """Permissions and why, while they are found."""

    def __init__(self, reasons: dict[Permission, set[Reason]] | None = None) -> None:
        self.reasons = reasons or {}

    def add(self, permission: Permission, reasons: Iterable[Reason]) -> None:
        # What is no resource belongs to no namespace, and only a ClusterRole can give it.
        where = "" if permission.url else permission.namespace
        self.reasons.setdefault(permission._replace(namespace=where), set()).update(reasons)

    def without_implied(self) -> Needed:
        """Those that come with no other, for their own reasons and those of what they bring."""
        found: dict[Permission, set[Reason]] = {}
        for permission, wider in widest(self.reasons).items():
            found.setdefault(wider, set()).update(self.reasons[permission])
        return {permission: frozenset(reasons) for permission, reasons in found.items()}


def _hand_out(needs: Needs, needed: _Collected) -> set[Permission]:
    """Adds what handing out rights needs, also rights that are not held."""
    handed_out = {p for grant in needs.grants for p in _handed_out(grant)}
    everything = held_by(needed.reasons.keys() | handed_out)
    unheld = set()
    for grant in needs.grants:
        if grant.rules is None or everything.allows(grant.instead):
            needed.add(grant.instead, {_reason(Purpose.HAND_OUT_UNHELD, grant.giver)})
            unheld.add(grant.instead)
            continue
        for permission in _handed_out(grant):
            needed.add(permission, {_reason(Purpose.HAND_OUT, grant.giver)})
    return unheld


def _handed_out(grant: Grant) -> Iterator[Permission]:
    for rule in grant.rules or ():
        yield from _all_of(grant.namespace, rule)


def _all_of(namespace: str, rule: Rule) -> Iterator[Permission]:
    return uncovered(namespace, rule, ())


def _reason(purpose: Purpose, giver: RoleKey) -> Reason:
    place = f"{giver.namespace}/" if giver.namespace else ""
    return Reason(purpose, giver.kind, place + giver.name)


def _group(reason: Reason) -> Reason:
    """What permissions of one rule have in common; objects of a kind are managed together."""
    return reason._replace(name="") if reason.purpose is Purpose.MANAGE else reason


def _reading_order(needed: NeededRule) -> tuple[object, ...]:
    rule = needed.rule
    first = min(needed.reasons)
    return (
        *(rule.namespace, first.purpose, rule.group, sorted(rule.resources)),
        *(sorted(rule.names), sorted(rule.verbs), sorted(rule.urls)),
    )
