"""Challenges are read as RFC 9110 writes them, however they are written; nothing else is a fault.

Source: RFC 9110, sections 5.6 (lists, tokens, quoted strings) and 11.2 to 11.6.
"""

import string
from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from olm_runtime.images.challenges import Challenge, read_challenges
from tests.property.scale import cases, chances

pytestmark = pytest.mark.property

LETTERS = string.ascii_letters + string.digits
TOKEN = LETTERS + "!#$%&'*+-.^_`|~"
TOKEN68 = LETTERS + "-._~+/"
QUOTED = [chr(code) for code in (*range(0x20, 0x7F), 0x9, 0xE9)]


def text(chance: Random, of: Sequence[str], least: int, most: int) -> str:
    return "".join(chance.choices(of, k=chance.randint(least, most)))


def blank(chance: Random) -> str:
    return text(chance, " \t", 0, 2)


def separator(chance: Random) -> str:
    return f"{blank(chance)},{blank(chance)}{chance.choice(('', ',', ' , ,'))}"


def quoted(value: str, escaped: str) -> str:
    """A quoted string: what must be escaped is, and what else is asked for."""
    return '"' + "".join(f"\\{c}" if c in escaped else c for c in value) + '"'


def parameter(chance: Random) -> tuple[str, str, str]:
    """A parameter's name, its value, and how it is written."""
    name = text(chance, TOKEN, 1, 8)
    value = chance.choice((text(chance, TOKEN, 1, 8), text(chance, QUOTED, 0, 20)))
    escaped = '"\\' + chance.choice(("", "ab :/", string.printable))
    plain = value.isalnum() and value.isascii() and chance.random() < 0.5
    written = value if plain else quoted(value, escaped)
    return name, value, f"{name}{blank(chance)}={blank(chance)}{written}"


def challenge(chance: Random) -> tuple[Challenge, str]:
    """A challenge and how it is written."""
    scheme = text(chance, TOKEN, 1, 8)
    if chance.randint(0, 4) == 0:
        credentials = text(chance, TOKEN68, 1, 12) + "=" * chance.randint(0, 2)
        return Challenge(scheme.lower()), f"{scheme} {credentials}"
    drawn = [parameter(chance) for _ in range(chance.randint(0, 4))]
    parameters = list({name.lower(): (name, value, how) for name, value, how in drawn}.values())
    written = parameters[0][2] if parameters else ""
    for _, _, how in parameters[1:]:
        written += separator(chance) + how
    values = {name.lower(): value for name, value, _ in parameters}
    return Challenge(scheme.lower(), values), f"{scheme} {written}" if written else scheme


def challenges(chance: Random, least: int) -> list[tuple[Challenge, str]]:
    return [challenge(chance) for _ in range(chance.randint(least, 4))]


@settings(max_examples=cases(800), deadline=None)
@given(chances)
def test_what_the_grammar_allows_is_read(chance: Random) -> None:
    """However many share a header, in any case, with empty elements and optional blanks."""
    found = challenges(chance, 0)
    header = chance.choice(("", separator(chance)))
    for _, written in found:
        header += written + separator(chance)
    assert read_challenges(header) == [meant for meant, _ in found]


@settings(max_examples=cases(800), deadline=None)
@given(st.text(st.sampled_from('aZ0 \t,="\\:/;é-')) | st.text())
def test_any_text_is_read_without_a_fault(header: str) -> None:
    for found in read_challenges(header):
        assert found.scheme
        assert found.scheme in header.lower()
        assert all(name == name.lower() for name in found.parameters)


@settings(max_examples=cases(500), deadline=None)
@given(chances, st.text())
def test_what_comes_before_a_fault_counts(chance: Random, rest: str) -> None:
    found = challenges(chance, 1)
    header = ", ".join(written for _, written in found) + ', "' + rest
    assert read_challenges(header)[: len(found)] == [meant for meant, _ in found]
