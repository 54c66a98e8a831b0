"""Where each blob of a catalog lies, found by schema, package and name. Pure.

Columns instead of an object per blob: a catalog of a hundred thousand blobs costs a few megabytes.
Blob numbers count from 0 in file order; lists of them are sorted by being built in that order.

Guarantee: a lookup equals reading the whole file and keeping what matches, in file order.
"""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

FORMAT = 1
NOTHING: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of bytes in a file."""

    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked for; an empty field is not asked for. All given ones must match."""

    schema: str = ""
    package: str = ""
    name: str = ""

    @property
    def is_everything(self) -> bool:
        """Whether nothing was given: then the whole file is the answer."""
        return not (self.schema or self.package or self.name)


@dataclass(frozen=True, slots=True)
class Group:
    """A run of blobs of one package, which the gzip variant holds as a segment of its own.

    `segment` lies in the gzip file: raw deflate that ends at a byte and refers to nothing before
    it. `crc` is the CRC-32 of the plain bytes.
    """

    first: int
    end: int
    segment: Section
    crc: int


class BadIndexError(ValueError):
    """A stored index that cannot be read."""


class IndexBuilder:
    """Takes blobs in file order."""

    def __init__(self) -> None:
        self._ends = array("Q")
        self._columns = {field: array("I") for field in ("schema", "package", "name")}
        self._words: dict[str, int] = {}
        self._groups: list[Group] = []

    def add(self, *, schema: str, package: str, name: str, length: int) -> None:
        """The next blob; `length` in bytes with its line break."""
        last = self._ends[-1] if self._ends else 0
        self._ends.append(last + length)
        for field, value in (("schema", schema), ("package", package), ("name", name)):
            self._columns[field].append(self._words.setdefault(value, len(self._words)))

    def __len__(self) -> int:
        """Blobs so far."""
        return len(self._ends)

    def add_group(self, group: Group) -> None:
        """The next group; groups are in order and cover all blobs."""
        self._groups.append(group)

    def document(self) -> dict[str, Any]:
        """The index as plain JSON, to be read by `Index.from_document`."""
        return {
            "format": FORMAT,
            "words": list(self._words),
            "ends": self._ends.tolist(),
            **{field: column.tolist() for field, column in self._columns.items()},
            "groups": [
                [g.first, g.end, g.segment.offset, g.segment.length, g.crc] for g in self._groups
            ],
        }


class Index:
    """Answers lookups."""

    def __init__(
        self, words: Sequence[str], ends: Sequence[int], columns: Mapping[str, Sequence[int]]
    ) -> None:
        self._words = {word: number for number, word in enumerate(words)}
        self._ends = ends
        self._columns = columns
        self._lists = {field: _invert(column) for field, column in columns.items()}
        self._groups: dict[int, Group] = {}

    @classmethod
    def from_document(cls, document: Any) -> "Index":
        """Reads what `IndexBuilder.document` wrote. Raises BadIndexError."""
        try:
            if document["format"] != FORMAT:
                raise BadIndexError(f"unknown index format {document['format']}")
            columns = {f: array("I", document[f]) for f in ("schema", "package", "name")}
            index = cls(document["words"], array("Q", document["ends"]), columns)
            index._groups = {
                first: Group(first, end, Section(offset, length), crc)
                for first, end, offset, length, crc in document["groups"]
            }
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise BadIndexError(f"index cannot be read: {error!r}") from error
        return index

    def __len__(self) -> int:
        """Blobs in the catalog."""
        return len(self._ends)

    def find(self, query: Query) -> list[int]:
        """Numbers of the matching blobs, in file order.

        A blob without a schema is never found, unless everything is asked for.
        """
        if query.is_everything:
            return list(range(len(self)))
        asked = {f: getattr(query, f) for f in ("schema", "package", "name") if getattr(query, f)}
        numbers = {field: self._words.get(value) for field, value in asked.items()}
        candidates = min((self._with(f, n) for f, n in numbers.items()), key=len)
        schemas, none = self._columns["schema"], self._words.get("")
        return [
            blob
            for blob in candidates
            if schemas[blob] != none
            and all(self._columns[field][blob] == number for field, number in numbers.items())
        ]

    def sections(self, blobs: Iterable[int]) -> Iterator[Section]:
        """The bytes of blobs; neighbours are joined. `blobs` is sorted."""
        start = end = -1
        for blob in blobs:
            begins = self._ends[blob - 1] if blob else 0
            if begins != end:
                if end > start:
                    yield Section(start, end - start)
                start = begins
            end = self._ends[blob]
        if end > start:
            yield Section(start, end - start)

    def group(self, blobs: Sequence[int]) -> Group | None:
        """The group that consists of exactly these blobs, if there is one. `blobs` is sorted."""
        if not blobs:
            return None
        group = self._groups.get(blobs[0])
        exact = group is not None and blobs[-1] == group.end - 1
        return group if group and exact and len(blobs) == group.end - group.first else None

    def _with(self, field: str, number: int | None) -> Sequence[int]:
        return NOTHING if number is None else self._lists[field].get(number, NOTHING)


def _invert(column: Sequence[int]) -> dict[int, "array[int]"]:
    lists: dict[int, array[int]] = {}
    for blob, number in enumerate(column):
        found = lists.get(number)
        if found is None:
            found = lists[number] = array("I")
        found.append(blob)
    return lists
