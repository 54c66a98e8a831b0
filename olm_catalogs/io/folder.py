"""Reads the records of a catalog folder."""

from collections.abc import Iterator
from pathlib import Path

from olm_content.fbc.files import CatalogFormat
from olm_content.fbc.records import Place, Record, record
from olm_runtime.file_trees import read_files


def read_folder(root: Path) -> Iterator[Record]:
    """The records of a catalog folder. Raises OLMError at the first that is none."""
    for path, blobs in read_files(root, CatalogFormat(empty_too=True)):
        for blob in blobs:
            yield record(blob, Place(path, blob.line))
