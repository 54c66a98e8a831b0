"""Answers that were made once and are sent often, as many as fit into memory. Pure."""

import gzip
import hashlib
from collections import OrderedDict
from dataclasses import dataclass

from cluster_version.graph_data.building import UpdateGraphs

MOST_BYTES = 64 << 20
"""Of all cached answers of one generation."""
COMPRESSED_FROM = 1024
"""Bytes from which on an answer is compressed for those who take that."""
LEVEL = 1
OVERHEAD_BYTES = 1024
"""What an answer takes on top of its bytes, about."""

Key = tuple[str, str]
"""A channel and an architecture."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A graph as it is sent; `compressed` is empty where that does not pay."""

    plain: bytes
    compressed: bytes
    digest: str

    @classmethod
    def of(cls, plain: bytes) -> "Answer":
        """The answer with this body; takes milliseconds for a large one."""
        compressed = b""
        if len(plain) >= COMPRESSED_FROM:
            compressed = gzip.compress(plain, LEVEL, mtime=0)
        return cls(plain, compressed, hashlib.sha256(plain).hexdigest()[:32])

    @property
    def size(self) -> int:
        """What it takes to cache it."""
        return len(self.plain) + len(self.compressed) + OVERHEAD_BYTES


class Generation:
    """The graphs as they are from one reload to the next, and the answers made of them."""

    def __init__(self, graphs: UpdateGraphs, most_bytes: int = MOST_BYTES) -> None:
        self.graphs = graphs
        self._most = most_bytes
        self._cached: OrderedDict[Key, Answer] = OrderedDict()
        self._bytes = 0
        self._nothing = Answer.of(graphs.body("", ""))

    def cached(self, key: Key) -> Answer | None:
        """An answer that was made before; what nobody knows has one for all."""
        if not self.graphs.has(*key):
            return self._nothing
        answer = self._cached.get(key)
        if answer is not None:
            self._cached.move_to_end(key)
        return answer

    def made(self, key: Key) -> Answer:
        """An answer made anew, which is not cached: it may be made in another thread."""
        return Answer.of(self.graphs.body(*key))

    def keep(self, key: Key, answer: Answer) -> None:
        """Caches an answer in place of those that were longest not asked for."""
        if key in self._cached:
            return
        self._cached[key] = answer
        self._bytes += answer.size
        while self._bytes > self._most and len(self._cached) > 1:
            _, gone = self._cached.popitem(last=False)
            self._bytes -= gone.size

    def asked(self) -> list[Key]:
        """What was asked for and is cached, that of the last request last."""
        return list(self._cached)
