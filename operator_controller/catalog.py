"""A package of a catalog, all or nothing: one of the wrong shape is not resolved from."""

from collections.abc import Iterable, Mapping
from typing import Any

from olm_content.fbc.model import Package
from olm_content.fbc.packages import read_package
from olm_content.formats.go_text import quote
from olm_runtime.errors import TransientError

MAX_FAULTS_SHOWN = 5


class BrokenPackageError(TransientError):
    """A package whose blobs have the wrong shape: `faults`, each with its place, in order.

    Transient: the next content of the catalog may be right.
    """

    def __init__(self, package: str, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        shown = list(self.faults[:MAX_FAULTS_SHOWN])
        if len(self.faults) > len(shown):
            shown.append(f"and {len(self.faults) - len(shown)} more")
        super().__init__(
            f"error loading package {quote(package)}: {'; '.join(shown)}",
            hint="the catalog needs repair by its maintainer; `opm validate` finds such faults",
        )


def build_package(
    name: str, blobs: Iterable[Mapping[str, Any]], *, release_field: bool = False
) -> Package | None:
    """As `read_package`. Raises BrokenPackageError with every fault."""
    faults: list[str] = []
    package = read_package(name, blobs, faults, release_field=release_field)
    if faults:
        raise BrokenPackageError(name, faults)
    return package
