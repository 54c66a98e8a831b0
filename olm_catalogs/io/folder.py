"""Reads the records of a catalog folder."""

from collections.abc import Iterator
from pathlib import Path

from olm_content.fbc.files import CatalogFormat
from olm_content.fbc.limits import MAX_DOCUMENT_BYTES
from olm_content.fbc.records import Place, Record, record
from olm_runtime.file_trees import read_file, read_files, tree_files


def read_folder(root: Path) -> Iterator[Record]:
    """The records of a catalog folder. Raises OLMError at the first that is none."""
    for path, blobs in read_files(root, CatalogFormat(empty_too=True)):
        for blob in blobs:
            yield record(blob, Place(path, blob.line))


def stream_folder(root: Path, *, document_bytes: int = MAX_DOCUMENT_BYTES) -> Iterator[Record]:
    """As `read_folder`, holding one document at a time."""
    form = CatalogFormat(document_bytes=document_bytes, empty_too=True)
    for path in tree_files(root, form):
        for blob in read_file(root, path, form):
            yield record(blob, Place(path, blob.line))
