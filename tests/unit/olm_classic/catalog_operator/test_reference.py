"""docs/classic/catalog-operator.md names every flag and metric."""

import re
from pathlib import Path

import click

from olm_classic.catalog_operator.exposition import families
from olm_classic.catalog_operator.settings import command
from olm_classic.metrics import Metrics, Readings

REFERENCE = (Path(__file__).parents[4] / "docs" / "classic" / "catalog-operator.md").read_text()
SHARED = ("controller_runtime_", "workqueue_")


def section(title: str) -> str:
    return REFERENCE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def options() -> list[click.Option]:
    found = (each for each in command.params if isinstance(each, click.Option) and not each.hidden)
    return [each for each in found if not each.opts[0].startswith("--max-image-")]


def test_every_flag_is_named() -> None:
    given = {opt for each in options() for opt in each.opts if opt.startswith("--")}
    documented = set(re.findall(r"`(--[A-Za-z0-9-]+)`", section("Flags")))
    assert given == documented


def test_defaults_are_those_that_hold() -> None:
    rows = [row for row in section("Flags").splitlines() if row.startswith("| `")]
    for each in options():
        if each.show_default and not each.opts[0].startswith("--tls-custom-"):
            [row] = [row for row in rows if f"`{each.opts[0]}`" in row.split("|")[1]]
            default = "upstream's" if "quay.io" in str(each.default) else str(each.default)
            assert default in row.split("|")[2], each.opts


def test_every_metric_is_named() -> None:
    names = {
        family.name + ("_total" if family.type == "counter" else "")
        for family in families(Metrics(), Readings())
        if not family.name.startswith(SHARED)
    }
    assert names == {
        name
        for row in section("Metrics").splitlines()
        if row.startswith("| `")
        for name in re.findall(r"`([a-z_]+)`", row.split("|")[1])
    }
