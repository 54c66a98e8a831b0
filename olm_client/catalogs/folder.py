"""A file-based catalog on disk, read no further than the package that is asked for."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from olm_content.fbc.documents import FbcError, parse
from olm_content.fbc.files import CatalogFormat
from olm_content.fbc.model import Package
from olm_runtime.errors import TerminalError
from olm_runtime.file_trees import tree_files
from operator_controller.catalog import build_package

CACHED_PACKAGES = 1024
CACHED_SPELLINGS = 1 << 16

_PLAIN_NAME = re.compile(r"[a-z0-9.-]+")
_ESCAPED_NAME_CHARACTER = re.compile(
    rb"\\(?:x|u00|U000000)(?:2[dDeE]|3[0-9]|6[1-9a-fA-F]|7[0-9aA])"
)
_ESCAPED_LINE_BREAK = re.compile(rb"\\\r?\n[ \t]*")
_OTHER_ENCODING = re.compile(rb"\xff\xfe|\xfe\xff|.?\x00")
_BASE64_TAGS = (b"!!binary", b":binary")


@lru_cache(maxsize=CACHED_PACKAGES)
def read_package(folder: Path, name: str) -> Package | None:
    """The package in the catalog, None if it is not there.

    Files that cannot contain the name are not parsed, so a fault in them goes unnoticed.
    Raises TerminalError for a folder that cannot be read, FbcError, BrokenPackageError.
    """
    return build_package(name, _objects(folder, name))


def _objects(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    for relative in _files(folder):
        data = _read(folder / relative)
        if not may_contain(data, name, _spelling_of(folder / relative)):
            continue
        for blob in parse(data, path=relative):
            if name in (blob.package, blob.name):
                yield orjson.loads(blob.raw)


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a text may spell a name other than by its characters in a row.

    obscure  by escapes of its characters, or in another encoding
    breaks   with an escaped line break within it
    """

    obscure: bool
    breaks: bool


def spelling(data: bytes) -> Spelling:
    """How a YAML or JSON text is written, as far as names of plain characters go."""
    return Spelling(
        obscure=bool(_OTHER_ENCODING.match(data))
        or any(tag in data for tag in _BASE64_TAGS)
        or bool(_ESCAPED_NAME_CHARACTER.search(data)),
        breaks=bool(_ESCAPED_LINE_BREAK.search(data)),
    )


def may_contain(data: bytes, name: str, how: Spelling) -> bool:
    """Whether the text may hold the name; never False where it does."""
    sought = name.encode()
    if sought in data or how.obscure or not _PLAIN_NAME.fullmatch(name):
        return True
    return how.breaks and sought in _ESCAPED_LINE_BREAK.sub(b"", data)


@lru_cache(maxsize=CACHED_SPELLINGS)
def _spelling_of(file: Path) -> Spelling:
    return spelling(_read(file))


@lru_cache
def _files(folder: Path) -> tuple[str, ...]:
    """The files of the catalog in reading order, relative to it."""
    if not folder.is_dir():
        raise TerminalError(f"{folder}: no such folder", hint="give the root folder of a catalog")
    paths = tree_files(folder, CatalogFormat())
    return tuple(path for path in paths if (folder / path).is_file())


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise FbcError(f"{error.filename}: {error.strerror}") from error
