"""Generated hashes for people: as many characters as tell them apart. Pure."""

import re
from collections.abc import Sequence

SHOWN = 7
"""Characters of a hash at least, as git shows them."""
_DIGEST_SHOWN = 12
_GENERATED = r"(.*-)([0-9a-z]{32,})"
"""A name that ends in a hash: as upstream names the roles of a bundle."""


def short_names(names: Sequence[str]) -> list[str]:
    """The names, in their order; a hash at the end is cut where the rest is still unique."""
    return _shortest(names, [re.fullmatch(_GENERATED, name) for name in names], SHOWN)


def short_digests(digests: Sequence[str]) -> list[str]:
    """The same of digests; what is cut is a prefix, which can be given for the whole."""
    pattern = re.compile(r"(sha256:)([0-9a-f]{64})")
    found = [pattern.fullmatch(digest) for digest in digests]
    return [text.removesuffix("…") for text in _shortest(digests, found, _DIGEST_SHOWN)]


def _shortest(texts: Sequence[str], found: Sequence[re.Match[str] | None], shown: int) -> list[str]:
    distinct = set(texts)
    length = shown
    while True:
        short = [
            f"{match[1]}{match[2][:length]}…" if match and len(match[2]) > length else text
            for text, match in zip(texts, found, strict=True)
        ]
        if len(set(short)) == len(distinct):
            return short
        length += 1
