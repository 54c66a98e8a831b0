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
    told = capsys.readouterr().err
    assert f"Invalid value for '--{flag}': '{text}' is" in told


def test_answers_of_the_metrics_store_need_not_be_kept() -> None:
    flags = ["--release-image=r.test/release:v1", "--risk-check-interval=0s"]
    assert parse_settings(flags).risk_seconds == 0
