"""Errors of the disk in words of ours: what was being done, with which path, and what to do."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from olm_runtime.errors import TransientError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_LOCKED = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})


class DiskError(TransientError):
    """A file could not be read or written."""


@contextmanager
def disk_errors(doing: str, folder: Path | None = None) -> Iterator[None]:
    """Raises DiskError in place of OSError; `doing` as in "cannot ...", below `folder`.

    Without a folder it is the one for temporary files.
    """
    try:
        yield
    except OSError as error:
        raise disk_error(doing, folder, error) from error


def disk_error(doing: str, folder: Path | None, error: OSError) -> DiskError:
    """The error of ours; the folder is named where the system names no path."""
    place = str(folder or "the folder for temporary files")
    cause = (error.strerror or str(error)).lower()
    message = f"cannot {doing}: {cause}: {error.filename or place}"
    return DiskError(message, hint=_hint(error, place))


def _hint(error: OSError, place: str) -> str:
    if error.errno in _FULL:
        return f"free space on the volume of {place}, or enlarge it"
    if error.errno in _LOCKED:
        return f"make {place} writable for the user that this program runs as"
    return f"check the volume of {place}"
