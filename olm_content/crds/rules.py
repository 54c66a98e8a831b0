"""RULES: what may happen to each keyword of a schema node, one small rule a keyword.

A keyword that no rule names may not change at all: an unknown change. Sources: the documents'
lists of prohibited and allowed changes (1.18), and what upstream's checker adds to them
(patterns, nullability, oneOf; descriptions are free).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from olm_content.crds.schema import (
    COMPARED_AS_NODES,
    NESTED_KEYWORDS,
    Schema,
    meaning,
    same,
    setting,
    text_of,
)
from olm_content.formats.go_text import listed

Judge = Callable[[str, Any, Any], str | None]
"""(keyword, before, after) -> what is wrong, or None. None as a value means not given; the two
values are known to differ."""

SHOWN_LENGTH = 200
"""Of a value in a message."""

DOCUMENTATION = frozenset({"description", "title", "example", "externalDocs"})


class Rule(NamedTuple):
    """Judges the changes of one keyword."""

    keyword: str
    judge: Judge


def no_change(keyword: str, before: Any, after: Any) -> str:
    """Any change may make stored values invalid, or valid in another meaning."""
    if before is None:
        return f"{keyword} added{_detail(keyword, after)}"
    if after is None:
        return f"{keyword} removed{_detail(keyword, before)}"
    if keyword in NESTED_KEYWORDS:
        return f"{keyword} changed"
    return f"{keyword} changed from {_shown(before)} to {_shown(after)}"


def no_default_change(_: str, before: Any, after: Any) -> str:
    """Prohibited changes 4 to 6: a default changes what absent means."""
    if before is None:
        return f"default value added when there was none previously: {_shown(after)}"
    return no_change("default value", before, after)


def no_new_required(_: str, before: Any, after: Any) -> str | None:
    """Prohibited change 1; required may become optional."""
    added = sorted(set(after or ()) - set(before or ()))
    return f"new required fields added: {listed(added)}" if added else None


def no_narrower_enum(_: str, before: Any, after: Any) -> str | None:
    """Prohibited changes 7 and 8; values may be added to a list that is there."""
    old, new = set(map(text_of, before or ())), set(map(text_of, after or ()))
    if not old:
        return f"enum constraint added when there was none previously: {listed(sorted(new))}"
    removed = sorted(old - new)
    return f"allowed enum values removed: {listed(removed)}" if removed else None


def no_lower_maximum(keyword: str, before: Any, after: Any) -> str | None:
    """Prohibited changes 10 and 11; a maximum may rise or go."""
    if before is None:
        return f"{keyword} constraint added when there was none previously: {text_of(after)}"
    if after is not None and after < before:
        return f"{keyword} decreased from {text_of(before)} to {text_of(after)}"
    return None


def no_higher_minimum(keyword: str, before: Any, after: Any) -> str | None:
    """Prohibited changes 9 and 11; a minimum may fall or go."""
    if before is None:
        return f"{keyword} constraint added when there was none previously: {text_of(after)}"
    if after is not None and after > before:
        return f"{keyword} increased from {text_of(before)} to {text_of(after)}"
    return None


def no_other_alternatives(_: str, before: Any, after: Any) -> str | None:
    """A value has to match exactly one, so more are as bad as fewer, the same one again too."""
    old, new = _alternatives(before), _alternatives(after)
    removed, added = (sorted(rest.elements()) for rest in (old - new, new - old))
    if not old:
        return f"oneOf constraint added when there was none previously: {listed(added)}"
    if removed:
        return f"allowed oneOf schemas removed: {listed(removed)}"
    return f"oneOf schemas added: {listed(added)}" if added else None


def free(_: str, __: Any, ___: Any) -> None:
    """Says nothing about objects."""


RULES: tuple[Rule, ...] = (
    Rule("type", no_change),
    Rule("required", no_new_required),
    Rule("default", no_default_change),
    Rule("enum", no_narrower_enum),
    Rule("maximum", no_lower_maximum),
    Rule("maxItems", no_lower_maximum),
    Rule("maxLength", no_lower_maximum),
    Rule("maxProperties", no_lower_maximum),
    Rule("minimum", no_higher_minimum),
    Rule("minItems", no_higher_minimum),
    Rule("minLength", no_higher_minimum),
    Rule("minProperties", no_higher_minimum),
    Rule("pattern", no_change),
    Rule("nullable", no_change),
    Rule("oneOf", no_other_alternatives),
    Rule("description", free),
)

NOT_JUDGED = COMPARED_AS_NODES | {rule.keyword for rule in RULES if rule.judge is free}

_BY_KEYWORD: Mapping[str, Rule] = MappingProxyType({rule.keyword: rule for rule in RULES})


def judge(old: Schema, new: Schema) -> Iterator[str]:
    """What is wrong with a node that becomes another: one sentence a keyword, in no order.

    Nodes below `properties` and `items` are not looked at.
    """
    for keyword in (old.keys() | new.keys()) - NOT_JUDGED:
        before, after = setting(old, keyword), setting(new, keyword)
        if same(keyword, before, after):
            continue
        rule = _BY_KEYWORD.get(keyword)
        if rule is None:
            yield unknown_change(keyword, before, after)
        elif problem := rule.judge(keyword, before, after):
            yield problem


def unknown_change(keyword: str, before: Any, after: Any) -> str:
    """The fallback: what is not provably allowed is refused (documents, 1.18)."""
    change = no_change(keyword, before, after)
    return f"unknown change, refusing to determine that change is safe: {change}"


def _alternatives(schemas: Any) -> Counter[str]:
    return Counter(text_of(_undocumented(schema)) for schema in meaning("oneOf", schemas or []))


def _undocumented(value: Any) -> Any:
    if isinstance(value, list):
        return [_undocumented(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: _undocumented(item) for key, item in value.items() if key not in DOCUMENTATION}


def _detail(keyword: str, value: Any) -> str:
    """The value, unless it is a whole schema: what is in it is reported at its own path."""
    return "" if keyword in NESTED_KEYWORDS else f": {_shown(value)}"


def _shown(value: Any) -> str:
    text = text_of(value)
    return text if len(text) <= SHOWN_LENGTH else text[: SHOWN_LENGTH - 1] + "…"
