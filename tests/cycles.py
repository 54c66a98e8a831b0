"""What is in memory while nobody looks for cycles, as it is seldom done with many objects."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def never_looked_for() -> Iterator[None]:
    """Nothing that refers to itself goes meanwhile; what did before has gone."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def in_memory(*kinds: type) -> list[str]:
    """Those of the kinds of which there is something."""
    found = {type(each) for each in gc.get_objects()}
    return sorted(kind.__name__ for kind in kinds if any(issubclass(one, kind) for one in found))
