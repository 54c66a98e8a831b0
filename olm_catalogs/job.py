"""What goes to an ingest process and what comes back. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from olm_content.fbc.limits import MAX_DOCUMENT_BYTES
from olm_runtime.errors import OLMError, TerminalError, TransientError
from olm_runtime.images.cluster_settings import ClusterSettings, read_settings
from olm_runtime.images.limits import MIB, Limits

BASE_MEMORY = 192 * MIB
"""Address space of a process that pulls and reads little: modules, stacks, buffers."""
DOCUMENT_FACTOR, JSON_FACTOR, WINDOW_FACTOR = 24, 64, 2
"""What a byte becomes: of a document, whose values are bounded, of a manifest or configuration,
whose values are not, and of a window."""
MAX_OBJECTS = 100_000
"""Of a catalog; several times the largest of real ones. Each takes up to 2 KiB of who serves it."""

UNPACK_FOLDER, CATALOGS_FOLDER = "unpack", "catalogs"
"""Below the cache folder: images being read, and the contents that are served."""


SOURCE_PREFIX = "source catalog content: "
"""Of errors about an image."""
TERMINAL_PREFIX = "terminal error: "
"""How upstream's terminal errors print; catalogd has always shown it."""
TURN = b"turn\n"
"""Written by the process when it has fetched and needs the processor; any line back grants it."""

_END = re.compile(rb"\n(-?[0-9]+)\Z")


def ended(code: int) -> bytes:
    """What follows the output of a process that has ended; of a signal the code is negative."""
    return b"\n%d" % code


def read_end(output: bytes) -> tuple[bytes, int | None]:
    """The output and the code of `ended`; None where nobody has said how the process ended."""
    found = _END.search(output)
    return (output[: found.start()], int(found[1])) if found else (output, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedCatalogs:
    """What a catalogd serves: addresses of catalogs by the digest of their image.

    `authorities` are the certificates in PEM that it is trusted by.
    """

    urls: Mapping[str, str] = field(default_factory=dict)
    authorities: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What to do.

    `known_source` and `known_version` are what is stored; empty for nothing. `root` is the folder
    of the image that has the catalog; empty for that which its label names. `shaped`: the fields of
    the objects are needed, for GraphQL. `served` need not be pulled.
    """

    catalog: str
    reference: str
    cache_dir: str
    root: str = ""
    known_source: str = ""
    known_version: str = ""
    cas_dir: str = ""
    auth_file: str = ""
    plain_http: tuple[str, ...] = ()
    cluster: ClusterSettings = field(default_factory=ClusterSettings)
    limits: Limits = field(default_factory=Limits)
    document_bytes: int = MAX_DOCUMENT_BYTES
    objects: int = MAX_OBJECTS
    shaped: bool = False
    served: ServedCatalogs = field(default_factory=ServedCatalogs)

    @property
    def memory(self) -> int:
        """Address space in bytes in which the largest catalog within the limits is unpacked."""
        limits = self.limits
        return BASE_MEMORY + max(
            DOCUMENT_FACTOR * self.document_bytes,
            JSON_FACTOR * max(limits.manifest_bytes, limits.config_bytes),
            WINDOW_FACTOR * limits.window_bytes,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came of it.

    `source` is canonical; `unpacked` in seconds since the epoch, 0 if the source was known;
    `taken_from` is who served the content, empty for the image's registry. Or an error with its
    hint: `blocked` if only a person can help, else worth no try for `after` seconds.
    """

    source: str = ""
    version: str = ""
    unpacked: int = 0
    taken_from: str = ""
    error: str = ""
    hint: str = ""
    blocked: bool = False
    after: float = 0.0


MORE_MEMORY = (
    "if you trust the image, start catalogd with a larger --max-document-bytes, and raise the"
    " memory limit of its container"
)


def out_of_memory(job: Job) -> str:
    """What is wrong when a job does not fit into the memory that it may take."""
    return f"it needs more than {job.memory // MIB} MiB of memory"


def write_job(job: Job) -> bytes:
    """A job as a line of JSON."""
    return orjson.dumps(job, default=_fields, option=orjson.OPT_APPEND_NEWLINE)


def _fields(part: Any) -> dict[str, Any]:
    """Of the named tuples in a job, which orjson does not write."""
    fields: dict[str, Any] = part._asdict()
    return fields


def read_job(line: bytes) -> Job:
    """Reads `write_job`. Raises ValueError, TypeError."""
    fields: dict[str, Any] = orjson.loads(line)
    fields["plain_http"] = tuple(fields.get("plain_http", ()))
    fields["cluster"] = read_settings(fields.get("cluster", {}))
    fields["served"] = ServedCatalogs(**fields.get("served", {}))
    fields["limits"] = Limits(**fields.get("limits", {}))
    return Job(**fields)


def prefixed(prefix: str, error: OLMError) -> OLMError:
    """The same error, said of what it was met at."""
    if isinstance(error, TerminalError):
        message = f"{prefix}{TERMINAL_PREFIX}{error.message}"
        return TerminalError(message, reason=error.reason, hint=error.hint)
    return TransientError(prefix + error.message, hint=error.hint, after=error.after)
