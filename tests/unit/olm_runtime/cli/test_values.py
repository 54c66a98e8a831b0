"""Values of flags as Go programs read them, and the flags that all daemons share."""

import logging
from typing import Any

import click
import pytest

from olm_runtime.cli.gates import Gate, feature_gates
from olm_runtime.cli.values import (
    log_level,
    parse_address,
    parse_bool,
    parse_count,
    parse_duration,
    parse_interval,
    parse_patience,
    parse_size,
    write_size,
)
from olm_runtime.settings import daemon, read_settings

log = logging.getLogger("test")


@daemon("program", gates={}, namespace="")
@click.argument("words", nargs=-1)
def program(**given: Any) -> dict[str, Any]:
    """Any daemon."""
    return given


def common(*arguments: str) -> dict[str, Any]:
    given: dict[str, Any] = read_settings(program, arguments)
    return given


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("--system-namespace=here", "--kubeconfig=file"), id="with an equals sign"),
        pytest.param(("--system-namespace", "here", "--kubeconfig", "file"), id="as two words"),
        pytest.param(("-system-namespace=here", "-kubeconfig", "file"), id="with one dash"),
        pytest.param(("--system_namespace=here", "--kubeconfig=file"), id="with an underscore"),
        pytest.param(
            ("--kubeconfig=other", "--system-namespace=here", "--kubeconfig=file"),
            id="the last one counts",
        ),
    ],
)
def test_every_spelling_of_a_value(arguments: tuple[str, ...]) -> None:
    given = common(*arguments)
    assert (given["system_namespace"], given["kubeconfig"]) == ("here", "file")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param((), False, id="off unless given"),
        pytest.param(("--leader-elect",), True, id="on without a value"),
        pytest.param(("--leader-elect=true",), True, id="on with a value"),
        pytest.param(("--leader-elect=false",), False, id="off with a value"),
        pytest.param(("--leader-elect=1",), True, id="on as a number"),
        pytest.param(("--leader-elect", "--tls-cert=c"), True, id="the next flag is no value"),
        pytest.param(("--leader-elect", "false"), True, id="the next word is no value"),
        pytest.param(("--leader-elect", "--leader-elect=false"), False, id="the last one counts"),
        pytest.param(("--leader-elect=false", "--leader-elect"), True, id="so it does here"),
        pytest.param(("--", "--leader-elect"), False, id="not after two dashes"),
        pytest.param(("--kubeconfig", "--leader-elect"), False, id="the value of another flag"),
    ],
)
def test_switches(arguments: tuple[str, ...], *, expected: bool) -> None:
    assert common(*arguments)["leader_elect"] is expected


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("-v=4",), id="-v=4"),
        pytest.param(("-v", "4"), id="-v 4"),
        pytest.param(("--v=4",), id="--v=4"),
        pytest.param(("--v", "4"), id="--v 4"),
    ],
)
def test_every_spelling_of_verbosity(arguments: tuple[str, ...]) -> None:
    assert common(*arguments)["log_level"] == logging.DEBUG


@pytest.mark.parametrize(
    "argument",
    [
        "--vmodule=a=1",
        "--log_backtrace_at=a:1",
        "--log-backtrace-at=a:1",
        "--alsologtostderr",
        "--logtostderr=true",
        "--skip_headers",
        "--stderrthreshold=2",
        "--pprof-bind-address=:6060",
    ],
)
def test_flags_of_upstream_that_do_nothing_here_are_accepted(argument: str) -> None:
    common(argument)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", logging.INFO, id="not given"),
        pytest.param("3", logging.INFO, id="what happens"),
        pytest.param("4", logging.DEBUG, id="also why"),
        pytest.param("10", logging.DEBUG, id="more digits"),
        pytest.param("much", logging.INFO, id="no number"),
        pytest.param("²", logging.INFO, id="a digit that is no number"),
    ],
)
def test_log_level(text: str, expected: int) -> None:
    assert log_level(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", None, id="empty means off"),
        pytest.param("0", None, id="0 means off"),
        pytest.param(":8081", ("", 8081), id="all interfaces"),
        pytest.param("127.0.0.1:80", ("127.0.0.1", 80), id="one address"),
        pytest.param("[::1]:80", ("::1", 80), id="an IPv6 address"),
        pytest.param("localhost:65535", ("localhost", 65535), id="the highest port"),
    ],
)
def test_addresses(text: str, expected: tuple[str, int] | None) -> None:
    assert parse_address(text) == expected


