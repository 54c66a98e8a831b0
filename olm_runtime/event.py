"""Something that happened to an object, for people. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Happening:
    """What to report: reason and action in CamelCase, a note for people.

    `action` is what the program was at; `warning` if a person should look.
    """

    action: str
    reason: str
    note: str
    warning: bool = False
