"""docs/reference/operator-controller.md names every flag, condition, Event and metric."""

import re
from pathlib import Path

import click
import pytest

from api.olm.v1.conditions import Reason
from olm_runtime.metrics.exposition import written
from olm_runtime.metrics.queue_meter import Result
from operator_controller.apply.history import Cause, State
from operator_controller.exposition import families
from operator_controller.io.catalogs import Lookup
from operator_controller.metrics import Metrics, Readings
from operator_controller.settings import DEFAULT_METRICS_ADDRESS, command
from operator_controller.status.extension import DEPRECATION_TYPES
from operator_controller.status.transitions import EventReason

DOCS = Path(__file__).parents[3] / "docs"
REFERENCE = (DOCS / "reference" / "operator-controller.md").read_text()
IMAGES = (DOCS / "reference" / "images.md").read_text()
ROLL_BACK = (DOCS / "how-to" / "roll-back.md").read_text()
FAULTS = (
    Reason.RETRYING, Reason.BLOCKED, Reason.INVALID_CONFIGURATION,
    Reason.PROGRESS_DEADLINE_EXCEEDED,
)  # fmt: skip


def section(title: str) -> str:
    return REFERENCE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_every_flag_is_named() -> None:
    given = {
        option.removeprefix("--")
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.hidden
        for option in parameter.opts
        if option.startswith("--")
    }
    documented = set(re.findall(r"`--([a-z0-9-]+)`", section("Flags")))
    limits = {flag for flag in given if flag.startswith("max-image-")}
    assert given - limits == documented
    assert all(f"`--{flag}`" in IMAGES for flag in limits)


@pytest.mark.parametrize(
    ("flag", "default"),
    [
        ("metrics-bind-address", DEFAULT_METRICS_ADDRESS),
        *(
            (option.opts[0].removeprefix("--"), str(option.default))
            for option in command.params
            if isinstance(option, click.Option) and option.show_default
            if not option.opts[0].startswith(("--max-image-", "--tls-custom-"))
        ),
    ],
)
def test_defaults_are_those_that_hold(flag: str, default: str) -> None:
    [line] = [row for row in section("Flags").splitlines() if row.startswith(f"| `--{flag}`")]
    assert f"`{default}`" in line.split(" | ")[1]


def test_every_metric_is_named() -> None:
    served = set(re.findall(r"# TYPE (\S+)", written(families(Metrics(), Readings())).decode()))
    assert set(re.findall(r"^\| `(\w+)`", section("Metrics"), re.MULTILINE)) == served
    for word in (*Result, *Lookup):
        assert f"`{word.value}`" in section("Metrics")


@pytest.mark.parametrize("reason", [*EventReason, *FAULTS])
def test_every_event_is_named(reason: str) -> None:
    assert f"`{reason}`" in section("Events")


@pytest.mark.parametrize("kind", ["Installed", "Progressing", "Available", *DEPRECATION_TYPES])
def test_every_condition_is_named(kind: str) -> None:
    assert f"`{kind}`" in section("Conditions of a ClusterExtension")


@pytest.mark.parametrize("word", [*Cause, *(s for s in State if s is not State.DELETING)])
def test_what_history_says_is_explained(word: str) -> None:
    assert f"| `{word}` |" in ROLL_BACK
