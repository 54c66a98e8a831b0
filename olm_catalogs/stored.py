"""What is known of a catalog's content on disk. Pure."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import orjson

if TYPE_CHECKING:  # each ingest process would load all models for a name
    from api.metadata import ObjectMeta


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """Content on disk, and for which catalog and reference it was fetched.

    `version` is the SHA-256 of the content in hex, `source` the canonical reference it came from,
    `requested` the reference that was asked for. Times are seconds since the epoch: `unpacked`
    when the source was unpacked, `polled` when the registry last said that it is up to date.
    """

    version: str
    source: str
    requested: str
    uid: str
    generation: int
    unpacked: int
    polled: float

    def is_of(self, metadata: "ObjectMeta") -> bool:
        """Whether it was fetched for this object as it is specified now."""
        return (self.uid, self.generation) == (metadata.uid, metadata.generation)

    def confirmed(self, metadata: "ObjectMeta", requested: str, now: float) -> "Stored":
        """The same content, found to be right for the object at `now`."""
        return replace(
            self,
            requested=requested,
            uid=metadata.uid,
            generation=metadata.generation,
            polled=now,
        )

    def to_json(self) -> bytes:
        """As it lies on disk."""
        return orjson.dumps(self)


def read_stored(data: bytes) -> Stored | None:
    """Reads `Stored.to_json`; None if it is anything else, which is as good as no content."""
    try:
        return Stored(**orjson.loads(data))
    except (orjson.JSONDecodeError, TypeError):
        return None
