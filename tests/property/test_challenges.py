"""Challenges are read as RFC 9110 writes them, however they are written; nothing else is a fault.

Source: RFC 9110, sections 5.6 (lists, tokens, quoted strings) and 11.2 to 11.6.
"""

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from olm_runtime.images.challenges import Challenge, read_challenges
from tests.property.scale import cases

pytestmark = pytest.mark.property

TOKEN = st.text(string.ascii_letters + string.digits + "!#$%&'*+-.^_`|~", min_size=1, max_size=8)
QUOTED = st.text([chr(code) for code in (*range(0x20, 0x7F), 0x9, 0xE9)], max_size=20)
BLANK = st.text(" \t", max_size=2)
SEPARATOR = st.builds("{},{}{}".format, BLANK, BLANK, st.sampled_from(("", ",", " , ,")))
TOKEN68 = st.builds(
    lambda text, padding: text + "=" * padding,
    st.text(string.ascii_letters + string.digits + "-._~+/", min_size=1, max_size=12),
    st.integers(0, 2),
)


def quoted(value: str, escaped: str) -> str:
    """A quoted string: what must be escaped is, and what else is asked for."""
    return '"' + "".join(f"\\{c}" if c in escaped else c for c in value) + '"'


@st.composite
def parameter(draw: st.DrawFn) -> tuple[str, str, str]:
    """A parameter's name, its value, and how it is written."""
    name = draw(TOKEN)
    value = draw(TOKEN | QUOTED)
    escaped = '"\\' + draw(st.sampled_from(("", "ab :/", string.printable)))
    plain = value.isalnum() and value.isascii() and draw(st.booleans())
    text = value if plain else quoted(value, escaped)
    return name, value, f"{name}{draw(BLANK)}={draw(BLANK)}{text}"


@st.composite
def challenge(draw: st.DrawFn) -> tuple[Challenge, str]:
    """A challenge and how it is written."""
    scheme = draw(TOKEN)
    if draw(st.integers(0, 4)) == 0:
        return Challenge(scheme.lower()), f"{scheme} {draw(TOKEN68)}"
    parameters = draw(st.lists(parameter(), max_size=4, unique_by=lambda p: p[0].lower()))
    written = parameters[0][2] if parameters else ""
    for _, _, text in parameters[1:]:
        written += draw(SEPARATOR) + text
    values = {name.lower(): value for name, value, _ in parameters}
    return Challenge(scheme.lower(), values), f"{scheme} {written}" if written else scheme


@settings(max_examples=cases(800), deadline=None)
@given(st.data(), st.lists(challenge(), max_size=4))
def test_what_the_grammar_allows_is_read(
    data: st.DataObject, challenges: list[tuple[Challenge, str]]
) -> None:
    """However many share a header, in any case, with empty elements and optional blanks."""
    header = data.draw(SEPARATOR | st.just(""))
    for _, written in challenges:
        header += written + data.draw(SEPARATOR)
    assert read_challenges(header) == [meant for meant, _ in challenges]


@settings(max_examples=cases(800), deadline=None)
@given(st.text(st.sampled_from('aZ0 \t,="\\:/;é-')) | st.text())
def test_any_text_is_read_without_a_fault(header: str) -> None:
    for found in read_challenges(header):
        assert found.scheme
        assert found.scheme in header.lower()
        assert all(name == name.lower() for name in found.parameters)


@settings(max_examples=cases(500), deadline=None)
@given(st.lists(challenge(), min_size=1, max_size=4), st.text())
def test_what_comes_before_a_fault_counts(
    challenges: list[tuple[Challenge, str]], rest: str
) -> None:
    header = ", ".join(written for _, written in challenges) + ', "' + rest
    assert read_challenges(header)[: len(challenges)] == [meant for meant, _ in challenges]
