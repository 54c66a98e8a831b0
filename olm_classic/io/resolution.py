"""Resolves namespaces in processes of their own, each bounded in time and memory.

A process stays for the next namespace, so that what it has read and compiled stays, and ended
when it is over a bound or nothing came for a while; then a fresh one waits, whose modules are
loaded before anybody asks. A namespace that was over a bound has one
process with all others of the kind: whatever a catalog contains, the rest go on.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, nullcontext
from typing import Any

import orjson

from olm_classic.dialect import Dialect
from olm_classic.io.entry_index import IndexReader
from olm_classic.io.resolution_worker import LENGTH_BYTES, too_large
from olm_classic.resolve.entries import SourceKey
from olm_classic.resolve.frames import Question, answer_in, question_out
from olm_classic.resolve.resolver import Namespace, Resolution
from olm_runtime.errors import TransientError

SECONDS = 10.0
"""For one namespace, all together."""
OWN_SECONDS = 9.0
"""After which the process says itself that it is over."""
MEMORY = 200 << 20
WORKERS = 2
IDLE_SECONDS = 60.0


class Resolver:
    """Resolves namespaces; `close` ends its processes."""

    def __init__(
        self,
        dialect: Dialect = Dialect.DOCUMENTS,
        *,
        seconds: float = SECONDS,
        memory: int = MEMORY,
        workers: int = WORKERS,
    ) -> None:
        self._dialect = dialect
        self._seconds = seconds
        self._memory = memory
        self._free = asyncio.Semaphore(workers)
        self._slow_lane = asyncio.Lock()
        self._slow: set[str] = set()
        self._idle: list[_Worker] = []
        self._spare: asyncio.Task[_Worker] | None = None

    def prepare(self) -> None:
        """Starts a process for the next namespace that finds none."""
        if self._spare is None:
            self._spare = asyncio.create_task(_Worker.start(), name="start a resolver")

    async def resolve_namespace(self, namespace: Namespace) -> Resolution:
        """The preferred solution. Raises UnsatisfiableError, ResolutionError.

        The content of its catalogs is on disk: see `Snapshots.catalog`. The hint of an error is the
        plain explanation.
        """
        question = Question(
            namespace, self._dialect, self._seconds * OWN_SECONDS / SECONDS, self._memory
        )
        text = orjson.dumps(question_out(question, _files(namespace)))
        lane = self._slow_lane if namespace.name in self._slow else nullcontext()
        async with lane, self._free:
            answer = await self._ask(text, question)
        return answer_in(answer)

    async def close(self) -> None:
        """Ends the processes that wait."""
        spare, self._spare = self._spare, None
        if spare is not None:
            self._idle += [
                each
                for each in await asyncio.gather(spare, return_exceptions=True)
                if isinstance(each, _Worker)
            ]
        while self._idle:
            await self._idle.pop().end()

    async def _ask(self, text: bytes, question: Question) -> dict[str, Any]:
        """The answer; notes whether the namespace kept to its bounds."""
        name = question.namespace.name
        try:
            async with self._worker() as worker, asyncio.timeout(self._seconds):
                answer = await worker.ask(text)
        except TimeoutError:
            self._slow.add(name)
            error = f"resolution took longer than {self._seconds:g} seconds"
            return {"error": error, "hint": ""}
        except EOFError:
            # Libraries in C end the process when there is no memory.
            self._slow.add(name)
            return {"error": too_large(question).message, "hint": ""}
        self._slow.discard(name)
        return answer

    @asynccontextmanager
    async def _worker(self) -> AsyncIterator["_Worker"]:
        """A process, reused afterwards unless what was done with it failed."""
        self._idle = [worker for worker in self._idle if worker.alive]
        worker = self._idle.pop() if self._idle else await self._started()
        worker.rest.cancel()
        try:
            yield worker
        except BaseException:
            await worker.end()
            raise
        self._idle.append(worker)
        worker.rest = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._dismiss, worker)

    async def _started(self) -> "_Worker":
        spare, self._spare = self._spare, None
        if spare is not None and (waiting := await spare).alive:
            return waiting
        return await _Worker.start()

    def _dismiss(self, worker: "_Worker") -> None:
        if worker in self._idle:
            self._idle.remove(worker)
            worker.dismiss()
            self.prepare()


class _Worker:
    """A process of `resolution_worker`."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.rest: asyncio.TimerHandle = asyncio.get_running_loop().call_later(0, lambda: None)

    @classmethod
    async def start(cls) -> "_Worker":
        """Raises TransientError where the system has no process to give."""
        try:
            return cls(
                await asyncio.create_subprocess_exec(
                    sys.executable,
                    "-m",
                    "olm_classic.io.resolution_worker",
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                )
            )
        except OSError as error:
            raise TransientError(
                f"no process can be started to resolve: {error.strerror}"
            ) from error

    @property
    def alive(self) -> bool:
        """Whether it can be asked: its pipe is closed before its end is known."""
        sink = self._process.stdin
        return self._process.returncode is None and sink is not None and not sink.is_closing()

    async def ask(self, text: bytes) -> dict[str, Any]:
        """The answer to a question. Raises EOFError when the process ends before it."""
        source, sink = self._process.stdout, self._process.stdin
        if source is None or sink is None:
            raise EOFError
        try:
            sink.write(len(text).to_bytes(LENGTH_BYTES) + text)
            await sink.drain()
            size = int.from_bytes(await source.readexactly(LENGTH_BYTES))
            answer: dict[str, Any] = orjson.loads(await source.readexactly(size))
        except (ConnectionError, asyncio.IncompleteReadError) as error:
            raise EOFError from error
        return answer

    def dismiss(self) -> None:
        """Lets the process end by itself."""
        if self._process.stdin is not None:
            self._process.stdin.close()

    async def end(self) -> None:
        """Ends the process, whatever it does."""
        self.rest.cancel()
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()


def _files(namespace: Namespace) -> Mapping[SourceKey, str]:
    return {
        each.key: str(each.content.file)
        for each in namespace.catalogs
        if isinstance(each.content, IndexReader)
    }
