"""What is shown while something goes on: in place on a terminal, once elsewhere."""

import io
import os

import pytest

from olm_cli.table import table
from olm_runtime.cli.display import LiveDisplay


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_elsewhere_each_new_line_is_printed_once_and_without_seconds() -> None:
    stream = io.StringIO()
    display = LiveDisplay(stream)
    display.show(["a", "b"], seconds=1.0)
    display.show(["a", "c"], seconds=2.0)
    display.show(["b", "c"])
    display.end()
    assert stream.getvalue() == "a\nb\nc\nb\n"


def test_a_terminal_is_drawn_over_and_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    size = os.terminal_size((20, 5))
    monkeypatch.setattr("shutil.get_terminal_size", lambda: size)
    stream = Terminal()
    display = LiveDisplay(stream)
    display.show(["x" * 30, "b"], seconds=1.4)
    first = stream.getvalue()
    assert first.splitlines()[0].endswith(" 1 s")
    assert first.splitlines()[1] == "x" * 19 + "…"
    display.show([str(n) for n in range(9)])
    second = stream.getvalue().removeprefix(first)
    assert second == "\x1b[3A\x1b[J0\n1\n2\n3\n", "no more lines than the terminal has"
    display.end()
    assert stream.getvalue().endswith("\x1b[4A\x1b[J")


def test_columns_are_aligned_and_lines_end_where_they_end() -> None:
    assert [*table(("A", "LONG"), [("xyz", ""), ("x", "y")])] == [
        "\x1b[1mA    LONG\x1b[0m",
        "xyz",
        "x    y",
    ]
