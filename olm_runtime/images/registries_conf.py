"""Where images are fetched from: containers-registries.conf(5), version 2. Pure.

The administrator's file may send a registry's images to mirrors, rename them, allow plain HTTP, or
forbid them. Files are given in reading order; a later one replaces an earlier one's registry of
the same prefix. Search registries and aliases are read over: only full names are accepted here.
"""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from olm_runtime.errors import OLMError, TransientError
from olm_runtime.images.reference import ImageRef, parse_ref

WILDCARD = "*."
IN_FILE = "in registries.conf"


class RegistriesConfError(TransientError):
    """A file that cannot be understood: file and fault are in the message."""


class RegistryBlockedError(TransientError):
    """The administrator forbids to ask this registry for the image."""


class MirrorUse(Enum):
    """Which references a mirror is asked for."""

    ALL = "all"
    DIGEST_ONLY = "digest-only"
    TAG_ONLY = "tag-only"


@dataclass(frozen=True, slots=True)
class Source:
    """A place to ask. `insecure`: any certificate will do, and plain HTTP where there is none.

    `blocked` is empty, or what is blocked and by whom.
    """

    ref: ImageRef
    insecure: bool = False
    blocked: str = ""

    def check(self) -> None:
        """Raises RegistryBlockedError for a place that must not be asked."""
        if self.blocked:
            raise RegistryBlockedError(
                f'image "{self.ref}": registry {self.blocked}',
                hint="unblock it there, or use an image that a mirror or another registry has",
            )


@dataclass(frozen=True, slots=True)
class Mirror:
    """A copy of a registry; `location` replaces the prefix."""

    location: str
    insecure: bool = False
    use: MirrorUse = MirrorUse.ALL


@dataclass(frozen=True, slots=True)
class Rule:
    """What holds for references under `prefix`; an empty `location` keeps them as they are.

    `blocked` is empty, or who blocks it: `in registries.conf`. Its mirrors may be asked all the
    same.
    """

    prefix: str
    location: str = ""
    insecure: bool = False
    blocked: str = ""
    mirrors: tuple[Mirror, ...] = ()


@dataclass(frozen=True, slots=True)
class RegistriesConf:
    """All rules; the one with the longest prefix counts."""

    rules: tuple[Rule, ...] = ()

    def sources(self, ref: ImageRef) -> tuple[Source, ...]:
        """Where to ask for an image, in order; at least one, the last is its own registry.

        A mirror for tags is asked for a digest too when the image was named by tag: with both in
        `ref`. Raises RegistriesConfError.
        """
        rule, matched = self.rule_of(str(ref))
        if rule is None:
            return (Source(_by_digest(ref)),)
        places = [
            self._place(_moved(ref, matched, mirror.location), mirror.insecure)
            for mirror in rule.mirrors
            if not _is_left_out(mirror.use, ref)
        ]
        home = _moved(ref, matched, rule.location) if rule.location else _by_digest(ref)
        own = self._place(home, rule.insecure)
        return (*places, replace(own, blocked=_blocked(rule) or own.blocked))

    def rule_of(self, text: str) -> tuple[Rule | None, int]:
        """The rule for a reference or a prefix of some, and how much of it the rule covers.

        It is the one with the longest prefix; an exact one before a wildcard of the same length.
        """
        found: tuple[int, bool, Rule, int] | None = None
        for rule in self.rules:
            length = _covered(text, rule.prefix)
            rank = (len(rule.prefix), not rule.prefix.startswith(WILDCARD))
            if length and (found is None or rank > found[:2]):
                found = (*rank, rule, length)
        return (found[2], found[3]) if found else (None, 0)

    def _place(self, ref: ImageRef, insecure: bool) -> Source:
        """A place under the rule that is for it, whoever sent us there."""
        return Source(ref, insecure, _blocked(self.rule_of(str(ref))[0]))


def parse_registries(files: Iterable[tuple[str, str]]) -> RegistriesConf:
    """Reads files, given as name and text. Raises RegistriesConfError."""
    rules: dict[str, Rule] = {}
    for name, text in files:
        try:
            rules |= _rules(tomllib.loads(text))
        except (tomllib.TOMLDecodeError, _FaultError) as error:
            raise RegistriesConfError(
                f"{name} cannot be read: {error}",
                hint="its format is in containers-registries.conf(5), version 2",
            ) from error
    return RegistriesConf(tuple(rules.values()))


