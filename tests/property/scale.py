"""How many cases a run generates: all of them, or `OLMV1_PROPERTY_PERCENT` of a hundred."""

import os
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

PERCENT = int(os.environ.get("OLMV1_PROPERTY_PERCENT", "100"))
TOGETHER = 5


def cases(number: int) -> int:
    """The share of so many cases that this run is asked for, at least ten."""
    return max(10, number * PERCENT // 100)


def given_many(
    number: int, *strategies: st.SearchStrategy[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As `given`, for so many small cases: to draw five together takes the time of two."""

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @settings(max_examples=cases(number) // TOGETHER, deadline=None, print_blob=True)
        @given(st.tuples(*[st.tuples(*strategies)] * TOGETHER))
        def of_each(found: tuple[tuple[Any, ...], ...]) -> None:
            for each in found:
                test(*each)

        of_each.__name__, of_each.__doc__ = test.__name__, test.__doc__
        return of_each

    return decorate
