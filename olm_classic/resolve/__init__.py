"""What a namespace is to have installed: the resolver of OLM Classic. Pure.

Its rules are those that upstream's resolver is seen to follow; where the documents have others,
the dialect decides.
"""

from olm_classic.resolve.entries import Entry, SourceKey
from olm_classic.resolve.errors import Limit, ResolutionError, UnsatisfiableError
from olm_classic.resolve.readers import Catalog, Deprecations, MemoryReader, Reader
from olm_classic.resolve.resolver import Chosen, Namespace, Resolution, resolve
from olm_classic.resolve.wanted import Wanted

__all__ = [
    "Catalog",
    "Chosen",
    "Deprecations",
    "Entry",
    "Limit",
    "MemoryReader",
    "Namespace",
    "Reader",
    "Resolution",
    "ResolutionError",
    "SourceKey",
    "UnsatisfiableError",
    "Wanted",
    "resolve",
]
