"""The image that holds a pod's namespaces open: one program, built here, and nothing else."""

import io
import tarfile

from e2e.harness.gobuild import built
from e2e.harness.images import Image, build_image
from e2e.node.programs import PAUSE


def pause_image() -> Image:
    """The image. Errors: BinaryUnavailable, BuildFailed."""
    program = built(PAUSE).read_bytes()
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as writer:
        entry = tarfile.TarInfo("pause")
        entry.size, entry.mode = len(program), 0o755
        writer.addfile(entry, io.BytesIO(program))
    return build_image([archive.getvalue()], runs=["/pause"])
