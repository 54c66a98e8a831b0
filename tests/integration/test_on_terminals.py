"""What a person sees on a terminal while an extension is installed, and of a plan."""

import re
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from e2e.olm.bundles import BundleSpec
from e2e.olm.programs import Olm
from e2e.olm.terminal import on_terminal
from tests.integration.olm_shell import trusting

pytestmark = pytest.mark.integration

CLEAR = "\x1b[J"
COLUMNS, ROWS = 60, 24


def test_waiting_shows_what_for_and_a_plan_is_a_page(
    olm: Olm,
    package: str,
    publish_catalog: Callable[..., str],
    serve_catalog: Callable[[str, str], None],
    tmp_path: Path,
) -> None:
    many = tuple(f"settings-{number}" for number in range(30))
    first = BundleSpec(package=package, version="1.0.0", crd_group=f"{package}.example.com")
    second = BundleSpec(package=package, version="2.0.0", configmaps=many)
    serve_catalog(package, publish_catalog(first, second))
    shell = trusting(olm, tmp_path)(olm.control_plane.kubeconfig)

    install = shell.command("install", package, "--version", "1.0.0", "--wait")
    lines = on_terminal(install, COLUMNS, shell.environment)
    assert any(re.search(r"[⠋-⠿] \d+ s", line) for line in lines)
    assert any(re.match(rf"{package}: \w+", line) for line in lines[:-1]), "its phase, meanwhile"
    assert any(CLEAR in line for line in lines), "progress is taken back"
    assert any(line.endswith(f"{package}: {package}.v1.0.0 is installed") for line in lines)

    plan = shell.command("plan", package, "--version", "2.0.0")
    page = on_terminal(plan, COLUMNS, shell.environment, code=1)  # rights are missing
    assert len(page) < ROWS, "it does not grow with the objects"
    text = click.unstyle("\n".join(page))
    assert f"{package}.v1.0.0 -> {package}.v2.0.0" in text
    assert re.search(r"objects: \d+ created", text)
    assert "rights needed in addition:" in text
    every = on_terminal([*plan, "--details"], COLUMNS, shell.environment, code=1)
    assert {name for name in many if any(name in line for line in every)} == set(many)
