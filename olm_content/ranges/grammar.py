"""How the extension dialect is written: its tokens, and where a text stops being a range."""

import re
from typing import NamedTuple

from olm_content.formats.go_text import quote
from olm_content.ranges.comparators import ALL_WRITTEN, Operand
from olm_content.versions import Version, VersionError, fits

MAX_VERSION_BYTES = 256

_BLANK = r"[ \t\n\f\r]"
_PART = r"[0-9xX*|]+"
_IDENTIFIERS = r"[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*"
_SUFFIX = rf"(?:-(?P<prerelease>{_IDENTIFIERS}))?(?:\+(?P<build>{_IDENTIFIERS}))?"
_VERSION = rf"v?{_PART}(?:\.{_PART}){{0,2}}(?:-{_IDENTIFIERS})?(?:\+{_IDENTIFIERS})?"

_OPERAND = re.compile(
    rf"v?(?P<major>{_PART})(?:\.(?P<minor>{_PART}))?(?:\.(?P<patch>{_PART}))?{_SUFFIX}"
)
_LOOSE = re.compile(
    rf"v?(?P<major>[0-9]+)(?:\.(?P<minor>[0-9]+))?(?:\.(?P<patch>[0-9]+))?{_SUFFIX}"
)
_OPERATOR = re.compile(rf"{_BLANK}*(!=|>=|=>|<=|=<|~>|[=<>~^])?{_BLANK}*")
_TERM = re.compile(rf"{_OPERATOR.pattern}({_VERSION})")
_SEPARATOR = re.compile(rf"{_BLANK}*,|{_BLANK}+")
_REST_IS_BLANK = re.compile(rf"{_BLANK}*\Z")
_HYPHEN = rf"{_BLANK}*({_VERSION})({_BLANK}+-{_BLANK}+)({_VERSION}){_BLANK}*"
_WILDCARDS = frozenset({"x", "X", "*"})

_HABITS = (
    (r"(?i)or\b", "write || for `or`"),
    (r"(?i)and\b|&", "write a space or a comma for `and`"),
    (r"=", "write = once to ask for equality"),
    (r"!", "write != to exclude a version"),
    (r"V[0-9]", "write the version with a small v or without one"),
    (r"\.", "a version has at most three numbers"),
)
_EXPECTED_VERSION = "expected a version here, such as 1.2.3, 1.2 or 1.x"
_EXPECTED_SEPARATOR = "expected a space, a comma, || or the end here"
_EXPECTED_NUMBERS = (
    "expected numbers of up to 64 bits or one of x, X, * between the dots, "
    "and prerelease numbers without leading zeros"
)


class Misfit(Exception):  # noqa: N818 - a place in a text; becomes a RangeError for users
    """Where a group stops being one: offset into it, and what was expected there."""

    def __init__(self, position: int, expected: str) -> None:
        super().__init__(expected)
        self.position = position
        self.expected = expected


class Term(NamedTuple):
    """Operator and version of one comparator, and the offset of the version in its group."""

    operator: str
    version: str
    position: int


def scan(group: str) -> list[Term]:
    """The comparators of a group. Raises Misfit."""
    terms: list[Term] = []
    end = 0
    while found := _TERM.match(group, end):
        terms.append(Term(found[1] or "", found[2], found.start(2)))
        end = found.end()
        if _REST_IS_BLANK.match(group, end):
            return terms
        separator = _SEPARATOR.match(group, end)
        if separator is None:
            raise Misfit(end, _habit(group, end) or _EXPECTED_SEPARATOR)
        end = separator.end()
    start = _OPERATOR.match(group, end)
    position = start.end() if start else end
    raise Misfit(position, _habit(group, position) or _EXPECTED_VERSION)


def _habit(text: str, position: int) -> str:
    """What to write instead, for the ways other languages spell ranges."""
    return next((hint for habit, hint in _HABITS if re.match(habit, text[position:])), "")


def operand(term: Term) -> Operand:
    """The version of a comparator, unwritten parts filled with zeros. Raises Misfit.

    Behind a wildcard anything may stand and counts for nothing: `1.x.3` is `1.x`.
    """
    found = _OPERAND.fullmatch(term.version)
    if found is None:
        raise Misfit(term.position, _EXPECTED_VERSION)
    numbers = [found["major"], found["minor"], found["patch"]]
    written = next((i for i, n in enumerate(numbers) if n is None or n in _WILDCARDS), ALL_WRITTEN)
    spelled = term.version
    if written < ALL_WRITTEN:
        suffix = f"-{found['prerelease']}" if found["prerelease"] else ""
        spelled = ".".join([*numbers[:written], *["0"] * (ALL_WRITTEN - written)]) + suffix
    try:
        return Operand(parse_loose_version(spelled), written)
    except VersionError as error:
        raise Misfit(term.position, _EXPECTED_NUMBERS) from error


def parse_loose_version(text: str) -> Version:
    """A version as users write it: `v` in front, missing minor or patch, leading zeros.

    Raises VersionError.
    """
    if len(text) > MAX_VERSION_BYTES:
        raise VersionError(f"version string is too long (max {MAX_VERSION_BYTES} bytes)")
    found = _LOOSE.fullmatch(text)
    if found is None:
        raise VersionError(
            "invalid semantic version",
            hint="a version is like 1.2.3, with an optional -prerelease and +build",
        )
    numbers = [found["major"], found["minor"] or "0", found["patch"] or "0"]
    prerelease = tuple(found["prerelease"].split(".")) if found["prerelease"] else ()
    if not all(map(fits, numbers)):
        raise VersionError(f"a number in version {quote(text)} does not fit into 64 bits")
    if any(len(word) > 1 and word[0] == "0" and word.isdecimal() for word in prerelease):
        raise VersionError("version segment starts with 0")
    build = tuple(found["build"].split(".")) if found["build"] else ()
    return Version(int(numbers[0]), int(numbers[1]), int(numbers[2]), prerelease, build)


def without_hyphens(text: str) -> str:
    """The text with each hyphen range `a - b` written as two comparators."""
    for found in re.finditer(_HYPHEN, text) if "-" in text else ():
        text = text.replace(found[0], f">= {found[1]}, <= {found[3]} ", 1)
    return text


def hyphens_as_commas(text: str) -> str:
    """The text of the same length in which hyphen ranges read as two comparators, for `locate`."""
    found = re.search(_HYPHEN, text)
    while found:
        start, end = found.span(2)
        text = text[:start] + ",".ljust(end - start) + text[end:]
        found = re.search(_HYPHEN, text)
    return text


def locate(text: str) -> Misfit:
    """Where a text that is no range first goes wrong: offset into the whole text."""
    start = 0
    for group in hyphens_as_commas(text).split("||"):
        try:
            for term in scan(group):
                operand(term)
        except Misfit as misfit:
            return Misfit(start + misfit.position, misfit.expected)
        start += len(group) + len("||")
    hyphen = re.search(_HYPHEN, text)
    position = hyphen.start(2) + 1 if hyphen else 0
    return Misfit(position, "a hyphen range `1.2 - 1.4` stands between versions without operators")