class _FaultError(Exception):
    """What is wrong in a file."""


def _rules(document: Mapping[str, Any]) -> dict[str, Rule]:
    if "registries" in document:
        raise _FaultError("it is in the version 1 format; write [[registry]] tables")
    rules: dict[str, Rule] = {}
    for table in _tables(document, "registry"):
        rule = _rule(table)
        if rules.setdefault(rule.prefix, rule) != rule:
            raise _FaultError(f'registry "{rule.prefix}" is there twice with different settings')
    return rules


def _rule(table: Mapping[str, Any]) -> Rule:
    location = _location(table, "location")
    prefix = _location(table, "prefix") or location
    if not prefix:
        raise _FaultError("a registry has neither prefix nor location")
    if not location and not prefix.startswith(WILDCARD):
        raise _FaultError(
            f'registry "{prefix}" has no location; only a prefix like *.host needs none'
        )
    if "pull-from-mirror" in table:
        raise _FaultError(f'registry "{prefix}": pull-from-mirror belongs to its mirrors')
    digest_only = _flag(table, "mirror-by-digest-only")
    return Rule(
        prefix=prefix,
        location=location,
        insecure=_flag(table, "insecure"),
        blocked=IN_FILE if _flag(table, "blocked") else "",
        mirrors=tuple(_mirror(m, prefix, digest_only) for m in _tables(table, "mirror")),
    )


def _mirror(table: Mapping[str, Any], prefix: str, digest_only: bool) -> Mirror:
    location = _location(table, "location")
    if not location:
        raise _FaultError(f'registry "{prefix}": a mirror has no location')
    use = table.get("pull-from-mirror", "")
    if use and digest_only:
        raise _FaultError(
            f'registry "{prefix}": mirror-by-digest-only and pull-from-mirror exclude'
        )
    if not use:
        return Mirror(
            location,
            _flag(table, "insecure"),
            MirrorUse.DIGEST_ONLY if digest_only else MirrorUse.ALL,
        )
    try:
        return Mirror(location, _flag(table, "insecure"), MirrorUse(use))
    except ValueError as error:
        choices = ", ".join(choice.value for choice in MirrorUse)
        raise _FaultError(f'mirror "{location}": pull-from-mirror is one of {choices}') from error


def _tables(document: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    tables = document.get(key, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise _FaultError(f"{key} is no list of tables; write [[{key}]]")
    return tables


def _location(table: Mapping[str, Any], key: str) -> str:
    value = table.get(key, "")
    if not isinstance(value, str):
        raise _FaultError(f"{key} is no text")
    if "://" in value:
        raise _FaultError(
            f'{key} "{value}" is an address; write HOST[:PORT][/PATH] without a scheme'
        )
    return value.rstrip("/")


def _flag(table: Mapping[str, Any], key: str) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        raise _FaultError(f"{key} is neither true nor false")
    return value


def _blocked(rule: Rule | None) -> str:
    return f"{rule.prefix} is blocked {rule.blocked}" if rule is not None and rule.blocked else ""


def _is_left_out(use: MirrorUse, ref: ImageRef) -> bool:
    if use is MirrorUse.TAG_ONLY:
        return not ref.tag
    return use is MirrorUse.DIGEST_ONLY and not ref.digest


def _by_digest(ref: ImageRef) -> ImageRef:
    return ref.canonical(ref.digest) if ref.digest else ref


def _covered(text: str, prefix: str) -> int:
    """How many characters of a reference a prefix covers, 0 for none.

    A host is covered with its port only: `host` says nothing about `host:5000`.
    """
    if prefix.startswith(WILDCARD):
        host = text.partition("/")[0]
        return len(host) if host.endswith(prefix[1:]) and len(host) >= len(prefix) else 0
    if not text.startswith(prefix):
        return 0
    ends = "/:@" if "/" in prefix else "/"
    return len(prefix) if len(text) == len(prefix) or text[len(prefix)] in ends else 0


def _moved(ref: ImageRef, matched: int, location: str) -> ImageRef:
    text = location + str(ref)[matched:]
    try:
        return _by_digest(parse_ref(text))
    except OLMError as error:
        raise RegistriesConfError(
            f'image "{ref}": a mirror or location makes it "{text}", which is no image reference',
            hint=f'correct "{location}" in registries.conf, or in the object that names it',
        ) from error
