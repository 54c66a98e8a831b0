"""The skipRange dialect of channel entries, one row per sentence of its rules."""

import pytest

from olm_content.ranges import RangeError, parse_skip_range
from olm_content.versions import parse_version

RULES = {
    "a space means and": (">=2.6.0 <2.7.0", "2.6.0 2.6.9", "2.5.9 2.7.0"),
    "bars between spaces mean or": ("<1.0.0 || >=2.0.0", "0.9.9 2.0.0", "1.5.0"),
    "a space behind an operator does not separate": (">= 1.0.0 < 2.0.0", "1.0.0", "2.0.0"),
    "no operator is equality": ("1.0.0", "1.0.0 1.0.0+b", "1.0.1"),
    "equality may be doubled": ("==1.0.0", "1.0.0", "1.0.1"),
    "an exclamation mark excludes": ("!1.0.0", "1.0.1", "1.0.0"),
    "not equal excludes": ("!=1.0.0", "1.0.1", "1.0.0"),
    "prereleases compare like any version": (">=1.0.0", "1.1.0-rc1", "1.0.0-rc1"),
    "a patch wildcard is its minor": ("1.2.x", "1.2.0 1.2.9", "1.3.0"),
    "a minor wildcard is its major": ("1.x", "1.0.0 1.9.0", "2.0.0"),
    "above a wildcard begins behind it": (">1.2.x", "1.3.0", "1.2.9"),
    "up to a wildcard includes it": ("<=1.2.x", "1.2.9", "1.3.0"),
    "from a wildcard includes it": (">=3.6.x <3.12.14", "3.6.0 3.12.13", "3.5.9 3.12.14"),
    "below a wildcard ends before it": ("<1.2.x", "1.1.9", "1.2.0"),
    "not a wildcard admits nothing": ("!=1.2.x", "", "1.1.0 1.2.0 1.3.0"),
    "two wildcards end with the first minor": ("1.x.x", "1.0.5", "1.1.0"),
    "an unknown operator before a wildcard is equality": ("^1.x", "1.0.0", "1.0.1"),
    "a single character is passed over": ("1.0.0 | >", "1.0.0", "1.0.1"),
}


@pytest.mark.parametrize(("text", "inside", "outside"), RULES.values(), ids=RULES.keys())
def test_rule(text: str, inside: str, outside: str) -> None:
    wanted = parse_skip_range(text)
    versions = inside.split() + outside.split()
    assert [v for v in versions if wanted.matches(parse_version(v))] == inside.split()


FAULTS = {
    "nothing": ("", "Last element in range is '||'", 0),
    "bars at the start": ("|| 1.0.0", "First element in range is '||'", 0),
    "bars at the end": ("1.0.0 ||", "Last element in range is '||'", 8),
    "bars twice": ("1.0.0 || || 2.0.0", "First element in range is '||'", 9),
    "bars without spaces": (
        "1.0.0||2.0.0",
        (
            'Could not parse Range "1.0.0||2.0.0": Could not parse version "1.0.0||2.0.0" in '
            '"1.0.0||2.0.0": Invalid character(s) found in patch number "0||2.0.0"'
        ),
        0,
    ),
    "tilde": (
        ">=1.0.0 ~1.2.3",
        'Could not parse Range "~1.2.3": Could not parse comparator "~" in "~1.2.3"',
        8,
    ),
    "a partial version": (
        ">=1.2",
        (
            'Could not parse Range ">=1.2": Could not parse version "1.2" in ">=1.2": '
            "No Major.Minor.Patch elements found"
        ),
        0,
    ),
    "a word": ("latest", 'Could not get version from string: "latest"', 0),
    "above a prerelease with an x": (
        ">1.0.0-fix",
        'Could not get version from string: ">="',
        0,
    ),
    "a wildcard that has no next": ("<=1a.x", 'Could not get version from string: "<"', 0),
}


@pytest.mark.parametrize(("text", "message", "position"), FAULTS.values(), ids=FAULTS.keys())
def test_fault_is_located(text: str, message: str, position: int) -> None:
    with pytest.raises(RangeError) as raised:
        parse_skip_range(text)
    assert (raised.value.message, raised.value.position) == (message, position)


def test_caret_stays_in_sight_in_a_long_range() -> None:
    text = " ".join([">=1.0.0"] * 50) + " ~2.0.0"
    with pytest.raises(RangeError) as raised:
        parse_skip_range(text)
    _, shown, caret = raised.value.hint.split("\n")
    assert shown[caret.index("^") :] == "~2.0.0"
    assert len(shown) <= 102
