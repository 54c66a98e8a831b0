"""How many cases a run generates: all of them, or `OLMV1_PROPERTY_PERCENT` of a hundred."""

import os
from collections.abc import Callable
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

PERCENT = int(os.environ.get("OLMV1_PROPERTY_PERCENT", "100"))
TOGETHER = 5
chances = st.randoms(use_true_random=True)
"""A case is one draw: part by part Hypothesis takes longer to draw it than such a test takes."""


def cases(number: int) -> int:
    """The share of so many cases that this run is asked for, at least ten."""
    return max(10, number * PERCENT // 100)


def given_many(
    number: int, *makers: Callable[[Random], Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Calls a test with what is made by chance, in so many small cases, five for a draw."""

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @settings(max_examples=cases(number) // TOGETHER, deadline=None, print_blob=True)
        @given(chances)
        def of_each(chance: Random) -> None:
            for _ in range(TOGETHER):
                test(*(make(chance) for make in makers))

        of_each.__name__, of_each.__doc__ = test.__name__, test.__doc__
        return of_each

    return decorate
