"""Which entries of an image layer may be written, and how far. Decisions only.

Layers come from strangers. Everything here errs on the side of not writing: no symbolic link is
ever created, so that a path inside the target folder cannot lead out of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from olm_runtime.errors import TransientError
from olm_runtime.images.limits import MAX_NAME_BYTES, RATIO_GRACE_BYTES, Limits, raise_hint

WHITEOUT = ".wh."
OPAQUE = ".wh..wh..opq"


class LayerError(TransientError):
    """A layer that must not or cannot be unpacked. The tag may move, so it is tried again."""


class Kind(Enum):
    """What a tar entry is."""

    FILE = auto()
    FOLDER = auto()
    SYMLINK = auto()
    HARDLINK = auto()
    SPARSE = auto()
    SPECIAL = auto()


class Action(Enum):
    """What to do with an entry."""

    WRITE = auto()
    MAKE_FOLDER = auto()
    COPY = auto()
    """A hard link: write the bytes of `source` again."""
    REMOVE = auto()
    """A whiteout: what a lower layer put at `path` is gone."""
    EMPTY = auto()
    """An opaque folder: what lower layers put into `path` is gone."""
    SKIP = auto()


@dataclass(frozen=True, slots=True)
class Entry:
    """A tar entry as its header states it; `size` in bytes, `target` of a link."""

    name: str
    kind: Kind
    size: int = 0
    target: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do, where (relative, with forward slashes), and for copies from where."""

    action: Action
    path: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Rules:
    """What is unpacked: entries at or below one of `roots` (all if none), within `limits`.

    A symbolic link that would be unpacked is an error if `refuse_links`, else left out. What
    else an image has is no concern of ours, however odd it is.
    """

    roots: tuple[str, ...] = ()
    refuse_links: bool = False
    limits: Limits = field(default_factory=Limits)


_SKIP = Decision(Action.SKIP)


class Gate:
    """Decides about the entries of one image, layer after layer, counting as it goes."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self.limits = rules.limits
        self._roots = tuple(_parts(root) for root in rules.roots)
        self._entries = 0
        self._bytes = 0

    def admit(self, entry: Entry) -> Decision:
        """What to do with an entry. Raises LayerError naming the entry and the limit."""
        limits = self.limits
        self._entries += 1
        if self._entries > limits.entries:
            raise LayerError(
                f"image has more than {limits.entries} entries", hint=raise_hint("entries")
            )
        meant = _without_parents(_parts(entry.name))
        if not meant or not self._is_within(meant):
            return _SKIP
        parts = self._checked(entry)
        if parts[-1].startswith(WHITEOUT):
            return _whiteout(entry, parts)
        return self._decide(entry, "/".join(parts))

    def check_ratio(self, *, compressed: int, uncompressed: int) -> None:
        """Raises LayerError when so few bytes became so many."""
        limit = self.limits.ratio
        if uncompressed > RATIO_GRACE_BYTES and uncompressed > compressed * limit:
            raise LayerError(
                f"layer expands to more than {limit} times its size", hint=raise_hint("ratio")
            )

    def _decide(self, entry: Entry, path: str) -> Decision:
        match entry.kind:
            case Kind.FILE:
                self._count(entry, path)
                return Decision(Action.WRITE, path)
            case Kind.FOLDER:
                return Decision(Action.MAKE_FOLDER, path)
            case Kind.HARDLINK:
                source = _parts(entry.target)
                if ".." in source or not source or not self._is_within(source):
                    raise LayerError(f'"{path}" is a hard link out of the unpacked folder')
                return Decision(Action.COPY, path, "/".join(source))
            case Kind.SYMLINK if self._rules.refuse_links:
                raise LayerError(
                    f'"{path}" is a symbolic link',
                    hint="put the file itself in its place",
                )
            case Kind.SPARSE:
                raise LayerError(f'"{path}" is a sparse file')
            case Kind.SPECIAL if self._rules.refuse_links:
                raise LayerError(f'"{path}" is neither a file nor a folder')
            case _:
                return _SKIP

    def count_copy(self, path: str, size: int) -> None:
        """Counts the bytes of a copied hard link. Raises LayerError past a limit."""
        self._count(Entry(path, Kind.FILE, size), path)

    def _count(self, entry: Entry, path: str) -> None:
        limits = self.limits
        if not 0 <= entry.size <= limits.file_bytes:
            raise LayerError(
                f'"{path}" is larger than {limits.file_bytes} bytes', hint=raise_hint("file_bytes")
            )
        self._bytes += entry.size
        if self._bytes > limits.total_bytes:
            raise LayerError(
                f"image unpacks to more than {limits.total_bytes} bytes",
                hint=raise_hint("total_bytes"),
            )

    def _checked(self, entry: Entry) -> tuple[str, ...]:
        limits = self.limits
        shown = entry.name[:100]
        if "\0" in entry.name or not entry.name.isprintable():
            raise LayerError(f"entry {shown!r} has unprintable characters in its name")
        if len(entry.name) > limits.path_length:
            raise LayerError(
                f'path "{shown}…" is longer than {limits.path_length} characters',
                hint=raise_hint("path_length"),
            )
        if entry.name.startswith("/"):
            raise LayerError(f'path "{shown}" is absolute')
        parts = _parts(entry.name)
        if ".." in parts:
            raise LayerError(f'path "{shown}" leads out of the unpacked folder')
        if len(parts) > limits.depth:
            raise LayerError(
                f'path "{shown}" is nested deeper than {limits.depth} folders',
                hint=raise_hint("depth"),
            )
        if any(len(part.encode(errors="replace")) > MAX_NAME_BYTES for part in parts):
            raise LayerError(f'path "{shown}" has a name longer than {MAX_NAME_BYTES} bytes')
        return parts

    def _is_within(self, parts: Sequence[str]) -> bool:
        """At or below a root; a whiteout counts as what it hides, also above a root."""
        last = parts[-1]
        if last.startswith(WHITEOUT):
            hidden = parts[:-1] if last == OPAQUE else (*parts[:-1], last[len(WHITEOUT) :])
            return not self._roots or any(
                _below(hidden, root) or _below(root, hidden) for root in self._roots
            )
        return not self._roots or any(_below(parts, root) for root in self._roots)


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split("/") if part not in ("", "."))


def _without_parents(parts: Sequence[str]) -> tuple[str, ...]:
    """Where a path leads whose `..` are followed; above the root there is nothing."""
    found: list[str] = []
    for part in parts:
        if part != "..":
            found.append(part)
        elif found:
            found.pop()
    return tuple(found)


def _below(parts: Sequence[str], root: Sequence[str]) -> bool:
    return tuple(parts[: len(root)]) == tuple(root)


def _whiteout(entry: Entry, parts: Sequence[str]) -> Decision:
    folder, last = parts[:-1], parts[-1]
    if last == OPAQUE:
        return Decision(Action.EMPTY, "/".join(folder))
    hidden = last[len(WHITEOUT) :]
    if hidden in ("", ".", ".."):
        raise LayerError(f'"{entry.name}" is a whiteout of nothing')
    return Decision(Action.REMOVE, "/".join((*folder, hidden)))
