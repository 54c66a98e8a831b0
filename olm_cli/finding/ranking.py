"""Which packages match words, the best first. Pure."""

import re
from collections.abc import Iterable, Sequence
from typing import TypeVar

from olm_cli.finding.entry import Entry

Rank = tuple[int, int]
"""The field in which a word is found, and 0 where it stands alone, 1 within a longer word."""

Item = TypeVar("Item")


def fields(entry: Entry) -> tuple[str, ...]:
    """What is searched, the field that counts most first."""
    return (
        entry.name,
        entry.display_name,
        " ".join(entry.keywords),
        entry.provider,
        entry.text,
    )


def ranked(offers: Iterable[tuple[Item, Entry]], words: Sequence[str]) -> list[tuple[Item, Entry]]:
    """The packages in which every word occurs, in any case; the best first.

    A word counts where it stands highest: name, display name, keywords, provider, description;
    within a field, a whole word before a part of one. Of equals the shorter name is first: it is
    nearer to what was typed.
    """
    sought = [_pattern(word) for word in words]
    found = []
    for item, entry in offers:
        texts = tuple(text.casefold() for text in fields(entry))
        ranks = [_rank(word, whole, texts) for word, whole in sought]
        if all(rank is not None for rank in ranks):
            kept = [rank for rank in ranks if rank is not None]
            total = sum(field for field, _ in kept), sum(part for _, part in kept)
            found.append(((*total, len(entry.name), entry.name), item, entry))
    return [(item, entry) for _, item, entry in sorted(found, key=lambda each: each[0])]


def _pattern(word: str) -> tuple[str, re.Pattern[str]]:
    folded = word.casefold()
    return folded, re.compile(rf"(?<!\w){re.escape(folded)}(?!\w)")


def _rank(word: str, whole: re.Pattern[str], texts: Sequence[str]) -> Rank | None:
    for number, text in enumerate(texts):
        if word in text:
            return number, 0 if whole.search(text) else 1
    return None