@pytest.mark.parametrize("text", ["8081", "host", ":", ":p", ":65536", ":-1", "h:", ":\uff18"])
def test_wrong_addresses(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is no address; say HOST:PORT or :PORT"):
        parse_address(text)


@pytest.mark.parametrize("text", ["yes", "", "TrUe", "2"])
def test_wrong_booleans(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is no boolean; say true or false"):
        parse_bool(text)


@pytest.mark.parametrize("text", ["0", "-1", "", "many", "1.5", "٣"])
def test_wrong_counts(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is no count"):
        parse_count(text)


KNOWN = {"On": Gate(default=True), "Off": Gate(default=False, alpha=True)}
DEFAULTS = {"On": True, "Off": False}


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        pytest.param([], DEFAULTS, id="the defaults stand"),
        pytest.param(["On=false,Off=true"], {"On": False, "Off": True}, id="a map"),
        pytest.param(["On=false", "Off=true"], {"On": False, "Off": True}, id="several maps"),
        pytest.param(["Off=true", "Off=false"], DEFAULTS, id="the last one counts"),
        pytest.param([" On = false , "], {"On": False, "Off": False}, id="spaces and empty parts"),
        pytest.param(["AllAlpha=true"], {"On": True, "Off": True}, id="all that are alpha"),
        pytest.param(["AllAlpha=false"], {"On": True, "Off": False}, id="no other"),
        pytest.param(["Off=false,AllAlpha=true"], DEFAULTS, id="by name goes before by group"),
    ],
)
def test_feature_gates(texts: list[str], expected: dict[str, bool]) -> None:
    assert feature_gates(texts, KNOWN, log) == expected


def test_an_unknown_gate_is_warned_about_and_changes_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert feature_gates(["Unheard=true"], KNOWN, log) == DEFAULTS
    assert caplog.messages == ["unknown feature gate Unheard is ignored"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("On", "feature gate 'On': say NAME=true or NAME=false", id="no value"),
        pytest.param("On=maybe", "feature gate 'On=maybe': 'maybe' is no boolean", id="no boolean"),
        pytest.param("Unheard=maybe", "'maybe' is no boolean", id="not even of unknown ones"),
        pytest.param("AllAlpha=maybe", "'maybe' is no boolean", id="not even of groups"),
    ],
)
def test_wrong_gates(text: str, message: str) -> None:
    with pytest.raises(click.BadParameter, match=message):
        feature_gates([text], KNOWN, log)


def test_a_gate_without_effect_is_warned_about_when_it_is_opened(
    caplog: pytest.LogCaptureFixture,
) -> None:
    known = {"Idle": Gate(default=False, alpha=True, without_effect="there is nothing to do")}
    feature_gates(["Idle=false,AllBeta=true"], known, log)
    assert caplog.messages == ["feature gate AllBeta has no effect: no feature is beta"]
    caplog.clear()
    feature_gates(["AllAlpha=true"], known, log)
    assert caplog.messages == ["feature gate Idle has no effect: there is nothing to do"]


@pytest.mark.parametrize(
    ("text", "seconds"), [("12h", 43200), ("1h30m", 5400), ("1.5s", 1.5), ("0", 0), ("50ms", 0.05)]
)
def test_durations_are_gos(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(("text", "seconds"), [("300", 300), ("5m", 300), ("1.2s", 2), ("1ms", 1)])
def test_how_long_to_wait_is_said_as_to_kubectl(text: str, seconds: int) -> None:
    assert parse_patience(text) == seconds
    for wrong in ("0", "0s", "-1s", "", "x", "9" * 400):
        with pytest.raises(click.BadParameter):
            parse_patience(wrong)


@pytest.mark.parametrize("text", ["2562048h", f"{'9' * 400}h"])
def test_durations_are_no_longer_than_gos(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is too long; say no more than 292 years"):
        parse_duration(text)


@pytest.mark.parametrize("text", ["0", "0s", "1us", "9.9ms", "-1s", "", "1"])
def test_what_is_done_again_and_again_has_pauses(text: str) -> None:
    with pytest.raises(click.BadParameter):
        parse_interval(text)
    assert parse_interval("10ms") == pytest.approx(0.01)


@pytest.mark.parametrize("size", [1, 1023, 1024, 3 << 19, 64 << 20, 4 << 30])
def test_sizes_are_read_as_they_are_written(size: int) -> None:
    assert parse_size(write_size(size)) == size
