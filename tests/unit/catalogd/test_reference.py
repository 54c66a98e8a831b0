"""docs/reference names every flag, limit, metric and Event, and says the defaults that hold."""

import re
from pathlib import Path

import click
import pytest

from api.olm.v1.conditions import Reason
from catalogd.http import problems
from catalogd.http.exposition import families
from catalogd.metrics import Metrics, PollResult
from catalogd.settings import command
from catalogd.transitions import NEW_CONTENT
from olm_runtime.cli.limit_flags import LIMIT_FLAGS
from olm_runtime.http.tls import _CURVES
from olm_runtime.images.limits import BUNDLE_LIMITS, GIB, MIB, Limits, limit_flag
from olm_runtime.metrics.exposition import written

REFERENCE = Path(__file__).parents[3] / "docs" / "reference"
CATALOGD = (REFERENCE / "catalogd.md").read_text()
IMAGES = (REFERENCE / "images.md").read_text()
REASONS = (
    Reason.SUCCEEDED, Reason.AVAILABLE, Reason.USER_SPECIFIED_UNAVAILABLE, Reason.RETRYING,
    Reason.BLOCKED, Reason.UNAVAILABLE,
)  # fmt: skip


def test_every_flag_is_named() -> None:
    given = {
        option.removeprefix("--")
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.hidden
        for option in parameter.opts
        if option.startswith("--")
    }
    documented = set(re.findall(r"`--([a-z0-9-]+)`", CATALOGD + IMAGES))
    assert given <= documented
    assert documented - given == set(), "flags that do not exist"


def shown(field: str, value: int) -> str:
    if not field.endswith("_bytes"):
        return str(value)
    return f"{value // GIB} GiB" if value % GIB == 0 else f"{value // MIB} MiB"


@pytest.mark.parametrize("field", list(Limits._fields))
def test_every_limit_has_its_defaults(field: str) -> None:
    assert field in {flag.field for flag in LIMIT_FLAGS}
    catalogs, bundles = (shown(field, getattr(of, field)) for of in (Limits(), BUNDLE_LIMITS))
    assert f"| `{limit_flag(field)}` | {catalogs} | {bundles} |" in IMAGES


def test_every_metric_is_named() -> None:
    text = written(families(Metrics())).decode()
    assert set(re.findall(r"^\| `(catalogd_\w+)`", CATALOGD, re.MULTILINE)) == set(
        re.findall(r"# TYPE (\S+)", text)
    )
    assert all(f"`{result.value}`" in CATALOGD for result in PollResult)


@pytest.mark.parametrize("reason", [NEW_CONTENT, *(reason.value for reason in REASONS)])
def test_every_event_is_named(reason: str) -> None:
    assert f"`{reason}`" in CATALOGD.partition("## Events")[2]


@pytest.mark.parametrize(
    "problem", [value for value in vars(problems).values() if isinstance(value, problems.Problem)]
)
def test_every_error_answer_is_named(problem: problems.Problem) -> None:
    assert f"| {problem.status} | `{problem.text}` |" in CATALOGD


@pytest.mark.parametrize("curve", sorted(_CURVES))
def test_every_curve_is_named(curve: str) -> None:
    assert f"`{curve}`" in CATALOGD
