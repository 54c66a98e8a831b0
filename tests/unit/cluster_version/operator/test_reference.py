"""docs/reference/cluster-version-operator.md names every flag, metric and Event of acceptance."""

import re
from pathlib import Path

import click

from cluster_version.decisions import acceptance
from cluster_version.decisions.acceptance import Step
from cluster_version.operator.exposition import Readings, families
from cluster_version.operator.settings import command
from olm_runtime.metrics.exposition import written

PAGE = (
    Path(__file__).parents[4] / "docs" / "reference" / "cluster-version-operator.md"
).read_text()


def test_every_flag_is_named() -> None:
    given = {
        option.removeprefix("--")
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.hidden
        for option in (*parameter.opts, *parameter.secondary_opts)
        if option.startswith("--")
    }
    assert set(re.findall(r"`--([a-z0-9-]+)`", PAGE)) == given


def test_every_metric_is_named() -> None:
    exposed = written(families(Readings())).decode()
    rows = re.findall(r"^\| (`[a-z_`, ]+`) \|", PAGE, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`([a-z]+_\w+)`", row)}
    assert named == set(re.findall(r"# TYPE (\S+)", exposed))


def test_every_event_of_a_release_is_named() -> None:
    source = Path(acceptance.__file__).read_text()
    reasons = {Step.RETRIEVE, Step.LOAD, Step.LOADED}
    failed = {f"{step}Failed" for step in (Step.LOAD, Step.VERIFY_VERSION)}
    wanted = reasons | failed | set(re.findall(r'\bEvent\("(\w+)"', source))
    assert len(wanted) > len(reasons | failed)
    assert {name for name in wanted if f"`{name}`" not in PAGE} == set()
