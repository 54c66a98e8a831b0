"""Resolves, in a process of its own: one question after another, within a bound of memory.

A question comes as JSON on standard input, after four bytes with its length, and its answer leaves
so on standard output. The process ends when its parent does.

Run as `python -m olm_classic.io.resolution_worker`.
"""

import os
import resource
import sqlite3
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import orjson

from olm_classic.io.entry_index import open_index
from olm_classic.resolve.errors import Limit, LimitError, ResolutionError
from olm_classic.resolve.explain import explain
from olm_classic.resolve.frames import Question, answer_out, question_in
from olm_classic.resolve.resolver import Resolution, resolve
from olm_runtime.memory import return_unused, share_one_arena

LENGTH_BYTES = 4
_DATA = 5
"""The field of /proc/PID/statm with the pages of data."""
EXPLANATION_SECONDS = 0.9
"""What the caller waits longer than a resolution may take."""
WORTH_TIDYING_SECONDS = 0.3


def main() -> None:
    """Answers until standard input ends."""
    share_one_arena()
    with suppress(OSError):  # not Linux
        Path("/proc/self/oom_score_adj").write_text("1000")
    while (text := read_frame(sys.stdin.buffer)) is not None:
        started = time.process_time()
        write_frame(sys.stdout.buffer, orjson.dumps(answer_out(_answer(text))))
        if time.process_time() - started > WORTH_TIDYING_SECONDS:
            return_unused()


def _answer(text: bytes) -> Resolution | ResolutionError:
    question = question_in(orjson.loads(text), open_index)
    confine(question.memory)
    try:
        return resolve(
            question.namespace, Limit(time.monotonic, question.seconds), question.dialect
        )
    except LimitError as error:
        return error
    except ResolutionError as error:
        return _explained(question, error)
    except MemoryError:
        return too_large(question)
    except sqlite3.Error as error:
        return ResolutionError(f"the content of a catalog cannot be read: {error}")


def _explained(question: Question, error: ResolutionError) -> ResolutionError:
    """The error with an explanation in plain words as its hint, if there is time for one.

    The content of a catalog may have been replaced meanwhile: then there is none.
    """
    limit = Limit(time.monotonic, min(EXPLANATION_SECONDS, question.seconds))
    with suppress(MemoryError, sqlite3.Error):
        found = explain(question.namespace, error, limit, question.dialect)
        error.hint = found.text()
    return error


def too_large(question: Question) -> ResolutionError:
    """What is said of a resolution that takes too much memory."""
    return ResolutionError(f"resolution takes more than {question.memory >> 20} MiB of memory")


def confine(memory: int) -> None:
    """Bounds what may be allocated from now on, in bytes. Only Linux counts all of it."""
    with suppress(OSError):
        pages = int(Path("/proc/self/statm").read_text().split()[_DATA])
        most = pages * os.sysconf("SC_PAGE_SIZE") + memory
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def read_frame(stream: BinaryIO) -> bytes | None:
    """The next message; None at the end."""
    head = stream.read(LENGTH_BYTES)
    if len(head) < LENGTH_BYTES:
        return None
    return stream.read(int.from_bytes(head))


def write_frame(stream: BinaryIO, text: bytes) -> None:
    """Writes a message."""
    stream.write(len(text).to_bytes(LENGTH_BYTES) + text)
    stream.flush()


if __name__ == "__main__":
    with suppress(BrokenPipeError):  # nobody waits for the answer any more
        main()
