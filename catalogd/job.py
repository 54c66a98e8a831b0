"""What goes to an ingest process and what comes back. Pure."""

from dataclasses import dataclass, field
from typing import Any

import orjson

from olm_shared.cluster_settings import ClusterSettings, read_settings
from olm_shared.fbc import MAX_DOCUMENT_BYTES
from olm_shared.limits import Limits

UNPACK_FOLDER, CATALOGS_FOLDER = "unpack", "catalogs"
"""Below the cache folder: images being read, and the contents that are served."""


TURN = b"turn\n"
"""What the process writes when it has fetched and wants the processor; any line back grants it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What to do. `known_source` and `known_version` are what is stored; empty for nothing."""

    catalog: str
    reference: str
    cache_dir: str
    known_source: str = ""
    known_version: str = ""
    cas_dir: str = ""
    auth_file: str = ""
    plain_http: tuple[str, ...] = ()
    cluster: ClusterSettings = field(default_factory=ClusterSettings)
    limits: Limits = field(default_factory=Limits)
    document_bytes: int = MAX_DOCUMENT_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came of it.

    `source` is canonical; `unpacked` in seconds since the epoch, 0 if the source was known. Or an
    error with its hint, `blocked` if only a person can help.
    """

    source: str = ""
    version: str = ""
    unpacked: int = 0
    error: str = ""
    hint: str = ""
    blocked: bool = False


def read_job(line: bytes) -> Job:
    """Reads a job's JSON. Raises ValueError, TypeError."""
    fields: dict[str, Any] = orjson.loads(line)
    fields["plain_http"] = tuple(fields.get("plain_http", ()))
    fields["cluster"] = read_settings(fields.get("cluster", {}))
    fields["limits"] = Limits(**fields.get("limits", {}))
    return Job(**fields)
