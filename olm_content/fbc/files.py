"""The files of a file-based catalog: which of a folder, in which order, and what they hold."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from olm_content.fbc.documents import Blob, FbcError, parse_pieces
from olm_content.fbc.limits import MAX_DOCUMENT_BYTES

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

INDEX_IGNORE = ".indexignore"


@dataclass(frozen=True, slots=True)
class CatalogFormat:
    """How a catalog folder is read: what `olm_runtime.file_trees` asks of a format.

    `document_bytes` and `empty_too` are those of `parse_pieces`.
    """

    document_bytes: int = MAX_DOCUMENT_BYTES
    empty_too: bool = False

    @property
    def ignore_file(self) -> str:
        """The name of ignore files."""
        return INDEX_IGNORE

    def select(self, paths: Iterable[str], ignores: Mapping[str, str]) -> list[str]:
        """As `files_to_read`."""
        return files_to_read(paths, ignores)

    def parse(
        self, pieces: Iterable[bytes], *, path: str, part: tuple[int, int] = (0, 1)
    ) -> Iterator[Blob]:
        """The blobs of a file. Raises FbcError naming file, document and line."""
        return parse_pieces(
            pieces,
            path=path,
            document_bytes=self.document_bytes,
            part=part,
            empty_too=self.empty_too,
        )

    def position(self, item: Blob) -> int:
        """The line of a blob."""
        return item.line

    def unreadable(self, path: str, reason: str) -> FbcError:
        """The error for a file that cannot be read."""
        return FbcError(f"{path}: cannot be read: {reason}")


def files_to_read(paths: Iterable[str], ignores: Mapping[str, str]) -> list[str]:
    """The files of a catalog folder in reading order, without the ignored ones.

    `paths` are relative with forward slashes; `ignores` maps a folder ("" is the root) to the
    text of its `.indexignore`. The order is that of a walk which sorts each folder by name; a
    deeper ignore file overrules a higher one, as in git.
    """
    if ignores:  # most catalogs have none, and commands are to start fast
        import pathspec

    specs = {
        folder: pathspec.GitIgnoreSpec.from_lines(text.splitlines())
        for folder, text in ignores.items()
    }
    read = (p for p in paths if p.rpartition("/")[2] != INDEX_IGNORE and not _ignored(p, specs))
    return sorted(read, key=lambda path: path.split("/"))


def _ignored(path: str, specs: Mapping[str, "GitIgnoreSpec"]) -> bool:
    folder = path.rpartition("/")[0]
    while True:
        spec = specs.get(folder)
        if spec is not None:
            verdict = spec.check_file(path[len(folder) :].lstrip("/")).include
            if verdict is not None:
                return verdict
        if not folder:
            return False
        folder = folder.rpartition("/")[0]
