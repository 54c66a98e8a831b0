"""What a namespace is to have installed: the resolver of OLM Classic. Pure.

Its rules are those that upstream's resolver is seen to follow.
"""

from olm_classic.resolve.entries import Catalog, Entry, SourceKey
from olm_classic.resolve.errors import Limit, ResolutionError, UnsatisfiableError
from olm_classic.resolve.resolver import Chosen, Namespace, Resolution, resolve

__all__ = [
    "Catalog",
    "Chosen",
    "Entry",
    "Limit",
    "Namespace",
    "Resolution",
    "ResolutionError",
    "SourceKey",
    "UnsatisfiableError",
    "resolve",
]
