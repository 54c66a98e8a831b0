import pytest

from cluster_version.operator.settings import parse_settings


@pytest.mark.parametrize("flag", ["update-check-interval", "round-interval", "interval"])
@pytest.mark.parametrize("text", ["0s", "-1m", "1", "often"])
def test_times_without_a_pause_are_refused(
    flag: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse_settings(["--release-image=r.test/release:v1", f"--{flag}={text}"])
    assert ended.value.code == 2
    message = capsys.readouterr().err
    assert f"Invalid value for '--{flag}': '{text}' is" in message


def test_answers_of_the_metrics_store_need_not_be_cached() -> None:
    flags = ["--release-image=r.test/release:v1", "--risk-check-interval=0s"]
    assert parse_settings(flags).risk_seconds == 0


def test_a_lease_is_held_through_the_restart_of_an_api_server() -> None:
    given = parse_settings(["--release-image=r.test/release:v1"]).lease_times
    assert (given.duration, given.renew_deadline, given.retry) == (137.0, 107.0, 26.0)


@pytest.mark.parametrize(
    "flags",
    [("lease-duration=107s",), ("renew-deadline=26s",), ("renew-deadline=5s", "lease-duration=9s")],
)
def test_a_lease_that_could_be_lost_between_renewals_is_refused(
    flags: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    given = (f"--leader-elect-{flag}" for flag in flags)
    with pytest.raises(SystemExit) as ended:
        parse_settings(["--release-image=r.test/release:v1", *given])
    assert ended.value.code == 2
    assert "has to be longer than leader-elect-renew-deadline" in capsys.readouterr().err
