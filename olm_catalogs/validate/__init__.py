"""Checks a catalog against every rule of file-based catalogs, all faults at once. Pure.

Sources of the rules: the product documents' chapter on file-based catalogs, and what upstream's
`opm validate` refuses. What the documents forbid and upstream lets pass is a warning.
"""

from olm_catalogs.validate.checks import check
from olm_catalogs.validate.faults import Fault

__all__ = ["Fault", "check"]
