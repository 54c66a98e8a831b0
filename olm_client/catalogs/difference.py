"""How two contents of a catalog differ. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson

from olm_client.catalogs.content_writer import normal
from olm_client.catalogs.details import Details
from olm_content.fbc.chain import ChainError, head
from olm_content.fbc.model import Entry
from olm_content.fbc.packages import version_text
from olm_content.fbc.records import Record, channel_of, deprecations_of, properties
from olm_content.names import BUNDLE, CHANNEL, DEPRECATIONS, PACKAGE


def package_difference(before: Sequence[Record], after: Sequence[Record]) -> Details:
    """What is other in a package; empty lists and fields that are equal are left out."""
    found = {
        "package": after[0].package,
        "defaultChannel": _step(_default(before), _default(after)),
        "channels": _kinds(_by_name(before, CHANNEL), _by_name(after, CHANNEL), _channel_change),
        "bundles": _kinds(_by_name(before, BUNDLE), _by_name(after, BUNDLE), _bundle_change),
        "deprecated": _missing(_deprecations(after), _deprecations(before)),
        "undeprecated": _missing(_deprecations(before), _deprecations(after)),
        "other": _fields(_rest(before), _rest(after)),
    }
    return {key: value for key, value in found.items() if value}


def package_summary(records: Sequence[Record]) -> Details:
    """A package that only one side has."""
    default = _default(records)
    channels = {each.name: each for each in records if each.schema == CHANNEL}
    return {
        "package": records[0].package,
        "defaultChannel": default,
        "head": _head(channels[default]) if default in channels else "",
        "bundles": sum(each.schema == BUNDLE for each in records),
    }


def lines(difference: Details) -> Iterator[str]:
    """The difference of a package for people."""
    yield f"~ package {difference['package']}"
    if step := difference.get("defaultChannel"):
        yield f"    default channel: {_arrow(step)}"
    for kind in ("channel", "bundle"):
        found = difference.get(f"{kind}s", {})
        yield from (f"    + {kind} {_item(each)}" for each in found.get("added", ()))
        yield from (f"    - {kind} {_item(each)}" for each in found.get("removed", ()))
        yield from (f"    ~ {kind} {_changed(each)}" for each in found.get("changed", ()))
    for sign, key in (("!", "deprecated"), ("-", "undeprecated")):
        for each in difference.get(key, ()):
            yield f"    {sign} deprecation of {each['subject']}: {each['message']}"
    if difference.get("other"):
        yield f"    other: {', '.join(difference['other'])}"


def counts(found: Details) -> str:
    """How many packages were added, removed and changed."""
    return "packages: " + ", ".join(f"{len(each)} {kind}" for kind, each in found.items())


def short_lines(found: Details) -> Iterator[str]:
    """The difference of two contents, a line for each package: which versions came and went."""
    for each in found["added"]:
        yield f"+ {each['package']}" + (f" ({each['head']})" if each["head"] else "")
    yield from (f"- {each['package']}" for each in found["removed"])
    for each in found["changed"]:
        bundles = each.get("bundles", {})
        parts = [
            f"{sign} {', '.join(bundle['version'] or bundle['name'] for bundle in bundles[key])}"
            for sign, key in (("+", "added"), ("-", "removed"))
            if key in bundles
        ]
        if each.get("deprecated"):
            parts.append(f"! {', '.join(item['subject'] for item in each['deprecated'])}")
        yield f"~ {each['package']}: {'; '.join(parts) or 'other changes'}"


def _item(item: Details) -> str:
    about = item.get("head") or item.get("version") or ""
    return f"{item['name']} ({about})" if about else str(item["name"])


def _changed(item: Details) -> str:
    parts = [f"head {_arrow(item['head'])}"] if item.get("head") else []
    for sign, key in (("+", "added"), ("-", "removed"), ("~", "updates")):
        if item.get(key):
            parts.append(f"{sign} {', '.join(item[key])}")
    return f"{item['name']}: {'; '.join([*parts, *item.get('fields', ())])}"


def _arrow(step: Details) -> str:
    return f"{step['before'] or 'none'} -> {step['after'] or 'none'}"


def _kinds(
    before: Mapping[str, Record],
    after: Mapping[str, Record],
    change: Callable[[Record, Record], Details],
) -> Details:
    """Added, removed and changed of one kind of object, by name."""
    found = {
        "added": [_named(name, after[name]) for name in after if name not in before],
        "removed": [_named(name, before[name]) for name in before if name not in after],
        "changed": [
            {"name": name, **change(before[name], after[name])}
            for name in after
            if name in before and normal(before[name].value) != normal(after[name].value)
        ],
    }
    return {key: value for key, value in found.items() if value}


def _named(name: str, each: Record) -> Details:
    if each.schema == CHANNEL:
        return {"name": name, "head": _head(each)}
    return {"name": name, "version": version_text(each.value)}


def _channel_change(before: Record, after: Record) -> Details:
    old, new = _entries(before), _entries(after)
    found = {
        "head": _step(_head(before), _head(after)),
        "added": [name for name in new if name not in old],
        "removed": [name for name in old if name not in new],
        "updates": [name for name in new if name in old and old[name] != new[name]],
        "fields": [f for f in _fields(before.value, after.value) if f != "entries"],
    }
    return {key: value for key, value in found.items() if value}


def _bundle_change(before: Record, after: Record) -> Details:
    fields = _fields(before.value, after.value)
    if "properties" in fields:
        at = fields.index("properties")
        old, new = (_properties(each) for each in (before, after))
        fields[at : at + 1] = [f"property {kind}" for kind in _fields(old, new)]
    return {"fields": fields}


def _fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """The keys whose values differ."""
    keys = dict.fromkeys([*before, *after])
    return [k for k in keys if normal({k: before.get(k)}) != normal({k: after.get(k)})]


def _properties(bundle: Record) -> dict[str, list[str]]:
    """The values of each type of property, as text."""
    found: dict[str, list[str]] = {}
    for item in properties(bundle):
        text = orjson.dumps(item["value"], option=orjson.OPT_SORT_KEYS).decode()
        found.setdefault(item["type"], []).append(text)
    return {kind: sorted(values) for kind, values in found.items()}


def _step(before: str, after: str) -> Details:
    return {} if before == after else {"before": before, "after": after}


def _head(channel: Record) -> str:
    try:
        return head(channel_of(channel))
    except ChainError:
        return ""


def _entries(channel: Record) -> dict[str, Entry]:
    return {entry.name: entry for entry in channel_of(channel).entries}


def _by_name(records: Iterable[Record], schema: str) -> dict[str, Record]:
    return {each.name: each for each in records if each.schema == schema}


def _default(records: Iterable[Record]) -> str:
    found = next((each.value for each in records if each.schema == PACKAGE), {})
    return str(found.get("defaultChannel") or "")


def _deprecations(records: Iterable[Record]) -> list[Details]:
    return [
        {
            "subject": f"{each.schema.removeprefix('olm.')} {each.name}".strip(),
            "message": each.message,
        }
        for record in records
        if record.schema == DEPRECATIONS
        for each in deprecations_of(record)
    ]


def _missing(sought: Sequence[Details], present: Sequence[Details]) -> list[Details]:
    return [each for each in sought if each not in present]


def _rest(records: Iterable[Record]) -> dict[str, Any]:
    """What else a package has: its own fields, and objects of schemas that OLM does not know."""
    rest: dict[str, Any] = {}
    for each in records:
        if each.schema == PACKAGE:
            rest |= {k: v for k, v in each.value.items() if k not in {"schema", "defaultChannel"}}
        elif each.schema not in {CHANNEL, BUNDLE, DEPRECATIONS}:
            rest[" ".join(filter(None, (each.schema, each.name)))] = each.value
    return rest
