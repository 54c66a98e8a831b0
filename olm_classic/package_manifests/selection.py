"""Selectors and pages of a list, as clients write them in its address."""

import base64
import binascii
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import orjson

from olm_classic.package_manifests.packed import Packed
from olm_content.formats.go_text import quote

_REQUIREMENT = re.compile(
    r"""\s*(?:(?P<not>!)\s*)?(?P<key>[^\s=!,()]+)\s*
    (?:(?P<equals>==|=|!=)\s*(?P<value>[^\s=!,()]*)
      |\s(?P<set>in|notin)\s*\((?P<values>[^()=!]*)\))?\s*""",
    re.VERBOSE,
)
_OUTSIDE_PARENTHESES = re.compile(r",(?![^(]*\))")
_TERM = re.compile(r"\s*(?P<field>[^=!]+?)\s*(?P<operator>==|=|!=)(?P<value>.*)", re.DOTALL)

NAME_FIELD = "metadata.name"

Holds = Callable[[Packed], bool]


class BadSelectionError(ValueError):
    """A selector that says nothing, or asks for what cannot be asked for."""


class ExpiredError(ValueError):
    """A page that continues nothing."""


def by_fields(text: str) -> list[Holds]:
    """What a field selector asks for. Raises BadSelectionError."""
    return [_term(term) for term in text.split(",") if term.strip()]


def _term(text: str) -> Holds:
    match = _TERM.fullmatch(text)
    if match is None:
        raise BadSelectionError(f"invalid selector: {quote(text)}; can't understand {quote(text)}")
    if match["field"] != NAME_FIELD:
        raise BadSelectionError(f"field label not supported: {match['field']}")
    value, wanted = match["value"], match["operator"] != "!="
    return lambda package: (package.name == value) is wanted


def by_labels(text: str) -> list[Holds]:
    """What a label selector asks for. Raises BadSelectionError."""
    return [_requirement(part) for part in _OUTSIDE_PARENTHESES.split(text)] if text.strip() else []


def _requirement(text: str) -> Holds:
    match = _REQUIREMENT.fullmatch(text)
    if match is None or (match["not"] and (match["equals"] or match["set"])):
        raise BadSelectionError(f"unable to parse requirement: {quote(text.strip())}")
    key = match["key"]
    if match["set"] or match["equals"]:
        given = match["values"].split(",") if match["set"] else [match["value"]]
        values = {value.strip() for value in given}
        wanted = (match["set"] or match["equals"]) not in ("notin", "!=")
        return lambda package: (package.labels.get(key) in values) is wanted
    wanted = not match["not"]
    return lambda package: (key in package.labels) is wanted


@dataclass(frozen=True, slots=True)
class Page:
    """Part of a list; `following` asks for the next one, empty after the last."""

    packages: Sequence[Packed]
    following: str = ""
    remaining: int = 0


def page(packages: Sequence[Packed], limit: int, token: str) -> Page:
    """The packages after those that `token` names, `limit` at most; 0 for all. Raises ExpiredError.

    A token names the last package that was sent, so that nothing is sent twice nor left out when
    packages come and go meanwhile.
    """
    begin = _after(packages, _read(token)) if token else 0
    end = begin + limit if limit else len(packages)
    chosen = packages[begin:end]
    if end >= len(packages):
        return Page(chosen)
    return Page(chosen, _write(_identity(chosen[-1]), end), len(packages) - end)


def _identity(package: Packed) -> tuple[str, str, str]:
    return package.catalog.namespace, package.catalog.name, package.name


def _after(packages: Sequence[Packed], position: tuple[tuple[str, str, str], int]) -> int:
    last, number = position
    for index, each in enumerate(packages):
        if _identity(each) == last:
            return index + 1
    return min(number, len(packages))


def _write(last: tuple[str, str, str], number: int) -> str:
    return base64.urlsafe_b64encode(orjson.dumps([*last, number])).decode()


def _read(token: str) -> tuple[tuple[str, str, str], int]:
    try:
        namespace, catalog, name, number = orjson.loads(base64.urlsafe_b64decode(token))
        return (str(namespace), str(catalog), str(name)), max(0, int(number))
    except (ValueError, TypeError, binascii.Error) as error:
        raise ExpiredError("continue key is not valid") from error


def select(packages: Sequence[Packed], holds: Sequence[Holds]) -> Sequence[Packed]:
    """Those for which all of it holds."""
    if not holds:
        return packages
    return [each for each in packages if all(each_holds(each) for each_holds in holds)]
