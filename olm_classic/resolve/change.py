"""Changes of a namespace that may let it resolve, and what the namespace is with one of them."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from api.objects import KubeObject, name_of
from olm_classic.resolve.entries import Entry, SourceKey, tolerant_version
from olm_classic.resolve.predicates import Predicate
from olm_classic.resolve.readers import Catalog, MemoryReader, package_key
from olm_classic.resolve.resolver import EXCLUDE_GLOBAL, Namespace, visible
from olm_runtime.suggestions import near

NOWHERE = SourceKey("", "")
ADDED = "added"
"""The name of a catalog that is thought of."""


@dataclass(frozen=True, slots=True)
class Change:
    """`text` says what to do, `command` how; it is empty where no single command does it."""

    text: str
    after: Callable[[Namespace], Namespace]
    command: str = ""


def changes(
    namespace: Namespace, in_question: Iterable[str], missing: Iterable[Sequence[Predicate]]
) -> list[Change]:
    """What may be changed, the smallest first.

    `in_question` are Subscriptions to begin with, `missing` what bundles need that nothing meets.
    """
    first = set(in_question)
    subscriptions = sorted(
        namespace.subscriptions, key=lambda each: (name_of(each) not in first, name_of(each))
    )
    catalogs = visible(namespace) if len(namespace.groups) == 1 else []
    found: list[Change] = []
    for kind in (_starting_csvs, _channels, _packages, _sources):
        for subscription in subscriptions:
            found += kind(namespace, subscription, catalogs)
    found += _exclusion(namespace)
    found += [change for predicates in missing for change in _provided(predicates)]
    found += [_without_catalog(each) for each in catalogs if each.problem]
    found += [_without_csv(namespace, csv) for csv in sorted(namespace.csvs, key=name_of)]
    found += [_without_subscription(namespace, each) for each in subscriptions]
    return found


def both(first: Change, second: Change) -> Change:
    """One change after the other."""
    commands = [each.command for each in (first, second)]
    return Change(
        f"{first.text}, and {second.text}",
        lambda namespace: second.after(first.after(namespace)),
        " && ".join(commands) if all(commands) else "",
    )


def _starting_csvs(
    namespace: Namespace, subscription: KubeObject, _: Iterable[Catalog]
) -> Iterator[Change]:
    spec = subscription["spec"]
    if spec.get("startingCSV"):
        yield _edit(namespace, subscription, {"startingCSV": None}, "remove spec.startingCSV of")


def _channels(
    namespace: Namespace, subscription: KubeObject, catalogs: Iterable[Catalog]
) -> Iterator[Change]:
    spec = subscription["spec"]
    offered = {
        (not entry.in_default_channel, entry.channel)
        for catalog in catalogs
        if catalog.key == _source(spec)
        for entry in catalog.content.having(package_key(spec["name"]))
    }
    for _, channel in sorted(offered):
        if channel != spec.get("channel"):
            text = f"set spec.channel to {channel} in"
            yield _edit(namespace, subscription, {"channel": channel}, text)
            if spec.get("startingCSV"):
                patch = {"channel": channel, "startingCSV": None}
                text = f"set spec.channel to {channel} and remove spec.startingCSV in"
                yield _edit(namespace, subscription, patch, text)


def _packages(
    namespace: Namespace, subscription: KubeObject, catalogs: Iterable[Catalog]
) -> Iterator[Change]:
    """Names that may have been meant, where the catalog has none of the given one."""
    spec = subscription["spec"]
    for catalog in catalogs:
        if catalog.key != _source(spec) or catalog.content.having(package_key(spec["name"])):
            continue
        for name in near(spec["name"], {entry.package for entry in catalog.content.scan()}):
            text = f"set spec.name to {name} in"
            yield _edit(namespace, subscription, {"name": name}, text)


def _sources(
    namespace: Namespace, subscription: KubeObject, catalogs: Iterable[Catalog]
) -> Iterator[Change]:
    spec = subscription["spec"]
    for catalog in sorted(catalogs, key=lambda each: (-each.priority, each.key)):
        entries = catalog.content.having(package_key(spec["name"]))
        if catalog.key == _source(spec) or not entries:
            continue
        patch = {"source": catalog.key.name, "sourceNamespace": catalog.key.namespace}
        where = f"{catalog.key.namespace}/{catalog.key.name}"
        if spec.get("channel") in {None, "", *(entry.channel for entry in entries)}:
            text = f"set spec.source and spec.sourceNamespace to catalog {where} in"
            yield _edit(namespace, subscription, patch, text)
        for channel in sorted({e.channel for e in entries if e.in_default_channel}):
            text = f"set spec.source to catalog {where} and spec.channel to {channel} in"
            yield _edit(namespace, subscription, {**patch, "channel": channel}, text)


def _exclusion(namespace: Namespace) -> Iterator[Change]:
    """Lets the namespace see global catalogs, or not see them."""
    if len(namespace.groups) != 1:
        return
    group = namespace.groups[0]
    excluded = (group["metadata"].get("annotations") or {}).get(EXCLUDE_GLOBAL) == "true"
    value = None if excluded else "true"
    verb = "remove annotation" if excluded else "set to true annotation"
    name = name_of(group)

    def after(before: Namespace) -> Namespace:
        metadata = before.groups[0]["metadata"]
        annotations = {**(metadata.get("annotations") or {}), EXCLUDE_GLOBAL: value}
        changed = {**before.groups[0], "metadata": {**metadata, "annotations": annotations}}
        return replace(before, groups=(changed,))

    set_to = f"{EXCLUDE_GLOBAL}-" if excluded else f"{EXCLUDE_GLOBAL}=true"
    yield Change(
        f"{verb} {EXCLUDE_GLOBAL} of operatorgroup {name}",
        after,
        f"kubectl annotate operatorgroup {name} -n {namespace.name} {set_to}",
    )


def _provided(predicates: Sequence[Predicate]) -> Iterator[Change]:
    """A catalog of the namespace that has all that nothing visible has."""
    things = [_thing(predicate) for predicate in predicates]
    if not all(things):
        return
    known = dict(thing for thing in things if thing)

    def after(before: Namespace) -> Namespace:
        number = sum(each.key.name.startswith(ADDED) for each in before.catalogs)
        key = SourceKey(f"{ADDED}-{number}", before.name)
        entries = [replace(entry, source=key) for entry in known.values()]
        return replace(before, catalogs=(*before.catalogs, Catalog(key, 0, MemoryReader(entries))))

    yield Change(f"add a catalog that has {' and '.join(known)}", after)


def _thing(predicate: Predicate) -> tuple[str, Entry] | None:
    """What meets a predicate, and how it is called; None for what is not so simple."""
    kind, value = json.loads(predicate.id)
    if kind == "gvk":
        group, version, name = value
        provided = {"type": "olm.gvk", "value": {"group": group, "version": version, "kind": name}}
        text = called(predicate)
        return text, Entry(text, NOWHERE, text, ADDED, properties=(provided,))
    if kind == "package":
        package, versions = value
        found = next((e for e in _versions(package, versions) if predicate.holds(e)), None)
        return (called(predicate), found) if found else None
    return None


def called(predicate: Predicate) -> str:
    """What a bundle needs, in few words."""
    kind, value = json.loads(predicate.id)
    if kind == "gvk":
        group, version, name = value
        return f"API {name} ({group}/{version})"
    if kind == "package":
        return f"package {value[0]} in range {value[1]}"
    return f"an operator {predicate.text}"


def _versions(package: str, versions: str) -> Iterator[Entry]:
    """Bundles of the package whose versions stand in the range, or near what stands there."""
    words = versions
    for sign in "<>=!|,":
        words = words.replace(sign, " ")
    for word in (*words.split(), "0.0.0", "9999.0.0"):
        version = tolerant_version(word.replace("x", "0"))
        if version is None:
            continue
        near_by = [version, replace(version, patch=version.patch + 1)]
        near_by += [replace(version, patch=version.patch - 1)] if version.patch else []
        for each in near_by:
            value = {"packageName": package, "version": str(each)}
            properties = ({"type": "olm.package", "value": value},)
            yield Entry(
                f"{package}.v{each}", NOWHERE, package, ADDED,
                version=each, properties=properties,
            )  # fmt: skip


def _without_catalog(catalog: Catalog) -> Change:
    key = catalog.key
    return Change(
        f"mend or delete catalogsource {key.namespace}/{key.name}",
        lambda before: replace(
            before, catalogs=tuple(each for each in before.catalogs if each.key != key)
        ),
        f"kubectl delete catalogsource {key.name} -n {key.namespace}",
    )


def _without_csv(namespace: Namespace, csv: KubeObject) -> Change:
    name = name_of(csv)
    return Change(
        f"delete clusterserviceversion {name}",
        lambda before: replace(
            before, csvs=tuple(each for each in before.csvs if name_of(each) != name)
        ),
        f"kubectl delete clusterserviceversion {name} -n {namespace.name}",
    )


def _without_subscription(namespace: Namespace, subscription: KubeObject) -> Change:
    name = name_of(subscription)
    return Change(
        f"delete subscription {name}",
        lambda before: replace(
            before,
            subscriptions=tuple(each for each in before.subscriptions if name_of(each) != name),
        ),
        f"kubectl delete subscription.operators.coreos.com {name} -n {namespace.name}",
    )


def _edit(
    namespace: Namespace, subscription: KubeObject, patch: Mapping[str, Any], text: str
) -> Change:
    name = name_of(subscription)

    def edited(given: KubeObject) -> KubeObject:
        spec = {**given["spec"], **patch}
        return {**given, "spec": {key: each for key, each in spec.items() if each is not None}}

    def after(before: Namespace) -> Namespace:
        subscriptions = tuple(
            edited(each) if name_of(each) == name else each for each in before.subscriptions
        )
        return replace(before, subscriptions=subscriptions)

    merge = json.dumps({"spec": patch}, separators=(",", ":"))
    return Change(
        f"{text} subscription {name}",
        after,
        f"kubectl patch subscription.operators.coreos.com {name} -n {namespace.name} "
        f"--type=merge -p '{merge}'",
    )


def _source(spec: Mapping[str, Any]) -> SourceKey:
    return SourceKey(spec.get("source") or "", spec.get("sourceNamespace") or "")
