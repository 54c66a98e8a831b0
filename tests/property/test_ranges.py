"""The range algebra against a naive reading of its rules, and laws it has to obey."""

import re
from collections.abc import Callable
from itertools import product
from random import Random
from typing import Any

import pytest
import semver
from hypothesis import given, settings
from hypothesis import strategies as st

from olm_content.ranges import (
    RangeError,
    parse_extension_range,
    parse_loose_version,
    parse_skip_range,
)
from olm_content.versions import Version, parse_bundle_version, parse_version
from tests.property.scale import cases, given_many

pytestmark = pytest.mark.property

thorough = settings(max_examples=cases(2000), deadline=None, print_blob=True)

SUBJECTS = 4
DIFFERENTIAL = 5000 // SUBJECTS
"""Ranges, of which each is asked about as many versions: 5 000 comparisons a test."""

NUMBERS = [0, 0, 1, 1, 2, 3, 10, 11]
WORDS = ["0", "1", "2", "11", "alpha", "beta", "rc", "a-b", "x1"]
PRERELEASES = [f"-{word}" for word in WORDS] * 5 + [f"-{a}.{b}" for a in WORDS for b in WORDS]
OPERATORS = ["", "=", "!=", ">", "<", ">=", "=>", "<=", "=<", "~", "~>", "^"]


def numbers(written: int) -> list[str]:
    """As many numbers with dots between them, in all combinations."""
    return [".".join(map(str, each)) for each in product(NUMBERS, repeat=written)]


def wild(written: int) -> list[str]:
    """Half of them end there, half in a wildcard."""
    return numbers(written) * 3 + [f"{each}.{x}" for each in numbers(written) for x in "xX*"]


def one_of(*values: Any) -> Callable[[Random], Any]:
    return lambda chance: chance.choice(values)


def prerelease(chance: Random, without: int) -> str:
    """There is none in so many cases for each that has one."""
    return "" if chance.randint(0, without) else chance.choice(PRERELEASES)


FULL = numbers(3)
WRITTEN = (["x", "X", "*"], wild(1), wild(2), FULL)


def version(chance: Random) -> str:
    return chance.choice(FULL) + prerelease(chance, 1)


def versions(chance: Random) -> list[str]:
    """Versions to ask one range about."""
    return [version(chance) for _ in range(SUBJECTS)]


def operand(chance: Random) -> str:
    return chance.choice(chance.choice(WRITTEN)) + prerelease(chance, 3)


def group(chance: Random) -> list[tuple[str, str]]:
    return [(chance.choice(OPERATORS), operand(chance)) for _ in range(chance.randint(1, 3))]


def alternatives_of(make: Callable[[Random], Any]) -> Callable[[Random], list[Any]]:
    """One to three of them."""
    return lambda chance: [make(chance) for _ in range(chance.randint(1, 3))]


def release(chance: Random) -> str:
    return ".".join(chance.choices(WORDS, k=chance.randint(0, 3)))


def spelled(group: list[tuple[str, str]], separator: str = " ") -> str:
    return separator.join(operator + operand for operator, operand in group)


