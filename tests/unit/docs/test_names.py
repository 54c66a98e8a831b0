"""Files and classes that pages for contributors name exist."""

import re
from functools import cache

import pytest

from e2e.olm.pages import DOCS

ROOT = DOCS.parent
PAGES = [DOCS / "architecture.md", DOCS / "glossary.md", ROOT / "CONTRIBUTING.md"]
FOLDERS = (
    "api", "catalogd", "cluster_version", "config", "console", "e2e", "olm_*",
    "operator_controller", "opm",
    "tests",
)  # fmt: skip
CODE = re.compile(r"`([^`]+)`")


@cache
def modules() -> frozenset[str]:
    return frozenset(
        f"/{path.relative_to(ROOT)}"
        for folder in FOLDERS
        for top in ROOT.glob(folder)
        for path in top.rglob("*.py")
    )


def named() -> list[str]:
    return sorted({name for page in PAGES for name in CODE.findall(page.read_text())})


@pytest.mark.parametrize("name", [name for name in named() if name.endswith(".py")])
def test_a_module_that_is_named_exists(name: str) -> None:
    """From the root, or from the package that the sentence is about."""
    path = name.replace("<program>", "operator_controller")
    assert any(module.endswith(f"/{path}") for module in modules())


def test_classes_of_the_glossary_exist() -> None:
    page = (DOCS / "glossary.md").read_text().partition("## controller-runtime's ideas")[2]
    here = [line.split(" | ")[1] for line in page.splitlines() if line.count(" | ") == 1]
    classes = {name for cell in here for name in CODE.findall(cell) if name.isidentifier()}
    text = "\n".join((ROOT / module[1:]).read_text() for module in modules())
    for name in classes - {"Done", "Wait", "Retry", "Blocked", "workers"}:
        assert re.search(rf"^(class )?{name}\b", text, re.MULTILINE), name
