"""What is stored of a catalog, written by processes of their own.

Run as `python -m catalogd.io.ingest [CAS_DIR]` by `olm_catalogs.io.fork_client`.
"""

from functools import partial
from pathlib import Path

from catalogd.io.writer import write_content
from olm_catalogs.io.fork_server import serve
from olm_catalogs.io.ingest import run
from olm_catalogs.job import Job
from olm_content.fbc.files import CatalogFormat
from olm_runtime.file_trees import read_tree


def write(job: Job, root: Path, work: Path) -> str:
    """Writes the content of a catalog folder; gives its version. Raises OLMError, OSError."""
    blobs = read_tree(root, CatalogFormat(document_bytes=job.document_bytes))
    return write_content(blobs, work, objects=job.objects, shaped=job.shaped).version


if __name__ == "__main__":
    serve(partial(run, write))
