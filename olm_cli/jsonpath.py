r"""kubectl's JSONPath templates, such as `{range .items[*]}{.name}{"\t"}{.phase}{"\n"}{end}`.

A template is text with expressions in braces. What finds the values is a JSONPath library; here is
what kubectl adds to the language: templates, ranges, `.labels.example\.com/x` for names with dots,
and that a missing field is nothing. An expression without any brace is taken for one.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson
from jsonpath import JSONPathError, JSONPathNameError, JSONPathSyntaxError
from jsonpath import compile as compile_path

from olm_runtime.errors import TerminalError

_EXPRESSION = re.compile(r"""\{((?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^"'{}])*)\}""")
_STEP = re.compile(
    r"""
    (?P<deep>\.\.)?(?P<dot>\.)?
    (?: \[(?P<inner>(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\[[^\]]*\]|[^\]"'])*)\]
      | (?P<any>\*)
      | (?P<name>(?:\\.|[^\s.\[\]\\*()=!<>&|,"'])+)
    )
    """,
    re.VERBOSE,
)
_PATH_IN_FILTER = re.compile(
    r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|([@$])((?:\.(?:\\.|[^\s.\[\]\\()=!<>&|,"'])+)+)"""
)
_STRING = re.compile(r"""\s*(["'])(.*)\1\s*""", re.DOTALL)
Part = Callable[[Any], Iterator[str]]
"""A part of a template: what it writes of a value."""

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass(frozen=True, slots=True)
class Template:
    """A template that was read."""

    parts: Sequence[Part]

    def render(self, value: Any) -> str:
        """What it writes of a value."""
        return "".join(_written(self.parts, value))


def parse_template(text: str) -> Template:
    """Raises TerminalError for what is no template, saying what of it."""
    pieces = _EXPRESSION.split(text if "{" in text else f"{{{text}}}")
    opened: list[tuple[Any, list[Part]]] = [(None, [])]
    for number, piece in enumerate(pieces):
        word = piece.strip()
        parts = opened[-1][1]
        if number % 2 == 0:
            if "{" in piece or "}" in piece:
                raise _wrong(text, f"a brace is not closed in {piece!r}")
            parts.append(partial(_text, piece))
        elif word == "end":
            if len(opened) == 1:
                raise _wrong(text, "there is no {range} that {end} could close")
            path, inner = opened.pop()
            opened[-1][1].append(partial(_range, path, inner))
        elif word.partition(" ")[0] == "range":
            opened.append((_path(text, word.removeprefix("range").strip()), []))
        elif said := _STRING.fullmatch(piece):
            parts.append(partial(_text, _unescaped(said[2])))
        else:
            parts.append(partial(_values, _path(text, word)))
    if len(opened) > 1:
        raise _wrong(text, "a {range} has no {end}")
    return Template(tuple(opened[0][1]))


def _written(parts: Sequence[Part], value: Any) -> Iterator[str]:
    for part in parts:
        yield from part(value)


def _text(text: str, _: Any) -> Iterator[str]:
    yield text


def _range(path: Any, parts: Sequence[Part], value: Any) -> Iterator[str]:
    for each in path.findall(value):
        yield from _written(parts, each)


def _values(path: Any, value: Any) -> Iterator[str]:
    """Values are separated by blanks; only maps and lists are written as JSON."""
    yield " ".join(
        each if isinstance(each, str) else orjson.dumps(each, option=orjson.OPT_SORT_KEYS).decode()
        for each in path.findall(value)
    )


def _path(template: str, expression: str) -> Any:
    try:
        return compile_path(_standard(expression))
    except (JSONPathError, JSONPathSyntaxError, JSONPathNameError, ValueError) as error:
        first = (str(error).splitlines() or [""])[0]
        raise _wrong(template, f"{expression!r} is no path: {first}") from error


def _standard(expression: str) -> str:
    """A path as RFC 9535 has it. Raises ValueError."""
    rest = expression.removeprefix("$").removeprefix("@")
    found, at = ["$"], 0
    while at < len(rest):
        step = _STEP.match(rest, at)
        if step is None or (rest[at] not in ".[" and at > 0):
            if rest[at:] == ".":
                break
            raise ValueError(f"unexpected {rest[at:]!r}")
        found.append(".." if step["deep"] else "")
        found.append(f"[{_selector(step)}]")
        at = step.end()
    return "".join(found)


def _selector(step: re.Match[str]) -> str:
    if step["any"]:
        return "*"
    if step["name"] is not None:
        return _quoted(step["name"])
    return _PATH_IN_FILTER.sub(_spelled, step["inner"])


def _spelled(found: re.Match[str]) -> str:
    """A path within a filter, each name in brackets; quoted text as it is."""
    if found[1] is not None:
        return found[1]
    names = re.findall(r"\.((?:\\.|[^.\\])+)", found[3])
    return found[2] + "".join(f"[{_quoted(name)}]" for name in names)


def _quoted(name: str) -> str:
    plain = re.sub(r"\\(.)", r"\1", name)
    return orjson.dumps(plain).decode()


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), text)


def _wrong(template: str, what: str) -> TerminalError:
    return TerminalError(
        f"{template!r} is no JSONPath template: {what}",
        hint="such as -o jsonpath='{.extensions[*].name}'",
    )
