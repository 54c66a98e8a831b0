"""Which bundle to install, and why not another. Pure.

ranges      which versions a user or a catalog means
selectors   which catalogs a user means
successors  which bundles may follow the installed one
select      the choice: a Resolution, or a ResolutionError; both carry the findings
messages    the sentences of a refusal, upstream's word for word
explain     findings to sentences for people
suggest     the smallest change of the spec with which a bundle would be chosen
advice      changes to sentences for people
"""

from operator_controller.resolve.errors import ResolutionError
from operator_controller.resolve.findings import Cause, Findings, Note, NoteKind, Reason, Rival
from operator_controller.resolve.request import CatalogContent, Request
from operator_controller.resolve.select import Resolution, resolve

__all__ = [
    "CatalogContent",
    "Cause",
    "Findings",
    "Note",
    "NoteKind",
    "Reason",
    "Request",
    "Resolution",
    "ResolutionError",
    "Rival",
    "resolve",
]
