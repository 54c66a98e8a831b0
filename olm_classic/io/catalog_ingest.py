"""The messages of a catalog image, written by processes of their own.

Run as `python -m olm_classic.io.catalog_ingest` by `olm_catalogs.io.fork_client`.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from olm_catalogs.io.folder import stream_folder
from olm_catalogs.io.fork_server import serve
from olm_catalogs.io.ingest import run
from olm_catalogs.io.messages import INDEX, version_of, write_messages
from olm_catalogs.job import Job
from olm_content.fbc.records import Record
from olm_runtime.errors import TransientError
from olm_runtime.images.limits import MIB

MAX_INDEX_BYTES = 16 * MIB
"""Thirty times that of a catalog of 330 packages; who serves it holds six times as much."""


def write(job: Job, root: Path, work: Path) -> str:
    """Writes the messages of a catalog folder; gives their version. Raises OLMError, OSError."""
    records = stream_folder(root, document_bytes=job.document_bytes)
    write_messages(_bounded(records, job.objects), work)
    size = (work / INDEX).stat().st_size
    if size > MAX_INDEX_BYTES:
        raise TransientError(
            f"the entries of the catalog's channels take {size} bytes, and may take"
            f" {MAX_INDEX_BYTES}"
        )
    return version_of(work)


def _bounded(records: Iterable[Record], most: int) -> Iterator[Record]:
    for number, each in enumerate(records):
        if number == most:
            raise TransientError(f"catalog has more than {most} objects")
        yield each


if __name__ == "__main__":
    serve(partial(run, write))
