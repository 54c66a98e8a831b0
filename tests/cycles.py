"""What is in memory while nobody looks for cycles, as it is seldom done with many objects."""

import gc
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def never_looked_for() -> Iterator[Callable[..., list[str]]]:
    """Nothing that refers to itself goes meanwhile.

    What it gives says of which of some kinds there are more than at the beginning.
    """
    gc.collect()
    before = _counts()
    gc.disable()
    try:
        yield lambda *kinds: sorted(each.__name__ for each in _more(kinds, before))
    finally:
        gc.enable()


def _counts() -> Counter[type]:
    return Counter(type(each) for each in gc.get_objects())


def _more(kinds: tuple[type, ...], before: Counter[type]) -> list[type]:
    grown = _counts() - before
    return [kind for kind in kinds if any(issubclass(each, kind) for each in grown)]
