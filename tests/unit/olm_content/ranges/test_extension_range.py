"""The range dialect of ClusterExtension, one row per sentence of its rules."""

import pytest

from olm_content.ranges import RangeError, parse_extension_range, parse_loose_version
from olm_content.versions import VersionError


def admitted(text: str, *versions: str) -> list[str]:
    wanted = parse_extension_range(text)
    return [v for v in versions if wanted.matches(parse_loose_version(v))]


DOCUMENTED = [
    ("1.11.x", "1.11.0 1.11.9", "1.10.9 1.12.0"),
    (">=1.12.X", "1.12.0 2.0.0", "1.11.9"),
    ("<=2.x", "0.0.0 2.9.9", "3.0.0"),
    ("*", "0.0.0 9.9.9", "1.0.0-rc1"),
    ("~1.11.0", "1.11.0 1.11.9", "1.10.9 1.12.0"),
    ("~1", "1.0.0 1.9.9", "0.9.9 2.0.0"),
    ("~1.12", "1.12.0 1.12.9", "1.11.9 1.13.0"),
    ("~1.12.x", "1.12.0 1.12.9", "1.11.9 1.13.0"),
    ("~1.x", "1.0.0 1.9.9", "0.9.9 2.0.0"),
    ("^0", "0.0.0 0.9.9", "1.0.0"),
    ("^0.0", "0.0.0 0.0.9", "0.1.0"),
    ("^0.0.3", "0.0.3", "0.0.2 0.0.4"),
    ("^0.2", "0.2.0 0.2.9", "0.1.9 0.3.0"),
    ("^0.2.3", "0.2.3 0.2.9", "0.2.2 0.3.0"),
    ("^1.2.x", "1.2.0 1.9.9", "1.1.9 2.0.0"),
    ("^1.2.3", "1.2.3 1.9.9", "1.2.2 2.0.0"),
    ("^2.x", "2.0.0 2.9.9", "1.9.9 3.0.0"),
    ("^2.3", "2.3.0 2.9.9", "2.2.9 3.0.0"),
    (">1.15, <1.17", "1.16.0", "1.15.3 1.17.0"),
    ("1.2 - 1.4.5", "1.2.0 1.4.5", "1.1.9 1.4.6"),
    (">=1.0.0", "1.0.0", "1.1.0-rc1"),
    (">=1.0.0-0", "1.0.0-0 1.1.0-rc1", "0.9.9"),
]


@pytest.mark.parametrize(("text", "inside", "outside"), DOCUMENTED)
def test_ranges_of_the_documents(text: str, inside: str, outside: str) -> None:
    assert admitted(text, *inside.split(), *outside.split()) == inside.split()


RULES = {
    "a full version is equality without build metadata": ("1.2.3", "1.2.3 1.2.3+b", "1.2.4"),
    "a build in the range is ignored": ("=1.2.3+a", "1.2.3 1.2.3+b", "1.2.2"),
    "an open version reads as tilde": ("1.2", "1.2.0 1.2.9", "1.3.0"),
    "equality with an open version reads as tilde": ("= 1", "1.0.0 1.9.0", "2.0.0"),
    "above an open major begins at the next": (">11", "12.0.0", "11.1.0 11.0.0"),
    "above an open minor begins at the next": (">11.1", "11.2.0 12.0.0", "11.1.5"),
    "up to an open major includes it": ("<=11", "11.9.9 0.1.0", "12.0.0"),
    "up to an open minor includes it": ("<=1.2", "1.2.9 0.3.0", "1.3.0"),
    "up to a wildcard ends with 0.0": ("<=*", "0.0.0 0.0.9", "0.1.0 1.0.0"),
    "above a wildcard leaves out 0.0.0 alone": (">*", "0.0.1 1.0.0", "0.0.0"),
    "not an open minor excludes the minor": ("!=1.2.x", "1.1.9 1.3.0", "1.2.0 1.2.9"),
    "not an open major excludes the major": ("!=1", "0.9.9 2.0.0", "1.0.0 1.9.9"),
    "not a wildcard leaves out 0.0.0 alone": ("!=*", "0.0.1 1.0.0", "0.0.0"),
    "caret of a wildcard is 0.0.0": ("^*", "0.0.0", "0.0.1 1.0.0"),
    "tilde of 0.0.0 has no end": ("~0.0.0", "0.0.0 9.9.9", ""),
    "behind a wildcard anything counts for nothing": ("1.x.3", "1.0.0 1.9.9", "2.0.0"),
    "groups are alternatives": ("<1 || >=2", "0.9.0 2.0.0", "1.5.0"),
    "a comma and a space both mean and": (">=1.0,<2 !=1.5.0", "1.0.0 1.6.0", "1.5.0 2.0.0"),
    "operators have twins": ("=>1.0.0 =<1.5.0 ~>1", "1.0.0 1.5.0", "1.6.0"),
    "v in front is fine": ("v1.2.3", "1.2.3 v1.2.3", "1.2.4"),
    "leading zeros are numbers": ("01.02.x", "1.2.0", "1.20.0"),
    "a prerelease opens its group to prereleases": (
        ">=1.0.0-0 <2.0.0",
        "1.0.0-0 1.5.0-rc1 2.0.0-rc1",
        "2.0.0",
    ),
    "a prerelease opens its own group only": (
        ">=3.0.0-0 || <2",
        "1.0.0 3.0.0-rc1",
        "1.0.0-rc1",
    ),
    "the end of a tilde leaves out the next prerelease": (
        "~1.2.0-0",
        "1.2.5-rc1 1.2.9",
        "1.3.0-alpha",
    ),
    "not an open minor keeps other prereleases of it": (
        "!=1.2 >=1.0.0-0",
        "1.1.0 1.2.3-rc1",
        "1.2.3",
    ),
}


