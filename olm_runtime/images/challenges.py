"""Challenges of a server that asks for credentials: the header WWW-Authenticate. Pure.

The grammar is that of RFC 9110, section 11: several challenges may share a header, and their
parameters are tokens or quoted strings. Beyond it, a value without quotes may hold what no token
may (an address, say), because there are registries that send that.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_NAME = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_END = r"(?=[ \t]*(?:,|$))"
_SEPARATORS = re.compile(r"[ \t,]*")
_SCHEME = re.compile(rf"({_NAME})(?=[ \t,]|$)")
_TOKEN68 = re.compile(rf"[ \t]+[A-Za-z0-9._~+/-]+=*{_END}")
_PARAMETER = re.compile(
    rf"({_NAME})[ \t]*=[ \t]*"
    rf'(?:"((?:[^"\\]|\\.)*)"|([^\s",=][^\s",]*)){_END}'
)  # fmt: skip
_QUOTED_PAIR = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class Challenge:
    """One way to say who we are: a scheme and its parameters, both named in lower case."""

    scheme: str
    parameters: Mapping[str, str] = field(default_factory=dict)


def read_challenges(header: str) -> list[Challenge]:
    """The challenges of a header, in its order; what cannot be read ends the list.

    Of a parameter that is named twice the first counts.
    """
    found: list[Challenge] = []
    place = _after_separators(header, 0)
    while scheme := _SCHEME.match(header, place):
        parameters, place = _read_parameters(header, scheme.end())
        found.append(Challenge(scheme[1].lower(), parameters))
    return found


def _read_parameters(header: str, place: int) -> tuple[dict[str, str], int]:
    """The parameters that follow a scheme, and where the next challenge begins."""
    if token68 := _TOKEN68.match(header, place):
        return {}, _after_separators(header, token68.end())
    parameters: dict[str, str] = {}
    place = _after_separators(header, place)
    while found := _PARAMETER.match(header, place):
        name, quoted, plain = found.groups()
        value = plain if quoted is None else _QUOTED_PAIR.sub(r"\1", quoted)
        parameters.setdefault(name.lower(), value)
        place = _after_separators(header, found.end())
    return parameters, place


def _after_separators(header: str, place: int) -> int:
    found = _SEPARATORS.match(header, place)
    return found.end() if found else place
