"""A package at the root that no import contract names is refused."""

import copy
from pathlib import Path
from typing import Any

from config.packages import ROOT, complaints, packages_in, root_packages, settings

PROJECT = settings()
PLACES = 6
"""Where all packages are named."""


def is_inside(contract: dict[str, Any], package: str) -> bool:
    return package in contract.get("containers", ())


def test_each_package_of_this_project_has_its_place() -> None:
    assert "console" in packages_in(ROOT)
    assert list(complaints(packages_in(ROOT), PROJECT)) == []


def test_a_new_package_is_named_in_no_contract(tmp_path: Path) -> None:
    for name in (*root_packages(PROJECT), "newcomer"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
    found = list(complaints(packages_in(tmp_path), PROJECT))
    assert len(found) == PLACES
    assert all(text.startswith("newcomer is not named in ") for text in found)


def test_a_package_that_went_is_named_nowhere() -> None:
    found = list(complaints(packages_in(ROOT) - {"opm"}, PROJECT))
    assert len(found) == PLACES
    assert all(text.endswith(": there is no opm") for text in found)


def test_a_contract_of_the_inside_that_is_not_exhaustive_is_none() -> None:
    project = copy.deepcopy(PROJECT)
    [inside] = [c for c in project["tool"]["importlinter"]["contracts"] if is_inside(c, "opm")]
    del inside["exhaustive"]
    assert list(complaints(packages_in(ROOT), project)) == [
        "opm is not named in an exhaustive contract of what is inside it"
    ]
