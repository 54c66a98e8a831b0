#!/usr/bin/env python3
"""Check that no two packages share more than ten lines of the same shape.

The shape of a line is what stands on it with each name, string and number replaced by a mark.
Compared is what functions do: imports, docstrings, comments and lines without a keyword or a call
(fields, lists, arguments passed on) do not count, nor do runs of fewer than six lines, which idioms
are.

config/duplicates.txt names the pairs that share more, and how many lines. The check fails where a
pair shares more than that, and where it shares less: with --write the list shrinks, it never grows.
"""

import argparse
import ast
import io
import itertools
import keyword
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from config.packages import ROOT, root_packages, settings

BASELINE = Path(__file__).with_suffix(".txt")
ALLOWED_LINES = 10
RUN_LINES = 6
GENERATED = "_pb2"
VALUES = {"None", "True", "False"}

Place = tuple[str, int]
"""A file and a line in it, from 1."""
Pair = tuple[str, str]
"""Two packages, in the order of their names."""
Sides = dict[str, set[Place]]
"""Of each of the two, where it has what the other has too."""
Shape = tuple[str, ...]


def shapes(text: str) -> Iterator[tuple[int, str]]:
    """The number and shape of each line of a module that counts."""
    counted = _lines_of_functions(ast.parse(text))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    for line, on_it in itertools.groupby(tokens, key=lambda token: token.start[0]):
        marks = [mark for token in on_it if (mark := _mark(token))]
        if line in counted and any(mark == "(" or keyword.iskeyword(mark) for mark in marks):
            yield line, " ".join(marks)


def _lines_of_functions(module: ast.Module) -> set[int]:
    counted: set[int] = set()
    left_out: set[int] = set()
    for node in ast.walk(module):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                counted.update(_lines(node))
            case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
                left_out.update(_lines(node))
    return counted - left_out


def _lines(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _mark(token: tokenize.TokenInfo) -> str:
    if token.type == tokenize.COMMENT:
        return ""
    if token.type == tokenize.NAME:
        word = keyword.iskeyword(token.string) and token.string not in VALUES
        return token.string if word else "name"
    if token.type in {tokenize.STRING, tokenize.NUMBER}:
        return "value"
    return token.string.strip()


def shared(packages: Mapping[str, Mapping[str, str]]) -> dict[Pair, Sides]:
    """What each pair of packages has in common; a package is the text of its modules by path."""
    runs: defaultdict[Shape, defaultdict[str, set[Place]]] = defaultdict(lambda: defaultdict(set))
    for package, modules in packages.items():
        for path, text in modules.items():
            lines = list(shapes(text))
            for start in range(len(lines) - RUN_LINES + 1):
                run = lines[start : start + RUN_LINES]
                (first, _), (last, _) = run[0], run[-1]
                places = runs[tuple(shape for _, shape in run)][package]
                places.update((path, line) for line in range(first, last + 1))
    found: dict[Pair, Sides] = {}
    for sides in runs.values():
        for pair in itertools.combinations(sorted(sides), 2):
            both = found.setdefault(pair, {package: set() for package in pair})
            for package in pair:
                both[package] |= sides[package]
    return found


def number_of_lines(sides: Sides) -> int:
    """How many lines that is, on the side where they are more."""
    return max(map(len, sides.values()))


def complaints(found: Mapping[Pair, Sides], baseline: Mapping[Pair, int]) -> Iterator[str]:
    """What is wrong with the lines that pairs share, given what they may share."""
    for pair, sides in sorted(found.items()):
        number, allowed = number_of_lines(sides), baseline.get(pair, ALLOWED_LINES)
        if number > allowed:
            yield f"{' and '.join(pair)} share {number} lines of the same shape, not {allowed}:"
            yield from _ranges(set().union(*sides.values()))
    for pair, allowed in baseline.items():
        number = number_of_lines(found[pair]) if pair in found else 0
        if number < allowed:
            yield f"{' and '.join(pair)} share {number} lines, not {allowed} any more: use --write"


def shrunk(found: Mapping[Pair, Sides], baseline: Mapping[Pair, int]) -> dict[Pair, int]:
    """The baseline without what has gone."""
    left = {
        pair: min(number_of_lines(found[pair]), number)
        for pair, number in baseline.items()
        if pair in found
    }
    return {pair: number for pair, number in left.items() if number > ALLOWED_LINES}


def _ranges(places: Iterable[Place]) -> Iterator[str]:
    """Places as people read them, each run of lines once."""
    ordered = enumerate(sorted(places))
    for _, group in itertools.groupby(ordered, key=lambda each: (each[1][0], each[1][1] - each[0])):
        run = [place for _, place in group]
        yield f"  {run[0][0]}:{run[0][1]}-{run[-1][1]}"


def _modules(package: str) -> dict[str, str]:
    paths = [p for p in (ROOT / package).rglob("*.py") if not p.stem.endswith(GENERATED)]
    return {str(path.relative_to(ROOT)): path.read_text() for path in paths}


def main() -> int:
    """Compare; 1 if there is something to say."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"shrink {BASELINE.name}")
    write = parser.parse_args().write
    rows = (line.split() for line in BASELINE.read_text().splitlines())
    baseline = {(one, other): int(number) for one, other, number in rows}
    found = shared({package: _modules(package) for package in root_packages(settings())})
    if write:
        baseline = shrunk(found, baseline)
        lines = (f"{' '.join(pair)} {number}\n" for pair, number in sorted(baseline.items()))
        BASELINE.write_text("".join(lines))
    said = [f"{text}\n" for text in complaints(found, baseline)]
    sys.stdout.writelines(said)
    return 1 if said else 0


if __name__ == "__main__":
    raise SystemExit(main())
