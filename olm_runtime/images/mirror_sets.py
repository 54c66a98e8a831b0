"""Mirrors that objects of an OpenShift cluster name, on top of registries.conf. Pure.

ImageDigestMirrorSet, ImageTagMirrorSet and ImageContentSourcePolicy are followed as the nodes
follow them (openshift/runtime-utils, package registries), so that catalogs come from where the
images of pods come from. All entries of one source count together; different sources do not
interact, and of those that cover an image the longest counts. What registries.conf says of a source
stays.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from api.objects import GVK, KubeObject, name_of
from olm_runtime.images.reference import is_host, is_location
from olm_runtime.images.registries_conf import WILDCARD, Mirror, MirrorUse, RegistriesConf, Rule

NEVER = "NeverContactSource"


@dataclass(frozen=True, slots=True)
class MirrorKind:
    """A kind whose `spec.FIELD` is a list of sources with their mirrors."""

    gvk: GVK
    field: str
    use: MirrorUse


MIRROR_KINDS = (
    MirrorKind(
        GVK("config.openshift.io", "v1", "ImageDigestMirrorSet"),
        "imageDigestMirrors",
        MirrorUse.DIGEST_ONLY,
    ),
    MirrorKind(
        GVK("config.openshift.io", "v1", "ImageTagMirrorSet"),
        "imageTagMirrors",
        MirrorUse.TAG_ONLY,
    ),
    MirrorKind(
        GVK("operator.openshift.io", "v1alpha1", "ImageContentSourcePolicy"),
        "repositoryDigestMirrors",
        MirrorUse.DIGEST_ONLY,
    ),
)


@dataclass(frozen=True, slots=True)
class MirrorEntry:
    """The mirrors that one entry of an object gives to a source, in order of preference.

    `source` is a registry, a path in one, or `*.DOMAIN`; `origin` is the object, as messages name
    it.
    """

    source: str
    mirrors: tuple[str, ...]
    use: MirrorUse
    never_contact_source: bool
    origin: str


def read_entries(kind: MirrorKind, obj: KubeObject) -> tuple[list[MirrorEntry], list[str]]:
    """The entries of an object, and why some were left out."""
    entries: list[MirrorEntry] = []
    faults: list[str] = []
    origin = f'{kind.gvk.kind} "{name_of(obj)}"'
    for index, item in enumerate(_list(_map(obj.get("spec")).get(kind.field))):
        entry = _entry(kind, _map(item), origin)
        fault = _fault(entry)
        if fault:
            faults.append(f"{origin}: spec.{kind.field}[{index}] is left out: {fault}")
        elif set(entry.mirrors) - {entry.source}:  # else it says nothing: not even never to ask it
            entries.append(entry)
    return entries, faults


def read_entry(fields: Mapping[str, Any]) -> MirrorEntry:
    """An entry from its own JSON. Raises TypeError, ValueError for anything else."""
    mirrors, use = tuple(fields["mirrors"]), MirrorUse(fields["use"])
    return MirrorEntry(**{**fields, "mirrors": mirrors, "use": use})


def contradictions(entries: Iterable[MirrorEntry]) -> list[str]:
    """Where one entry forbids a source that another one of the same source allows.

    Machine Config then changes nothing on the nodes until that is mended.
    """
    found: list[str] = []
    for source, group in _by_source(entries).items():
        never = {entry.origin for entry in group if entry.never_contact_source}
        other = {entry.origin for entry in group if not entry.never_contact_source}
        if never and other:
            found.append(
                f"source {source} is not contacted, as {min(never)} says; {min(other)} differs: "
                "give both the same mirrorSourcePolicy"
            )
    return found


def with_mirrors(conf: RegistriesConf, entries: Iterable[MirrorEntry]) -> RegistriesConf:
    """The rules with those of the entries.

    Mirrors of registries.conf come first, then those for digests, then those for tags. A source
    within a registry of registries.conf stays blocked, insecure and renamed as that is, and so does
    a mirror that is insecure there.
    """
    rules = {rule.prefix: rule for rule in conf.rules}
    for source, group in _by_source(entries).items():
        rule = _rule_for(conf, source)
        places = [
            Mirror(location, _is_insecure(conf, location), use)
            for use in (MirrorUse.DIGEST_ONLY, MirrorUse.TAG_ONLY)
            for location in merged(source, [e.mirrors for e in group if e.use is use])
        ]
        never = [entry.origin for entry in group if entry.never_contact_source]
        rules[source] = replace(
            rule,
            mirrors=tuple(dict.fromkeys((*rule.mirrors, *places))),
            blocked=rule.blocked or (f"by {min(never)} ({NEVER})" if never else ""),
        )
    return RegistriesConf(tuple(rules.values()))


def merged(source: str, lists: Sequence[Sequence[str]]) -> list[str]:
    """One order of all mirrors that keeps the order of each list, as far as they agree.

    `a, b` and `b, c` make `a, b, c`. What is left open is by name; where lists contradict each
    other, the first name goes first. The source is asked after all mirrors anyway, so it is among
    them only where a list has a mirror after it.
    """
    before: dict[str, set[str]] = {}
    for mirrors in lists:
        whole = [*mirrors, *([] if source in mirrors else [source])]
        for name in whole:
            before.setdefault(name, set())
        for first, second in pairwise(whole):
            before[second].add(first)
    ordered = _sorted(before)
    return ordered[:-1] if ordered[-1:] == [source] else ordered


def _sorted(before: dict[str, set[str]]) -> list[str]:
    """Names after all that come before them; first come, first served, at once ready ones by name.

    Takes `before` to pieces.
    """
    ready = deque(sorted(name for name, earlier in before.items() if not earlier))
    ordered: list[str] = []
    while before:
        name = ready.popleft() if ready else min(before)
        del before[name]
        ordered.append(name)
        for earlier in before.values():
            earlier.discard(name)
        ready.extend(sorted(n for n, earlier in before.items() if not earlier and n not in ready))
    return ordered


def _rule_for(conf: RegistriesConf, source: str) -> Rule:
    """The rule of a source itself, or one that carries on what holds for the registry around it."""
    around, covered = conf.rule_of(source)
    if around is None:
        return Rule(source)
    if around.prefix == source:
        return around
    location = around.location + source[covered:] if around.location else ""
    return replace(around, prefix=source, location=location, mirrors=())


def _is_insecure(conf: RegistriesConf, location: str) -> bool:
    rule, _ = conf.rule_of(location)
    return rule is not None and rule.insecure


def _by_source(entries: Iterable[MirrorEntry]) -> dict[str, list[MirrorEntry]]:
    groups: dict[str, list[MirrorEntry]] = {}
    for entry in sorted(entries, key=lambda entry: entry.source):
        groups.setdefault(entry.source, []).append(entry)
    return groups


def _entry(kind: MirrorKind, item: Mapping[str, Any], origin: str) -> MirrorEntry:
    return MirrorEntry(
        source=str(item.get("source") or ""),
        mirrors=tuple(dict.fromkeys(str(mirror) for mirror in _list(item.get("mirrors")))),
        use=kind.use,
        never_contact_source=item.get("mirrorSourcePolicy") == NEVER,
        origin=origin,
    )


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _map(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _fault(entry: MirrorEntry) -> str:
    """What is wrong with an entry; the API server checks most, but not of all kinds."""
    source = entry.source
    wild = source.startswith(WILDCARD) and is_host(source.removeprefix(WILDCARD))
    if not wild and not is_location(source):
        return f'source "{source}" is neither HOST[:PORT][/PATH] nor *.DOMAIN'
    for mirror in entry.mirrors:
        if not is_location(mirror):
            return f'mirror "{mirror}" is not HOST[:PORT][/PATH]'
    return ""
