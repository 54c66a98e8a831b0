"""How two contents of a catalog differ. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson

from olm_cli.finding.contents import normal
from olm_cli.finding.facts import Facts
from olm_content.fbc.catalog import Record
from olm_content.names import BUNDLE, CHANNEL, DEPRECATIONS, PACKAGE
from opm.validate.channels import GraphError, head


def package_difference(before: Sequence[Record], after: Sequence[Record]) -> Facts:
    """What is other in a package; empty lists and fields that are equal are left out."""
    found = {
        "package": after[0].package,
        "defaultChannel": _step(_default(before), _default(after)),
        "channels": _kinds(_channels(before), _channels(after), _channel_change),
        "bundles": _kinds(_by_name(before, BUNDLE), _by_name(after, BUNDLE), _bundle_change),
        "deprecated": _missing(_deprecations(after), _deprecations(before)),
        "undeprecated": _missing(_deprecations(before), _deprecations(after)),
        "other": _fields(_rest(before), _rest(after)),
    }
    return {key: value for key, value in found.items() if value}


def package_summary(records: Sequence[Record]) -> Facts:
    """A package that only one side has."""
    default = _default(records)
    channels = {each.name: each for each in records if each.schema == CHANNEL}
    return {
        "package": records[0].package,
        "defaultChannel": default,
        "head": _head(channels[default].value) if default in channels else "",
        "bundles": sum(each.schema == BUNDLE for each in records),
    }


def lines(difference: Facts) -> Iterator[str]:
    """The difference of a package for people."""
    yield f"~ package {difference['package']}"
    if step := difference.get("defaultChannel"):
        yield f"    default channel: {_arrow(step)}"
    for kind in ("channel", "bundle"):
        found = difference.get(f"{kind}s", {})
        yield from (f"    + {kind} {_said(each)}" for each in found.get("added", ()))
        yield from (f"    - {kind} {_said(each)}" for each in found.get("removed", ()))
        yield from (f"    ~ {kind} {_changed(each)}" for each in found.get("changed", ()))
    for sign, key in (("!", "deprecated"), ("-", "undeprecated")):
        for each in difference.get(key, ()):
            yield f"    {sign} deprecation of {each['subject']}: {each['message']}"
    if difference.get("other"):
        yield f"    other: {', '.join(difference['other'])}"


def _said(item: Facts) -> str:
    told = item.get("head") or item.get("version") or ""
    return f"{item['name']} ({told})" if told else str(item["name"])


def _changed(item: Facts) -> str:
    told = [f"head {_arrow(item['head'])}"] if item.get("head") else []
    for sign, key in (("+", "added"), ("-", "removed"), ("~", "updates")):
        if item.get(key):
            told.append(f"{sign} {', '.join(item[key])}")
    return f"{item['name']}: {'; '.join([*told, *item.get('fields', ())])}"


def _arrow(step: Facts) -> str:
    return f"{step['before'] or 'none'} -> {step['after'] or 'none'}"


def _kinds(before: Mapping[str, Any], after: Mapping[str, Any], change: Any) -> Facts:
    """Added, removed and changed of one kind of object, by name."""
    found = {
        "added": [_named(name, after[name]) for name in after if name not in before],
        "removed": [_named(name, before[name]) for name in before if name not in after],
        "changed": [
            {"name": name, **change(before[name], after[name])}
            for name in after
            if name in before and normal(before[name]) != normal(after[name])
        ],
    }
    return {key: value for key, value in found.items() if value}


def _named(name: str, value: Mapping[str, Any]) -> Facts:
    if value["schema"] == CHANNEL:
        return {"name": name, "head": _head(value)}
    return {"name": name, "version": _version(value)}


def _channel_change(before: Mapping[str, Any], after: Mapping[str, Any]) -> Facts:
    old, new = _entries(before), _entries(after)
    found = {
        "head": _step(_head(before), _head(after)),
        "added": [name for name in new if name not in old],
        "removed": [name for name in old if name not in new],
        "updates": [name for name in new if name in old and normal(old[name]) != normal(new[name])],
        "fields": [field for field in _fields(before, after) if field != "entries"],
    }
    return {key: value for key, value in found.items() if value}


def _bundle_change(before: Mapping[str, Any], after: Mapping[str, Any]) -> Facts:
    fields = _fields(before, after)
    if "properties" in fields:
        at = fields.index("properties")
        old, new = (_properties(value) for value in (before, after))
        fields[at : at + 1] = [f"property {kind}" for kind in _fields(old, new)]
    return {"fields": fields}


def _fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """The keys whose values differ."""
    keys = dict.fromkeys([*before, *after])
    return [k for k in keys if normal({k: before.get(k)}) != normal({k: after.get(k)})]


def _properties(value: Mapping[str, Any]) -> dict[str, list[str]]:
    """The values of each type of property, as text."""
    found: dict[str, list[str]] = {}
    for item in value.get("properties") or ():
        text = orjson.dumps(item["value"], option=orjson.OPT_SORT_KEYS).decode()
        found.setdefault(item["type"], []).append(text)
    return {kind: sorted(values) for kind, values in found.items()}


def _step(before: str, after: str) -> Facts:
    return {} if before == after else {"before": before, "after": after}


def _head(channel: Mapping[str, Any]) -> str:
    try:
        return head(_entries(channel))
    except GraphError:
        return ""


def _entries(channel: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {entry["name"]: entry for entry in channel["entries"] or ()}


def _version(bundle: Mapping[str, Any]) -> str:
    values = (i["value"] for i in bundle.get("properties") or () if i["type"] == PACKAGE)
    found = next(values, None)
    return str(found.get("version", "")) if isinstance(found, Mapping) else ""


def _by_name(records: Iterable[Record], schema: str) -> dict[str, dict[str, Any]]:
    return {each.name: each.value for each in records if each.schema == schema}


def _channels(records: Iterable[Record]) -> dict[str, dict[str, Any]]:
    return _by_name(records, CHANNEL)


def _default(records: Iterable[Record]) -> str:
    found = next((each.value for each in records if each.schema == PACKAGE), {})
    return str(found.get("defaultChannel") or "")


def _deprecations(records: Iterable[Record]) -> list[Facts]:
    return [
        {"subject": " ".join(filter(None, (_subject(entry)))), "message": entry["message"]}
        for each in records
        if each.schema == DEPRECATIONS
        for entry in each.value["entries"] or ()
    ]


def _subject(entry: Mapping[str, Any]) -> tuple[str, str]:
    reference = entry["reference"]
    return reference["schema"].removeprefix("olm."), reference.get("name", "")


def _missing(wanted: Sequence[Facts], present: Sequence[Facts]) -> list[Facts]:
    return [each for each in wanted if each not in present]


def _rest(records: Iterable[Record]) -> dict[str, Any]:
    """What else a package has: its own fields, and objects of schemas that OLM does not know."""
    rest: dict[str, Any] = {}
    for each in records:
        if each.schema == PACKAGE:
            rest |= {k: v for k, v in each.value.items() if k not in {"schema", "defaultChannel"}}
        elif each.schema not in {CHANNEL, BUNDLE, DEPRECATIONS}:
            rest[" ".join(filter(None, (each.schema, each.name)))] = each.value
    return rest
