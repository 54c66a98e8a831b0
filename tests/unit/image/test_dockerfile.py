"""What the image is built from is named by digest: a version is always built from the same."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
DEFAULTS = dict(re.findall(r"^ARG (\w+)=(\S+)$", DOCKERFILE, re.MULTILINE))
PINNED = re.compile(r"[a-z0-9./-]+:(?P<tag>[\w.-]+)@sha256:[0-9a-f]{64}")


def resolved(reference: str) -> str:
    """A reference with the defaults of build arguments filled in."""
    while found := re.search(r"\$\{(\w+)\}", reference):
        reference = reference.replace(found[0], DEFAULTS[found[1]])
    return reference


def test_every_stage_begins_with_another_or_with_what_is_named_by_digest() -> None:
    stages: set[str] = set()
    for reference, name in re.findall(r"^FROM (\S+)(?: AS (\w+))?$", DOCKERFILE, re.MULTILINE):
        assert reference in stages or PINNED.fullmatch(resolved(reference)), reference
        stages.add(name)
    assert {"base", "copier", "dependencies", "programs"} <= stages


def test_the_base_has_a_python_that_we_run_on_and_says_which() -> None:
    found = PINNED.fullmatch(DEFAULTS["BASE"])
    assert found is not None
    major, minor, *_ = map(int, re.findall(r"\d+", found["tag"]))
    assert (major, minor) >= (3, 11)
    assert re.match(r"\d+\.\d+\.\d+-", found["tag"]), "the digest's own version, to be compared by"


def test_every_package_is_copied_and_none_is_ignored() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    included = project["tool"]["setuptools"]["packages"]["find"]["include"]
    packages = {pattern.removesuffix("*") for pattern in included}
    copied = re.findall(r"^COPY ([a-z_]+) \1$", DOCKERFILE, re.MULTILINE)
    let_in = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines()}
    assert packages <= set(copied)
    assert set(copied) <= let_in
