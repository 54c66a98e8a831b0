"""Which packages match words, the best first. Pure.

Not by the full-text index of SQLite, which finds no parts of words.
"""

import re
from collections.abc import Iterable, Sequence
from typing import TypeVar

from olm_client.catalogs.summary import Summary

Rank = tuple[int, int]
"""The field in which a word is found, and 0 where it stands alone, 1 within a longer word."""

Item = TypeVar("Item")


def fields(package: Summary) -> tuple[str, ...]:
    """What is searched, casefolded, the field that counts most first."""
    short = (package.name, package.display_name, " ".join(package.keywords), package.provider)
    return (*map(str.casefold, short), package.text)


NOISE = frozenset({"operator", "operators"})
"""Words that every package has; they count only where nothing else is asked for."""


def ranked(
    offers: Iterable[tuple[Item, Summary]], words: Sequence[str]
) -> list[tuple[Item, Summary]]:
    """The packages in which every word occurs, in any case; the best first.

    A word counts where it stands highest: name, display name, keywords, provider, description;
    within a field, a whole word before a part of one. Of equals those come first that are not
    deprecated, then those whose one line has more of the words: it says what a package is for. Then
    the shorter name, which is nearer to what was typed.
    """
    significant = [word for word in words if word.casefold() not in NOISE] or words
    sought = [_pattern(word) for word in significant]
    found = []
    for item, package in offers:
        texts = fields(package)
        ranks = [_rank(word, whole, texts) for word, whole in sought]
        matches = [rank for rank in ranks if rank is not None]
        if len(matches) == len(sought):
            total = sum(field for field, _ in matches), sum(part for _, part in matches)
            line = package.summary.casefold()
            unsaid = sum(word not in line for word, _ in sought)
            order = (*total, package.deprecated, unsaid, len(package.name), package.name)
            found.append((order, item, package))
    return [(item, package) for _, item, package in sorted(found, key=lambda each: each[0])]


def _pattern(word: str) -> tuple[str, re.Pattern[str]]:
    folded = word.casefold()
    return folded, re.compile(rf"(?<!\w){re.escape(folded)}(?!\w)")


def _rank(word: str, whole: re.Pattern[str], texts: Sequence[str]) -> Rank | None:
    for number, text in enumerate(texts):
        if word in text:
            return number, 0 if whole.search(text) else 1
    return None
