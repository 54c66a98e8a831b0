"""Names that somebody may have meant, for messages about a name that does not exist."""

from collections.abc import Iterable

SHOWN = 3
"""How many near names are shown."""
LISTED = 10
"""How many names are shown where none is near."""
_CUTOFF = 0.7
"""How alike names are to be, as difflib measures it."""


def near(name: str, known: Iterable[str]) -> list[str]:
    """Names that somebody may have meant, the nearest first."""
    import difflib  # late: no command needs it that finds what it looks for

    names = sorted(set(known))
    closest = difflib.get_close_matches(name, names, n=SHOWN, cutoff=_CUTOFF)
    within = (each for each in names if name and name in each)
    return list(dict.fromkeys([*closest, *within]))[:SHOWN]


def suggestion(name: str, known: Iterable[str]) -> str:
    """The question whether a near name was meant; empty where none is near."""
    meant = near(name, known)
    return f"did you mean {', '.join(meant)}?" if meant else ""


def suggestion_or_all(name: str, known: Iterable[str], *, none: str) -> str:
    """The same; where none is near, the names that there are, or `none` if there is not one."""
    names = list(dict.fromkeys(known))
    if not names:
        return none
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    verb = "is" if len(names) == 1 else "are"
    return suggestion(name, names) or f"there {verb} {', '.join(names[:LISTED])}{more}"
