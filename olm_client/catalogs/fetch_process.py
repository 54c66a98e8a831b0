"""The content of a catalog, fetched into the cache by a process of its own.

A program that runs for long keeps much of the memory that this takes for a moment, and answers
nobody while it reads.
"""

import asyncio
import json
import os
import pickle
import sys
from asyncio.subprocess import PIPE
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from olm_client.catalogs.cache import ContentCache
from olm_client.catalogs.cluster import Cluster, Served
from olm_client.reach import ClusterOptions, Reach
from olm_runtime.errors import OLMError, TerminalError, bounded
from olm_runtime.kube.cluster_access import ClusterAccess

NICENESS = 10
"""Whoever looks at something goes first."""


async def fetch_apart(options: ClusterOptions, catalog: Served) -> None:
    """Has the content of a catalog cached, if it is not. Raises OLMError."""
    asked = await asyncio.to_thread(_question, options, catalog)
    # Of the folder in which somebody happens to be nothing is imported.
    command = (sys.executable, "-P", "-m", __name__)
    process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, stderr=PIPE)
    try:
        answer, said = await process.communicate(asked)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if answer:
        raise TerminalError(**json.loads(answer))
    if process.returncode:
        why = bounded(said.decode(errors="replace").strip().rpartition("\n")[2])
        why = why or f"exit status {process.returncode}"
        raise TerminalError(f'catalog "{catalog.name}" could not be fetched: {why}')


@dataclass(frozen=True, slots=True)
class _Snapshot(Reach):
    """A cluster with the credentials of a moment, which another process can be given."""

    given: Mapping[str, Any] = field(default_factory=dict)
    authorization: str | None = None

    def access(self) -> ClusterAccess:
        """Those."""
        return ClusterAccess(**self.given, authorization=lambda: self.authorization)


def _question(options: ClusterOptions, catalog: Served) -> bytes:
    access = options.reach.access()
    given = access._asdict()
    del given["authorization"]
    reach = _Snapshot(given=given, authorization=access.authorization())
    # Through a pipe: what others see of a process is its command.
    return pickle.dumps((ClusterOptions(reach, options.cas_dir, options.allow_http), catalog))


def main() -> None:
    """The process: what it is to fetch on its input, what is wrong on its output."""
    os.nice(NICENESS)
    options, catalog = pickle.load(sys.stdin.buffer)  # noqa: S301 - of our own parent
    try:
        Cluster(options).content(catalog, ContentCache.of_user()).close()
    except OLMError as error:
        json.dump({"message": error.message, "hint": error.hint}, sys.stdout)


if __name__ == "__main__":
    main()