class Naive:
    """One comparator, decided by comparing numbers step by step, as the rules are told."""

    def __init__(self, operator: str, operand: str) -> None:
        numbers, _, prerelease = operand.partition("-")
        parts = numbers.split(".")
        self.written = next((i for i, p in enumerate(parts) if p in "xX*"), len(parts))
        self.numbers = [int(p) for p in parts[: self.written]] + [0] * (3 - self.written)
        self.prerelease = prerelease
        self.operator = operator
        suffix = f"-{prerelease}" if prerelease else ""
        self.version = semver.Version.parse(".".join(map(str, self.numbers)) + suffix)

    def admits(self, version: semver.Version) -> bool:
        order = version.compare(self.version)
        match self.operator:
            case "" | "=":
                return order == 0 if self.written == 3 else self.tilde(version)
            case "!=":
                return self.not_equal(version)
            case ">":
                return order > 0 and (self.written in {0, 3} or not self.same_series(version))
            case ">=" | "=>":
                return order >= 0
            case "<":
                return order < 0
            case "<=" | "=<":
                return order <= 0 or (self.written < 3 and self.same_series(version))
            case "~" | "~>":
                return self.tilde(version)
            case _:
                return order >= 0 and self.caret(version)

    def same_series(self, version: semver.Version) -> bool:
        length = {0: 2, 1: 1, 2: 2, 3: 2}[self.written]
        return list(version.to_tuple()[:length]) == self.numbers[:length]

    def tilde(self, version: semver.Version) -> bool:
        unbounded = self.written in {0, 3} and self.numbers == [0, 0, 0]
        return version.compare(self.version) >= 0 and (unbounded or self.same_series(version))

    def not_equal(self, version: semver.Version) -> bool:
        if self.written in {0, 3}:
            return version.compare(self.version) != 0
        if self.written == 2 and (version.prerelease or "") != self.prerelease:
            return True
        return not self.same_series(version)

    def caret(self, version: semver.Version) -> bool:
        major, minor, patch = version.major, version.minor, version.patch
        if self.numbers[0] > 0 or self.written == 1:
            return bool(major == self.numbers[0])
        if self.numbers[1] > 0 or self.written == 2:
            return [major, minor] == self.numbers[:2]
        return [major, minor, patch] == self.numbers


def naive(alternatives: list[list[tuple[str, str]]], version: semver.Version) -> bool:
    for group in alternatives:
        comparators = [Naive(*term) for term in group]
        hidden = version.prerelease and not any(c.prerelease for c in comparators)
        if not hidden and all(c.admits(version) for c in comparators):
            return True
    return False


@given_many(DIFFERENTIAL, alternatives_of(group), versions)
def test_extension_ranges_admit_what_their_rules_say(
    alternatives: list[list[tuple[str, str]]], subjects: list[str]
) -> None:
    """OR groups by `||`, AND by space; operators, wildcards and the prerelease rule."""
    text = " || ".join(map(spelled, alternatives))
    wanted = parse_extension_range(text)
    for version in subjects:
        ours = wanted.matches(parse_loose_version(version))
        assert ours == naive(alternatives, semver.Version.parse(version)), version


@given_many(1000, group, version, one_of(",", ", ", " , ", "  "))
def test_a_comma_means_what_a_space_means(
    group: list[tuple[str, str]], version: str, separator: str
) -> None:
    """AND by space or comma."""
    subject = parse_loose_version(version)
    spaced, joined = spelled(group), spelled(group, separator)
    assert parse_extension_range(spaced).matches(subject) == parse_extension_range(joined).matches(
        subject
    )


@given_many(1000, operand, operand, version)
def test_a_hyphen_range_is_from_and_up_to(low: str, high: str, version: str) -> None:
    """Hyphen ranges are rewritten to `>=a, <=b`."""
    subject = parse_loose_version(version)
    hyphen = parse_extension_range(f"{low} - {high}")
    assert hyphen.matches(subject) == parse_extension_range(f">={low}, <={high}").matches(subject)


@given_many(2000, group, version)
def test_build_metadata_never_decides(group: list[tuple[str, str]], version: str) -> None:
    """Equality ignores build metadata, and so does every other operator."""
    wanted = parse_extension_range(spelled(group))
    bare = wanted.matches(parse_loose_version(version))
    assert wanted.matches(parse_loose_version(version + "+build.7")) == bare


@given_many(2000, group, version)
def test_suspending_the_prerelease_rule_only_adds(
    group: list[tuple[str, str]], version: str
) -> None:
    """Prereleases are rejected unless a comparator of the group has one: nothing else changes."""
    wanted = parse_extension_range(spelled(group))
    subject = parse_loose_version(version)
    if wanted.matches(subject):
        assert wanted.matches(subject, any_prerelease=True)
    elif wanted.matches(subject, any_prerelease=True):
        assert subject.prerelease


