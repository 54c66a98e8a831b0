"""Long lists by pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Self, TypeVar

T = TypeVar("T")

PAGE_LENGTH = 50


@dataclass(frozen=True, slots=True)
class Paged(Generic[T]):
    """A page of a list.

    items   of the page
    number  of the page, from 1
    pages   how many there are, at least one
    total   how many items there are in all
    """

    items: Sequence[T]
    number: int
    pages: int
    total: int

    @classmethod
    def of(cls, items: Sequence[T], number: int) -> Self:
        """The page of that number, or the last one."""
        pages = max(1, -(-len(items) // PAGE_LENGTH))
        shown = min(number, pages)
        begin = (shown - 1) * PAGE_LENGTH
        return cls(items[begin : begin + PAGE_LENGTH], shown, pages, len(items))
