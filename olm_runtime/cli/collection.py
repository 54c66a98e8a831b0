"""How often Python looks for cycles of objects.

Commands import much, hold catalogs, make few cycles and end soon: for them it is hardly ever.
"""

import gc

COLLECT_AFTER = 100_000
"""New objects after which cycles are looked for."""
_BY_DEFAULT = gc.get_threshold()


def collect_rarely() -> None:
    """From now on, as commands want it."""
    gc.set_threshold(COLLECT_AFTER)


def collect_as_usual() -> None:
    """For a command that does not end soon: as early as in any program."""
    gc.set_threshold(*_BY_DEFAULT)
