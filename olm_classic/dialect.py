"""Whose rules are followed where the documents of OLM Classic and upstream's programs differ."""

from enum import StrEnum


class Dialect(StrEnum):
    """The documents' rules, or upstream's with those of its faults that its answers show."""

    DOCUMENTS = "documents"
    UPSTREAM = "upstream"
