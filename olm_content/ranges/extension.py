"""The dialect of `spec.source.catalog.version`: Masterminds semver v3.5.0 constraints.

A range is groups joined by `||`; a group is comparators joined by spaces or commas, all of which
have to hold. The prerelease rule: a group rejects every prerelease version, unless some comparator
in it names a prerelease itself; then the whole group takes them in their order.
"""

from typing import NamedTuple

from olm_content.formats.go_text import quote
from olm_content.ranges import grammar
from olm_content.ranges.comparators import OPERATORS, Comparator
from olm_content.ranges.errors import RangeError
from olm_content.versions import Version

MAX_BYTES = 512
MAX_GROUPS = 32


class Group(NamedTuple):
    """Comparators that must all hold; `prereleases` when one of them names a prerelease."""

    comparators: tuple[Comparator, ...]
    prereleases: bool

    def matches(self, version: Version, *, any_prerelease: bool) -> bool:
        """Whether the version passes the prerelease rule and is in all comparators."""
        if version.prerelease and not (self.prereleases or any_prerelease):
            return False
        return all(version.key in comparator for comparator in self.comparators)


class ExtensionRange(NamedTuple):
    """A parsed range; `text` is as the user wrote it."""

    text: str
    groups: tuple[Group, ...]

    def matches(self, version: Version, *, any_prerelease: bool = False) -> bool:
        """Whether the version is in the range.

        `any_prerelease` suspends the prerelease rule: it tells a version that only this rule
        keeps out from one that is out of range.
        """
        return any(group.matches(version, any_prerelease=any_prerelease) for group in self.groups)


def parse_extension_range(text: str) -> ExtensionRange:
    """The range a ClusterExtension asks for. Raises RangeError."""
    if len(text.encode(errors="replace")) > MAX_BYTES:
        raise RangeError(
            f"constraint string is too long (max {MAX_BYTES} bytes)",
            text=text,
            position=min(MAX_BYTES, len(text)),
            expected=f"a range has at most {MAX_BYTES} bytes",
        )
    groups = grammar.without_hyphens(text).split("||")
    if len(groups) > MAX_GROUPS:
        raise RangeError(
            f"too many constraint groups (max {MAX_GROUPS})",
            text=text,
            position=len("||".join(text.split("||")[:MAX_GROUPS])),
            expected=f"a range has at most {MAX_GROUPS} groups joined by ||",
        )
    return ExtensionRange(text, tuple(_parse_group(group, text) for group in groups))


def _parse_group(group: str, text: str) -> Group:
    try:
        terms = grammar.scan(group)
    except grammar.Misfit as misfit:
        raise _error(f"improper constraint: {quote(group)}", text) from misfit
    try:
        operands = [grammar.operand(term) for term in terms]
    except grammar.Misfit as misfit:
        raise _error("constraint parser error", text) from misfit
    return Group(
        tuple(
            OPERATORS[term.operator](operand) for term, operand in zip(terms, operands, strict=True)
        ),
        prereleases=any(operand.prerelease for operand in operands),
    )


def _error(message: str, text: str) -> RangeError:
    misfit = grammar.locate(text)
    return RangeError(message, text=text, position=misfit.position, expected=misfit.expected)
