"""docs/reference/update-service.md names every flag, metric and kind of error."""

import re
from pathlib import Path

import click

from cluster_version.update_service import questions
from cluster_version.update_service.counts import Counts, Looks
from cluster_version.update_service.exposition import families
from cluster_version.update_service.settings import command
from olm_runtime.metrics.exposition import written

PAGE = (Path(__file__).parents[4] / "docs" / "reference" / "update-service.md").read_text()


def test_every_flag_is_named() -> None:
    given = {
        option.removeprefix("--")
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.hidden
        for option in parameter.opts
        if option.startswith("--")
    }
    assert set(re.findall(r"`--([a-z0-9-]+)`", PAGE)) == given


def test_every_metric_is_named() -> None:
    exposed = written(families(Counts(), Looks(), 0)).decode()
    assert set(re.findall(r"^\| `(cincinnati_\w+)`", PAGE, re.MULTILINE)) == set(
        re.findall(r"# TYPE (\S+)", exposed)
    )


def test_every_kind_of_error_is_named() -> None:
    package = Path(questions.__file__).parent
    source = "".join(file.read_text() for file in package.glob("*.py"))
    refused = re.findall(r'RefusalError\((\d+), "(\w+)"', source)
    assert ("503", "graph_not_ready") in refused
    missing = [pair for pair in refused if f"| {pair[0]} | `{pair[1]}` |" not in PAGE]
    assert missing == []
    assert "| 500 | `internal_error` |" in PAGE
