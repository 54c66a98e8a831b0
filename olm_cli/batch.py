"""Answers JSON lines with JSON lines: in order, one bad line not stopping the rest.

Lines that arrive together are answered in parallel; a program that sends one and waits is
answered at once.
"""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from olm_client.usage import RequestError
from olm_content.formats import go_json
from olm_runtime.errors import OLMError, TerminalError, bounded

Answer = Callable[[Mapping[str, Any]], dict[str, Any]]

Read = Callable[[bytes], Any]
"""Raises json.JSONDecodeError."""

PARALLEL_FROM = 4
"""Fewer lines than this are answered before other processes have started."""

CHUNK = 4
"""So many neighbours go to the same process: they are often about the same thing."""

READ_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Answered:
    """The line for a line, and whether that was no request at all."""

    line: bytes
    malformed: bool = False


def answers(
    source: str, answer: Answer, *, parallel: bool = True, read: Read = orjson.loads
) -> Iterator[Answered]:
    """One for each line of the file `source` (`-`: standard input). Raises TerminalError.

    `answer` gives the fields next to `id`, or raises OLMError, which becomes `error`. It has to
    be a function of a module, for other processes to find it. Without `parallel` all lines are
    answered in this process: for answers that are quick, or that share what one of them read.
    `read` makes the request of a line, where more than its values counts.
    """
    with ExitStack() as stack:
        stream = _open(source, stack)
        pool: ProcessPoolExecutor | None = None
        for lines in _groups(stream):
            if parallel and pool is None and len(lines) >= PARALLEL_FROM:
                pool = stack.enter_context(_pool())
            respond = partial(_respond, answer, read)
            yield from pool.map(respond, lines, chunksize=CHUNK) if pool else map(respond, lines)


def _open(source: str, stack: ExitStack) -> BinaryIO:
    if source == "-":
        return sys.stdin.buffer
    try:
        return stack.enter_context(Path(source).open("rb"))
    except OSError as error:
        raise TerminalError(
            f"{source}: {error.strerror}",
            hint="--batch takes a file of JSON lines, or - for standard input",
        ) from error


@contextmanager
def _pool() -> Iterator[ProcessPoolExecutor]:
    # Forking keeps what is imported already, which is most of what starting would cost.
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if "fork" in methods else None)
    pool = ProcessPoolExecutor(
        len(os.sched_getaffinity(0)), mp_context=context, initializer=_end_with_parent
    )
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _end_with_parent() -> None:
    """Ctrl-C is for the parent, which then gives these processes nothing more to do."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _groups(stream: BinaryIO) -> Iterator[list[bytes]]:
    """The lines that are there, again and again until the end of the stream."""
    rest = b""
    while data := stream.read1(READ_BYTES):  # type: ignore[attr-defined]  # buffered streams have it
        *lines, rest = (rest + data).split(b"\n")
        if full := [line for line in lines if line.strip()]:
            yield full
    if rest.strip():
        yield [rest]


def _respond(answer: Answer, read: Read, line: bytes) -> Answered:
    identity = None
    try:
        request = read(line)
        if not isinstance(request, dict):
            return _refused(None, "a request is a JSON object")
        identity = request.get("id")
        return Answered(_line({"id": identity, **answer(request)}))
    except RequestError as error:
        return _refused(identity, error.message)
    except OLMError as error:
        return Answered(_line({"id": identity, "error": error.message}))
    except orjson.JSONDecodeError as error:
        return _refused(identity, f"no JSON: {error}")
    except Exception as error:  # noqa: BLE001 - one line's fault is not the next one's
        return _refused(identity, bounded(f"internal error: {type(error).__name__}: {error}"))


def _refused(identity: Any, message: str) -> Answered:
    return Answered(_line({"id": identity, "error": message}), malformed=True)


def _line(value: dict[str, Any]) -> bytes:
    text = orjson.dumps(value)
    if any(mark in text for mark in _LARGE):
        text = go_json.dumps(value).encode()
    return text + b"\n"


_LARGE = tuple(f"e+{power}".encode() for power in range(16, 21))
"""What stands in floats that Go writes without an exponent, and in some other text."""
