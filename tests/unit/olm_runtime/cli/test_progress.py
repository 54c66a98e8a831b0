"""Progress is shown on terminals, of work that takes a while, and leaves nothing."""

import io
import time
from typing import Any

import click
import pytest

from olm_runtime.cli.display import LiveDisplay
from olm_runtime.cli.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setenv("TERM", "xterm")
    return now


def test_short_work_is_not_shown(clock: list[float]) -> None:
    stream = Terminal()
    progress = Progress(stream)
    for passed in range(3):
        progress.show_bytes("pulling x", passed, 2)
    assert stream.getvalue() == ""


def test_bytes_are_shown_now_and_then_and_gone_with_the_last(clock: list[float]) -> None:
    stream = Terminal()
    progress = Progress(stream)
    total = 4 << 20
    for tenth in range(20):
        clock[0] = tenth / 20
        progress.show_bytes("pulling x", total * tenth // 20, total)
    assert "0 s\npulling x: 1.6 of 4.0 MiB\n" in stream.getvalue()
    assert stream.getvalue().count("pulling") == 6
    progress.show_bytes("pulling x", total, total)
    assert stream.getvalue().endswith("\x1b[2A\x1b[J")


@pytest.mark.parametrize("term", ["dumb", "xterm"])
def test_nothing_is_shown_elsewhere(
    term: str, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", term)
    stream: Any = Terminal() if term == "dumb" else io.StringIO()
    progress = Progress(stream)
    progress.show("a")
    clock[0] = 9.0
    progress.show("b")
    progress.end()
    assert stream.getvalue() == ""


def test_lines_are_replaced_without_colours_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    with click.Context(click.Command("x"), color=False):
        display = LiveDisplay(stream)
        display.show([click.style("a", fg="red")])
        display.show(["b"])
    assert stream.getvalue() == "a\n\x1b[1A\x1b[Jb\n"
