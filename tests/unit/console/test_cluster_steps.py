"""How far an update is, as the condition Progressing shows it."""

import pytest

from console.pages.cluster import steps_of


@pytest.mark.parametrize(
    ("message", "steps"),
    [
        ("Working towards 4.10.3: 120 of 800 done (15% complete)", (120, 800)),
        ("Working towards 4.10.3: 0 of 0 done (0% complete), waiting on dns", (0, 0)),
        ("Cluster version is 4.10.3", None),
        ("", None),
        ("9999999 of 10 done", None),
    ],
)
def test_steps_are_those_of_the_message(message: str, steps: tuple[int, int] | None) -> None:
    assert steps_of(message) == steps
