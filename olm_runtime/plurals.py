"""Counted things in texts for people."""


def counted(number: int, one: str, many: str = "") -> str:
    """`1 object`, `2 objects`; `many` where it is not `one` and an s."""
    return f"{number} {one if number == 1 else many or one + 's'}"
