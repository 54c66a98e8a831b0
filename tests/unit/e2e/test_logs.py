"""The check of logs after the integration tests."""

from pathlib import Path

from tests.integration.logs import TRACEBACK, tracebacks


def test_finds_the_traceback_in_any_log_below_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a" / "logs").mkdir(parents=True)
    (tmp_path / "a" / "fine.log").write_text("all is well\n")
    log = tmp_path / "a" / "logs" / "catalogd.log"
    log.write_text(f"before\nError in the loop\n{TRACEBACK}:\n  File ...\nKeyError: 1\n")
    (found,) = tracebacks(tmp_path)
    assert found.splitlines() == [
        f"{log}:3",
        "Error in the loop",
        f"{TRACEBACK}:",
        "  File ...",
        "KeyError: 1",
    ]
