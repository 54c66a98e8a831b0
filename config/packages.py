#!/usr/bin/env python3
"""Check that each package at the root has its place in pyproject.toml.

import-linter's `exhaustive` works below a package only: a new package at the root that no contract
names could import everything. So each has to be in the layers of the house, to have a contract of
what is inside it, and to be checked by mypy and shipped like the others.
"""

import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
TOOLS = frozenset({"config", "e2e", "tests"})
"""Packages that are no part of the product: they may import all of it."""
RUNTIME = "olm_runtime"
"""The one that may import kopf, kubernetes and oras."""

Settings = Mapping[str, Any]
"""pyproject.toml."""


def settings() -> Settings:
    """Those of this project."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def root_packages(project: Settings) -> Sequence[str]:
    """The packages of the product whose imports are checked."""
    return tuple(_import_linter(project)["root_packages"])


def packages_in(root: Path) -> frozenset[str]:
    """The packages that stand in a folder; ruff refuses modules in a folder without __init__.py."""
    return frozenset(path.parent.name for path in root.glob("*/__init__.py"))


def complaints(found: Iterable[str], project: Settings) -> Iterator[str]:
    """Where a package is not named that has to be, where one is that is not there."""
    product = frozenset(found) - TOOLS
    for place, names in _places(project):
        named = frozenset(names)
        yield from (f"{name} is not named in {place}" for name in sorted(product - named))
        yield from (f"{place}: there is no {name}" for name in sorted(named - product))


def _places(project: Settings) -> Iterator[tuple[str, Iterable[str]]]:
    """Where all packages of the product have to be named, and those that are."""
    tools = project["tool"]
    shipped = tools["setuptools"]["packages"]["find"]["include"]
    yield "root_packages of import-linter", root_packages(project)
    yield "the layers of the house", _layers(project)
    yield "an exhaustive contract of what is inside it", _containers(project)
    yield "the contract on kopf, kubernetes and oras", [RUNTIME, *_without_kopf(project)]
    yield "packages of mypy", frozenset(tools["mypy"]["packages"]) - TOOLS
    yield "packages of setuptools", (pattern.removesuffix("*") for pattern in shipped)


def _import_linter(project: Settings) -> Settings:
    found: Settings = project["tool"]["importlinter"]
    return found


def _layers(project: Settings) -> Iterator[str]:
    for contract in _import_linter(project)["contracts"]:
        if contract["type"] == "layers" and "containers" not in contract:
            for layer in contract["layers"]:
                yield from (name.strip() for name in layer.split("|"))


def _containers(project: Settings) -> Iterator[str]:
    for contract in _import_linter(project)["contracts"]:
        if contract.get("exhaustive"):
            yield from (name for name in contract["containers"] if "." not in name)


def _without_kopf(project: Settings) -> Iterator[str]:
    for contract in _import_linter(project)["contracts"]:
        if "kopf" in contract.get("forbidden_modules", ()):
            yield from (name for name in contract["source_modules"] if "." not in name)


def main() -> int:
    """Compare; 1 if there is something to say."""
    said = [f"pyproject.toml: {text}\n" for text in complaints(packages_in(ROOT), settings())]
    sys.stdout.writelines(said)
    return 1 if said else 0


if __name__ == "__main__":
    raise SystemExit(main())