ALPHABET = st.text(alphabet='0123xX*.-+ <>=!~^|,v"\n\té\u00a0', max_size=24)


@thorough
@given(ALPHABET | st.text(max_size=40))
def test_any_text_is_a_range_or_an_error_that_points_into_it(text: str) -> None:
    """A parse error says where, and nothing else is ever raised."""
    for parse in (parse_extension_range, parse_skip_range):
        error = fault(parse, text)
        assert error is None or 0 <= error.position <= len(text)
        assert error is None or "^" in error.hint


def fault(parse: Callable[[str], object], text: str) -> RangeError | None:
    try:
        parse(text)
    except RangeError as error:
        return error
    return None


SKIP_OPERATORS = {
    "": [">=", "<"], "=": [">=", "<"], "==": [">=", "<"], "!": ["<", ">="], "!=": ["<", ">="],
    ">": ["", ">="], ">=": [">=", ""], "<": ["<", ""], "<=": ["", "<"],
}  # fmt: skip
EXPRESSION = re.compile(r"(?P<operator>[=!<>]*)(?P<version>.*)")


def skip_admits(comparator: str, version: semver.Version) -> bool:
    found = EXPRESSION.fullmatch(comparator)
    assert found
    order = version.compare(found["version"])
    return {
        "": order == 0, "=": order == 0, "==": order == 0, "!": order != 0, "!=": order != 0,
        ">": order > 0, ">=": order >= 0, "<": order < 0, "<=": order <= 0,
    }[found["operator"]]  # fmt: skip


def comparator(chance: Random) -> tuple[str, str]:
    while "x" in (compared := version(chance)):
        pass  # a wildcard to this parser
    return chance.choice(list(SKIP_OPERATORS)), compared


@given_many(DIFFERENTIAL, alternatives_of(alternatives_of(comparator)), versions)
def test_skip_ranges_admit_what_their_comparators_say(
    alternatives: list[list[tuple[str, str]]], subjects: list[str]
) -> None:
    """Space = AND, `||` = OR, prereleases compare normally."""
    wanted = parse_skip_range(" || ".join(map(spelled, alternatives)))
    for version in subjects:
        subject = semver.Version.parse(version)
        expected = any(all(skip_admits(o + v, subject) for o, v in group) for group in alternatives)
        assert wanted.matches(parse_version(version)) == expected, version


@given_many(
    2000,
    one_of(*SKIP_OPERATORS),
    *[one_of(*NUMBERS)] * 2,
    one_of(False, True),
    version,
)
def test_skip_wildcards_are_the_ends_of_their_series(
    operator: str, major: int, minor: int, patch_only: bool, version: str
) -> None:
    """`x` wildcards: an operator stands for the start of the series, its end, or both."""
    wildcard = f"{major}.{minor}.x" if patch_only else f"{major}.x"
    start = f"{major}.{minor}.0" if patch_only else f"{major}.0.0"
    end = f"{major}.{minor + 1}.0" if patch_only else f"{major + 1}.0.0"
    ends = zip(SKIP_OPERATORS[operator], (start, end), strict=True)
    subject = semver.Version.parse(version)
    expected = all(skip_admits(o + v, subject) for o, v in ends if o)
    assert parse_skip_range(operator + wildcard).matches(parse_version(version)) == expected


@given_many(2000, version, version)
def test_versions_order_as_semver_orders_them(one: str, other: str) -> None:
    """Order: precedence as semver 11, build ignored."""
    a, b = parse_version(one), parse_version(other)
    assert (a.key > b.key) - (a.key < b.key) == semver.Version.parse(one).compare(other)
    assert parse_version(one + "+b").key == a.key


@given_many(2000, version, release)
def test_versions_are_written_as_they_were_read(text: str, release: str) -> None:
    """Status re-embeds the release: what was read comes out again."""
    whole = f"{text}+{release}" if release else text
    assert str(parse_bundle_version(whole)) == whole
    assert str(parse_version(whole)) == whole
    assert isinstance(parse_loose_version(whole), Version)
