"""The page of each program names every flag and metric."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
from prometheus_client.metrics_core import Metric

from olm_classic.catalog_operator.exposition import families as catalog_families
from olm_classic.catalog_operator.settings import command as catalog_operator
from olm_classic.metrics import Metrics, Readings
from olm_classic.olm_operator.exposition import Readings as OperatorReadings
from olm_classic.olm_operator.exposition import families as operator_families
from olm_classic.olm_operator.settings import command as olm_operator

DOCS = Path(__file__).parents[3] / "docs" / "classic"
SHARED = ("controller_runtime_", "workqueue_", "rest_client_", "leader_election_")


@dataclass(frozen=True)
class Program:
    """A program and its page."""

    name: str
    command: click.Command
    families: tuple[Metric, ...]

    def section(self, title: str) -> str:
        text = (DOCS / f"{self.name}.md").read_text()
        return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]

    def rows(self, title: str) -> list[str]:
        return [row for row in self.section(title).splitlines() if row.startswith("| `")]

    @property
    def options(self) -> list[click.Option]:
        found = (
            each
            for each in self.command.params
            if isinstance(each, click.Option) and not each.hidden
        )
        return [each for each in found if not each.opts[0].startswith("--max-image-")]


PROGRAMS = (
    Program("catalog-operator", catalog_operator, tuple(catalog_families(Metrics(), Readings()))),
    Program("olm-operator", olm_operator, tuple(operator_families(OperatorReadings()))),
)

programs = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)


@programs
def test_every_flag_is_named(program: Program) -> None:
    given = {opt for each in program.options for opt in each.opts if opt.startswith("--")}
    documented = set(re.findall(r"`(--[A-Za-z0-9-]+)`", program.section("Flags")))
    assert given == documented


@programs
def test_defaults_are_those_that_hold(program: Program) -> None:
    rows = program.rows("Flags")
    for each in program.options:
        if each.show_default and not each.opts[0].startswith("--tls-custom-"):
            [row] = [row for row in rows if f"`{each.opts[0]}`" in row.split("|")[1]]
            default = "upstream's" if "quay.io" in str(each.default) else str(each.default)
            assert default in row.split("|")[2], each.opts


@programs
def test_every_metric_is_named(program: Program) -> None:
    documented = {
        name
        for row in program.rows("Metrics")
        for name in re.findall(r"`([a-z_]+)`", row.split("|")[1])
    }
    assert own(names(program.families)) == own(documented)


def names(families: Iterable[Metric]) -> Iterable[str]:
    return (each.name + ("_total" if each.type == "counter" else "") for each in families)


def own(found: Iterable[str]) -> set[str]:
    return {name for name in found if not name.startswith(SHARED)}
