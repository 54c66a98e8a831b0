"""Chooses the bundle to install, and explains why not another. Pure.

criteria       a request, parsed
rules          what excludes a bundle
successors     which bundles may follow the installed one
candidates     the candidates of one catalog, and the best of them
select         the choice: a Resolution, or a ResolutionError; both carry the findings
messages       the texts of errors, upstream's word for word
explain        findings as text
change_search  the smallest change of the spec with which a bundle would be chosen
change_text    such a change as text
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
