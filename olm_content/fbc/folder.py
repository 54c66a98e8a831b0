"""Reads a catalog folder file by file; blobs come in upstream's walk order. Blocking.

`read_catalog` holds one document at a time. `read_files` is for tools that hold the catalog anyway
and are waited for: a second process parses half of a large one.
"""

import contextlib
import os
import pickle
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from olm_content.fbc.documents import (
    INDEX_IGNORE,
    MAX_DOCUMENT_BYTES,
    Blob,
    FbcError,
    files_to_read,
    parse_pieces,
)

PIECE_BYTES = 256 << 10
MAX_IGNORE_BYTES = 1 << 20
WORTH_A_PROCESS_BYTES = 2 << 20
"""Text that takes longer to parse than a second process takes to start and to answer."""
MAX_QUEUED = 8192
"""Tasks of four bytes that a pipe takes at once."""
PARTS = 8
"""A file that is larger than this fraction of a catalog is dealt out in so many parts."""


def read_catalog(root: Path, *, document_bytes: int = MAX_DOCUMENT_BYTES) -> Iterator[Blob]:
    """All blobs below a folder. Raises FbcError naming file, document and line.

    A document larger than `document_bytes` is an error.
    """
    for path in catalog_files(root):
        yield from read_file(root, path, document_bytes=document_bytes)


def catalog_files(root: Path) -> list[str]:
    """The files of a catalog that are not ignored, relative to `root`, in reading order."""
    paths: list[str] = []
    ignores: dict[str, str] = {}
    for folder, _, names in os.walk(root):
        here = Path(folder).relative_to(root).as_posix()
        prefix = "" if here == "." else f"{here}/"
        paths += (prefix + name for name in names)
        if INDEX_IGNORE in names:
            ignores[prefix.rstrip("/")] = _ignore_text(Path(folder, INDEX_IGNORE))
    return files_to_read(paths, ignores)


def read_file(
    root: Path, path: str, *, document_bytes: int = MAX_DOCUMENT_BYTES, empty_too: bool = False
) -> Iterator[Blob]:
    """The blobs of one file, as `parse_pieces` has them. Raises FbcError as `read_catalog`."""
    pieces = _pieces(root / path)
    return parse_pieces(pieces, path=path, document_bytes=document_bytes, empty_too=empty_too)


def read_files(root: Path) -> Iterator[tuple[str, Iterator[Blob]]]:
    """The files of a catalog with their blobs, in reading order, empty documents too.

    The blobs' iterators raise FbcError as `read_catalog`.
    """
    paths = catalog_files(root)
    found: Mapping[_Task, list[Blob]] = {}
    tasks = _tasks(root, paths)
    if _can_fork() and sum(task.size for task in tasks) >= WORTH_A_PROCESS_BYTES:
        found = _in_two_processes(root, tasks)
    of_file: dict[str, list[_Task]] = {}
    for task in tasks:
        of_file.setdefault(task.path, []).append(task)
    for path in paths:
        parts = [found.get(task) for task in of_file[path]]
        if None in parts:  # a fault, which reading in order tells best, or nobody has read it
            yield path, read_file(root, path, empty_too=True)
        else:
            blobs = (blob for part in parts if part for blob in part)
            yield path, iter(sorted(blobs, key=lambda blob: blob.line))


@dataclass(frozen=True, slots=True)
class _Task:
    """Some of a file's documents: `part` as for `parse_pieces`, `size` in bytes, about."""

    path: str
    size: int
    part: tuple[int, int] = (0, 1)


def _tasks(root: Path, paths: Sequence[str]) -> list[_Task]:
    """What there is to parse, the largest first, so that both processes end together."""
    sizes = {path: (root / path).stat().st_size for path in paths}
    large = sum(sizes.values()) / PARTS
    tasks = [
        _Task(path, size // parts, (part, parts))
        for path, size in sizes.items()
        for parts in (PARTS if size > large else 1,)
        for part in range(parts)
    ]
    return sorted(tasks, key=lambda task: task.size, reverse=True)


def _can_fork() -> bool:
    """Whether there is a second processor, and no thread that a fork would cut off."""
    return (
        hasattr(os, "fork") and len(os.sched_getaffinity(0)) > 1 and threading.active_count() == 1
    )


def _in_two_processes(root: Path, tasks: Sequence[_Task]) -> dict[_Task, list[Blob]]:
    """The blobs of tasks; left out are those with a fault, and what is lost if a process is.

    Both take tasks from one pipe, so neither waits for the other.
    """
    queue, queue_end = os.pipe()
    tasks = tasks[:MAX_QUEUED]
    os.write(queue_end, b"".join(number.to_bytes(4) for number in range(len(tasks))))
    os.close(queue_end)
    answer, answer_end = os.pipe()
    child = os.fork()
    if child == 0:
        _answer(root, tasks, queue, answer_end)
    os.close(answer_end)
    with open(answer, "rb") as reading:  # noqa: PTH123 - a descriptor
        try:
            found = _parse_claimed(root, tasks, queue)
            found |= pickle.load(reading)  # noqa: S301 - our own process writes it
        except (EOFError, pickle.UnpicklingError):
            pass  # it was killed, for want of memory perhaps: what it had is read again
        finally:
            os.close(queue)
            reading.close()  # a child that still writes ends now
            os.waitpid(child, 0)
    return found


def _answer(root: Path, tasks: Sequence[_Task], queue: int, answer_end: int) -> NoReturn:
    """The other process: parses, answers and ends, whatever happens, without its parent's rest."""
    status = 1
    try:
        with open(answer_end, "wb") as writing:
            pickle.dump(_parse_claimed(root, tasks, queue), writing)
        status = 0
    finally:
        os._exit(status)


def _parse_claimed(root: Path, tasks: Sequence[_Task], queue: int) -> dict[_Task, list[Blob]]:
    found = {}
    while number := os.read(queue, 4):
        task = tasks[int.from_bytes(number)]
        with contextlib.suppress(FbcError):  # told when the file is read in order
            pieces = _pieces(root / task.path)
            blobs = parse_pieces(pieces, path=task.path, part=task.part, empty_too=True)
            found[task] = list(blobs)
    return found


def _ignore_text(file: Path) -> str:
    with file.open("rb") as opened:
        return opened.read(MAX_IGNORE_BYTES).decode("utf-8", errors="replace")


def _pieces(file: Path) -> Iterator[bytes]:
    try:
        with file.open("rb") as opened:
            while piece := opened.read(PIECE_BYTES):
                yield piece
    except OSError as error:
        raise FbcError(f"{file.name}: cannot be read: {error.strerror}") from error