@pytest.mark.parametrize(("text", "inside", "outside"), RULES.values(), ids=RULES.keys())
def test_rule(text: str, inside: str, outside: str) -> None:
    assert admitted(text, *inside.split(), *outside.split()) == inside.split()


FAULTS = {
    "a word is no version": ("abc", 'improper constraint: "abc"', 0, "expected a version here"),
    "nothing is no range": ("", 'improper constraint: ""', 0, "expected a version here"),
    "an operator needs a version": (">= ", 'improper constraint: ">= "', 3, "expected a version"),
    "or is written as bars": ("1 OR 2", 'improper constraint: "1 OR 2"', 2, "write ||"),
    "equality is written once": ("==1", 'improper constraint: "==1"', 1, "write = once"),
    "four numbers are too many": ("1.2.3.4", 'improper constraint: "1.2.3.4"', 5, "three numbers"),
    "an empty group": ("1 || ", 'improper constraint: " "', 5, "expected a version here"),
    "a lonely bar": ("1 | 2", "constraint parser error", 2, "expected numbers"),
    "a capital V": (">V1", 'improper constraint: ">V1"', 1, "small v"),
    "a wildcard among digits": ("1x", "constraint parser error", 0, "expected numbers"),
    "a number over 64 bits": (
        ">=1.18446744073709551616",
        "constraint parser error",
        2,
        "up to 64 bits",
    ),
    "a prerelease with a leading zero": ("1.2.3-01", "constraint parser error", 0, "leading zeros"),
    "an operator before a hyphen range": (
        ">=1.2 - 3",
        'improper constraint: ">=>= 1.2, <= 3 "',
        6,
        "without operators",
    ),
    "too many groups": (
        "||".join("1" * 33),
        "too many constraint groups (max 32)",
        94,
        "32 groups",
    ),
    "too many bytes": (
        "1" + " " * 512,
        "constraint string is too long (max 512 bytes)",
        512,
        "512",
    ),
}


@pytest.mark.parametrize(
    ("text", "message", "position", "expected"), FAULTS.values(), ids=FAULTS.keys()
)
def test_fault_is_located(text: str, message: str, position: int, expected: str) -> None:
    with pytest.raises(RangeError) as raised:
        parse_extension_range(text)
    assert raised.value.message == message
    assert raised.value.position == position
    assert expected in raised.value.hint


def test_hint_points_at_the_place_with_a_caret() -> None:
    with pytest.raises(RangeError) as raised:
        parse_extension_range(">=1.0 OR 2.0")
    assert raised.value.hint == "write || for `or`\n  >=1.0 OR 2.0\n        ^"


def test_limits_are_inclusive() -> None:
    assert parse_extension_range("||".join("1" * 32)).matches(parse_loose_version("1.0.0"))
    assert parse_extension_range("1".ljust(512)).matches(parse_loose_version("1.0.0"))


def test_prerelease_rule_can_be_suspended() -> None:
    wanted = parse_extension_range(">=1.0.0")
    assert not wanted.matches(parse_loose_version("1.1.0-rc1"))
    assert wanted.matches(parse_loose_version("1.1.0-rc1"), any_prerelease=True)
    assert not wanted.matches(parse_loose_version("1.0.0-rc1"), any_prerelease=True)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [("1", "1.0.0"), ("v1.2", "1.2.0"), ("01.2.3-a+b.1", "1.2.3-a+b.1"), ("1-rc", "1.0.0-rc")],
)
def test_loose_versions(text: str, canonical: str) -> None:
    assert str(parse_loose_version(text)) == canonical


@pytest.mark.parametrize("text", ["", "1.2.3.4", "a", "1.2.3-01", "V1", "1" * 257, "9" * 20])
def test_not_even_a_loose_version(text: str) -> None:
    with pytest.raises(VersionError):
        parse_loose_version(text)
