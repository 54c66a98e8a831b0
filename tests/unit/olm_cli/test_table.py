"""Tables: within the terminal's width, with names and versions whole."""

import click
import pytest

from olm_cli.table import fitted

TITLES = ("NAME", "SHOWN AS", "VERSION", "WHAT HINDERS")
ROWS = [
    ("argocd-operator", "Argo CD with a long name", "0.17.0", "Deployment x: 0/1 available"),
    ("b", "B", "1.0.0-rc.1+build", ""),
]
CUT = ("SHOWN AS",)


def lines(room: int | None) -> list[str]:
    return [click.unstyle(line) for line in fitted(TITLES, ROWS, room, CUT)]


def test_nothing_is_cut_where_there_is_room() -> None:
    assert lines(None) == lines(200)
    assert lines(None)[1].split("  ")[-1] == "Deployment x: 0/1 available"


@pytest.mark.parametrize("room", range(40, 100))
def test_names_and_versions_are_never_cut(room: int) -> None:
    shown = lines(room)
    needed = len("argocd-operator") + len("1.0.0-rc.1+build") + 12 + 2 * 3
    assert all(len(line) <= max(room, needed) for line in shown)
    for row in ROWS:
        assert any(line.startswith(row[0]) and row[2] in line for line in shown)


def test_what_is_cut_ends_in_an_ellipsis_the_message_first() -> None:
    tight = lines(len(lines(None)[1]) - 2)[1]
    assert "Argo CD with a long name" in tight
    assert tight.endswith("availa…")
    assert "Argo CD with a…" in lines(76)[1]


def test_a_message_without_room_stands_below() -> None:
    shown = lines(50)
    assert shown[0] == "NAME             SHOWN AS      VERSION"
    assert shown[2] == "  Deployment x: 0/1 available"
    assert len(shown) == 4


def test_a_cell_that_is_cut_is_measured_without_its_style() -> None:
    row = ("a", click.style("red " * 20, fg="red"))
    _, second = fitted(("A", "B"), [row], 30)
    assert click.unstyle(second) == "a  " + ("red " * 20)[:26] + "…"
