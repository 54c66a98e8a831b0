"""What a merge may do with one value, and how rules of parts make the rule of a whole.

A rule is given the value on the cluster and that in the manifest, None for one that is absent, and
says what is to be on the cluster. What it leaves alone it gives back itself: the same object means
unchanged. Values are as Go's types write them, so what is empty is absent, or is there on both
sides, where the types make no difference.
"""

from collections.abc import Callable
from typing import Any

Rule = Callable[[Any, Any], Any]


def exactly(live: Any, wanted: Any) -> Any:
    """What the manifest says, and nothing if it says nothing; an empty list says nothing."""
    is_same = live == wanted or _meant(live) == _meant(wanted)
    return live if is_same else wanted


def _meant(value: Any) -> Any:
    """The value without empty lists and nulls."""
    if isinstance(value, dict):
        parts = ((key, _meant(item)) for key, item in value.items())
        return {key: item for key, item in parts if item is not None}
    if isinstance(value, list):
        return [_meant(item) for item in value] or None
    return value


def if_set(live: Any, wanted: Any) -> Any:
    """What the manifest says, if it says anything."""
    return live if wanted is None else exactly(live, wanted)


def default(value: Any) -> Rule:
    """What the manifest says, or else this value."""

    def rule(live: Any, wanted: Any) -> Any:
        return exactly(live, value if wanted is None else wanted)

    return rule


def keys(live: Any, wanted: Any) -> Any:
    """The map with the keys of the manifest; others stay."""
    merged = {**(live or {}), **(wanted or {})}
    return live if merged == (live or {}) else merged


def added(live: Any, wanted: Any) -> Any:
    """The list with the elements of the manifest; others stay."""
    missing = [item for item in wanted or () if item not in (live or ())]
    return [*(live or ()), *missing] if missing else live


def struct(**rules: Rule) -> Rule:
    """An object of which some fields have rules and others stay; absent is as good as empty."""

    def rule(live: Any, wanted: Any) -> Any:
        before, named = live or {}, wanted or {}
        parts = {field: part(before.get(field), named.get(field)) for field, part in rules.items()}
        if all(value is before.get(field) for field, value in parts.items()):
            return live
        return {field: value for field, value in (before | parts).items() if value is not None}

    return rule


def pointer(**rules: Rule) -> Rule:
    """An object like `struct`, but one that only one side has is what the manifest says."""
    merge = struct(**rules)

    def rule(live: Any, wanted: Any) -> Any:
        return wanted if live is None or wanted is None else merge(live, wanted)

    return rule


def _as_it_is(_live: Any, wanted: Any) -> Any:
    return wanted


def each(key: str, rule: Rule, *, new: Rule = _as_it_is, others_stay: bool = False) -> Rule:
    """A list of objects told apart by a field, in the order of the cluster, new ones at the end."""

    def merge(live: Any, wanted: Any) -> Any:
        before = live or []
        named: dict[Any, Any] = {}
        for item in wanted or ():
            named.setdefault(item.get(key), item)
        merged = [
            rule(item, named[item.get(key)]) if item.get(key) in named else item
            for item in before
            if others_stay or item.get(key) in named
        ]
        there = {item.get(key) for item in before}
        merged += [new(None, item) for item in wanted or () if item.get(key) not in there]
        return live if merged == before else merged or None

    return merge


METADATA = struct(
    name=if_set,
    namespace=if_set,
    labels=keys,
    annotations=keys,
    ownerReferences=each("uid", exactly, others_stay=True),
)
"""Nothing of it can be taken away by a manifest."""
