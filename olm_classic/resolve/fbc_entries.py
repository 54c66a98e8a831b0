"""The entries of a package of a file-based catalog."""

from collections.abc import Iterable, Mapping
from typing import Any

from olm_classic.resolve.entries import Entry, SourceKey, entries_of
from olm_content.fbc.packages import package_of, read_package
from olm_content.names import BUNDLE


def entries_of_blobs(
    name: str, blobs: Iterable[Mapping[str, Any]], key: SourceKey
) -> tuple[Entry, ...]:
    """The entries of the package; none where no blob belongs to it."""
    own = [blob for blob in blobs if package_of(blob) == name]
    package = read_package(name, own, [])
    if package is None:
        return ()
    properties = {
        str(blob.get("name")): blob.get("properties") or ()
        for blob in own
        if blob.get("schema") == BUNDLE
    }
    return tuple(entries_of(package, properties, key))
