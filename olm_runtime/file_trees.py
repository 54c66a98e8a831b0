"""Reads the files of a folder tree as a `Format` says, one by one or by two processes. Blocking.

`read_tree` holds what is being parsed and no more. `read_files` is for tools that hold everything
anyway and are waited for: a second process parses half of a large tree.
"""

import contextlib
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, NoReturn, Protocol, TypeVar

from olm_runtime.errors import OLMError

PIECE_BYTES = 256 << 10
MAX_IGNORE_BYTES = 1 << 20
WORTH_A_PROCESS_BYTES = 2 << 20
"""Text that takes longer to parse than a second process takes to start and to answer."""
MAX_QUEUED = 8192
"""Tasks of four bytes that a pipe takes at once."""
PARTS = 8
"""A file that is larger than this fraction of a tree is dealt out in so many parts."""

Item = TypeVar("Item")
WHOLE = (0, 1)


class Format(Protocol[Item]):
    """What the files of a tree hold. Paths are relative to its root, with forward slashes.

    All methods may raise OLMError.
    """

    @property
    def ignore_file(self) -> str:
        """The name of the files that say what is ignored of their folder."""

    def select(self, paths: Iterable[str], ignores: Mapping[str, str]) -> list[str]:
        """The files to read, in order; `ignores` has the text of ignore files by folder."""

    def parse(
        self, pieces: Iterable[bytes], *, path: str, part: tuple[int, int] = WHOLE
    ) -> Iterator[Item]:
        """The items of a file, in order: those of one part (from 0) of so many."""

    def position(self, item: Item) -> int:
        """Where in its file an item is."""

    def unreadable(self, path: str, reason: str) -> OLMError:
        """The error for a file or folder that cannot be read."""


def read_tree(root: Path, form: Format[Item]) -> Iterator[Item]:
    """All items below a folder. Raises OLMError."""
    for path in tree_files(root, form):
        yield from read_file(root, path, form)


def tree_files(root: Path, form: Format[Item]) -> list[str]:
    """The files to read, relative to `root`, in order. Raises OLMError."""
    paths: list[str] = []
    ignores: dict[str, str] = {}

    def refuse(error: OSError) -> None:
        raise form.unreadable(Path(error.filename).name, error.strerror or "") from error

    for folder, _, names in os.walk(root, onerror=refuse):
        here = Path(folder).relative_to(root).as_posix()
        prefix = "" if here == "." else f"{here}/"
        paths += (prefix + name for name in names)
        if form.ignore_file in names:
            file = Path(folder, form.ignore_file)
            text = next(_pieces(file, form, MAX_IGNORE_BYTES), b"")
            ignores[prefix.rstrip("/")] = text.decode("utf-8", errors="replace")
    return form.select(paths, ignores)


def read_file(root: Path, path: str, form: Format[Item]) -> Iterator[Item]:
    """The items of one file. Raises OLMError."""
    return form.parse(_pieces(root / path, form), path=path)


def read_files(root: Path, form: Format[Item]) -> Iterator[tuple[str, Iterator[Item]]]:
    """The files of a tree with their items, in order. The iterators of items raise OLMError."""
    paths = tree_files(root, form)
    found: Mapping[_Task, list[Item]] = {}
    tasks = _tasks(root, paths)
    if _can_fork() and sum(task.size for task in tasks) >= WORTH_A_PROCESS_BYTES:
        found = _Reading(root, form, tasks[:MAX_QUEUED]).in_two_processes()
    of_file: dict[str, list[_Task]] = {}
    for task in tasks:
        of_file.setdefault(task.path, []).append(task)
    for path in paths:
        parts = [found.get(task) for task in of_file[path]]
        if None in parts:  # it has a fault, which reading in order finds first, or was not read
            yield path, read_file(root, path, form)
        else:
            items = (item for part in parts if part for item in part)
            yield path, iter(sorted(items, key=form.position))


@dataclass(frozen=True, slots=True)
class _Task:
    """Some of a file: `part` as for `Format.parse`, `size` in bytes, about."""

    path: str
    size: int
    part: tuple[int, int] = WHOLE


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


@dataclass(frozen=True, slots=True)
class _Reading(Generic[Item]):
    """Tasks that two processes take from one pipe, so that neither waits for the other."""

    root: Path
    form: Format[Item]
    tasks: Sequence[_Task]

    def in_two_processes(self) -> dict[_Task, list[Item]]:
        """The items of tasks; left out are those with a fault, and what a lost process had."""
        import pickle

        queue, queue_end = os.pipe()
        os.write(queue_end, b"".join(number.to_bytes(4) for number in range(len(self.tasks))))
        os.close(queue_end)
        answer, answer_end = os.pipe()
        child = os.fork()
        if child == 0:
            self.answer(queue, answer_end)
        os.close(answer_end)
        with open(answer, "rb") as reading:  # noqa: PTH123 - a descriptor
            try:
                found = self.parse_claimed(queue)
                found |= pickle.load(reading)  # noqa: S301 - our own process writes it
            except (EOFError, pickle.UnpicklingError):
                pass  # it was killed, for want of memory perhaps: what it had is read again
            finally:
                os.close(queue)
                reading.close()  # a child that still writes ends now
                os.waitpid(child, 0)
        return found

    def answer(self, queue: int, answer_end: int) -> NoReturn:
        """The other process: parses, answers and ends without what its parent would still do."""
        import pickle

        status = 1
        try:
            with open(answer_end, "wb") as writing:
                pickle.dump(self.parse_claimed(queue), writing)
            status = 0
        finally:
            os._exit(status)

    def parse_claimed(self, queue: int) -> dict[_Task, list[Item]]:
        """What this process takes from the queue."""
        found = {}
        while number := os.read(queue, 4):
            task = self.tasks[int.from_bytes(number)]
            with contextlib.suppress(OLMError):  # raised when the file is read in order
                pieces = _pieces(self.root / task.path, self.form)
                found[task] = list(self.form.parse(pieces, path=task.path, part=task.part))
        return found


def _pieces(file: Path, form: Format[Item], size: int = PIECE_BYTES) -> Iterator[bytes]:
    try:
        with file.open("rb") as opened:
            while piece := opened.read(size):
                yield piece
    except OSError as error:
        raise form.unreadable(file.name, error.strerror or "") from error
