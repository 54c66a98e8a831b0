"""Where each blob of a catalog lies, found by schema, package and name. Pure.

Columns instead of an object per blob: a catalog of a hundred thousand blobs costs a few megabytes.
Blob numbers count from 0 in file order; lists of them are sorted by being built in that order.

Guarantee: a lookup equals reading the whole file and keeping what matches, in file order.
"""

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import Any, NamedTuple

import msgspec
import orjson

from olm_runtime.errors import TransientError

FORMAT = 2
MAX_WORDS_LENGTH = 32 << 20
"""Characters of all names together: each replica holds them all."""
PIECE_LENGTH = 4096
"""Elements of an index that are written at once."""
NOTHING: Sequence[int] = ()


class Section(NamedTuple):
    """A stretch of bytes in a file; a tuple, as an answer may have thousands."""

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
class Sum:
    """Of the plain bytes of all blobs that a query finds: their CRC-32 and how many they are."""

    crc: int = 0
    size: int = 0


@dataclass(frozen=True, slots=True)
class Extract:
    """What a query finds as the gzip variant holds it.

    Each segment is raw deflate that ends at a byte and refers to nothing before it.
    """

    segments: Sequence[Section]
    sum: Sum


def extracts_with(schema: str, package: str) -> Collection[Query]:
    """The queries without a name that find a blob of this schema and package."""
    found = {Query(schema), Query("", package), Query(schema, package)} if schema else set()
    return found - {Query()}


class BadIndexError(ValueError):
    """A stored index that cannot be read."""


class TooManyObjectsError(TransientError):
    """A catalog of which no index is made: it would take too much memory of what serves it."""


class IndexBuilder:
    """Takes blobs in file order, `most` of them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._room = MAX_WORDS_LENGTH
        self._ends = array("Q")
        self._columns = {field: array("I") for field in ("schema", "package", "name")}
        self._words: dict[str, int] = {}
        self._groups: list[int] = []
        self._segments: list[int] = []
        self._sums: Mapping[Query, Sum] = {}

    def add(self, *, schema: str, package: str, name: str, length: int) -> None:
        """The next blob; `length` in bytes with its line break. Raises TooManyObjectsError."""
        if len(self._ends) == self._most:
            raise TooManyObjectsError(
                f"catalog has more than {self._most} objects",
                hint="if you trust the image, start catalogd with --max-catalog-objects",
            )
        last = self._ends[-1] if self._ends else 0
        self._ends.append(last + length)
        for field, value in (("schema", schema), ("package", package), ("name", name)):
            self._columns[field].append(self._number(value))

    def _number(self, word: str) -> int:
        number = self._words.get(word)
        if number is None:
            self._room -= len(word)
            if self._room < 0:
                raise TooManyObjectsError(
                    f"names of the catalog's objects have more than {MAX_WORDS_LENGTH} characters"
                )
            number = self._words[word] = len(self._words)
        return number

    def __len__(self) -> int:
        """Blobs so far."""
        return len(self._ends)

    def add_groups(
        self, firsts: Iterable[int], segments: Iterable[int], sums: Mapping[Query, Sum]
    ) -> None:
        """How the gzip variant holds them: runs of blobs of one schema and package.

        `firsts` are the first blobs of the runs, which cover all blobs, `segments` where they begin
        in the file, and where the last one ends. `sums` are of all that can be extracted.
        """
        self._groups, self._segments, self._sums = list(firsts), list(segments), sums

    def to_json(self) -> Iterator[bytes]:
        """The index in pieces, which `Index.from_json` reads once they are joined.

        As one document it would take as much memory again as the builder.
        """
        columns: dict[str, Iterable[Any]] = {
            "words": self._words,
            "ends": self._ends,
            **self._columns,
            "groups": self._groups,
            "segments": self._segments,
            "sums": ([q.schema, q.package, s.crc, s.size] for q, s in self._sums.items()),
        }
        yield b'{"format":%d' % FORMAT
        for name, values in columns.items():
            yield b',"%s":[' % name.encode()
            yield from _elements(values)
            yield b"]"
        yield b"}"


def _elements(values: Iterable[Any]) -> Iterator[bytes]:
    """Those of an array of JSON, without its brackets."""
    rest, separator = iter(values), b""
    while piece := list(islice(rest, PIECE_LENGTH)):
        yield separator + orjson.dumps(piece)[1:-1]
        separator = b","


class _Stored(msgspec.Struct):
    """Columns as they were written: read one by one they take a third of the memory."""

    format: int
    words: msgspec.Raw
    ends: msgspec.Raw
    schema: msgspec.Raw
    package: msgspec.Raw
    name: msgspec.Raw
    groups: list[int]
    segments: msgspec.Raw
    sums: list[tuple[str, str, int, int]]


def _column(typecode: str, raw: msgspec.Raw) -> "array[int]":
    return array(typecode, msgspec.json.decode(raw, type=list[int]))


class _Words:
    """Numbers by their words: of each word its text, and sixteen bytes."""

    def __init__(self, words: Sequence[str]) -> None:
        """A word's number is its place."""
        texts = [word.encode() for word in words]
        self._text = b"".join(texts)
        self._ends = array("I", accumulate(map(len, texts)))
        hashes = [hash(word) for word in words]
        self._numbers = array("I", sorted(range(len(words)), key=hashes.__getitem__))
        self._hashes = array("q", map(hashes.__getitem__, self._numbers))

    def number(self, word: str) -> int | None:
        """None of a word that is not among them."""
        wanted, text = hash(word), word.encode(errors="surrogatepass")
        hashes, at = self._hashes, bisect_left(self._hashes, wanted)
        while at < len(hashes) and hashes[at] == wanted:
            number = self._numbers[at]
            if self._word(number) == text:
                return number
            at += 1
        return None

    def _word(self, number: int) -> bytes:
        return self._text[self._ends[number - 1] if number else 0 : self._ends[number]]


class _Lists:
    """Blobs by the number of a word that a column has for them: four bytes for each of both."""

    def __init__(self, column: Sequence[int], words: int) -> None:
        """`words` is how many there are. Raises IndexError for a number beyond them."""
        self._blobs = array("I", sorted(range(len(column)), key=column.__getitem__))
        counts = Counter(column)
        self._begins = array("I", accumulate((counts[n] for n in range(words)), initial=0))
        if self._begins[-1] != len(column):
            raise IndexError("a blob has a word that is not there")

    def of(self, number: int) -> Sequence[int]:
        """Sorted, as what is equal stays in its order where it is sorted by numbers."""
        return memoryview(self._blobs)[self._begins[number] : self._begins[number + 1]]


class Index:
    """Answers lookups."""

    def __init__(
        self, words: Sequence[str], ends: Sequence[int], columns: Mapping[str, Sequence[int]]
    ) -> None:
        self._words = _Words(words)
        self._ends = ends
        self._columns = columns
        self._lists = {field: _Lists(column, len(words)) for field, column in columns.items()}
        self._segments: Sequence[int] = NOTHING
        self._extracts: dict[Query, array[int]] = {}
        self._sums: dict[Query, Sum] = {}

    @classmethod
    def from_json(cls, data: bytes) -> "Index":
        """Reads what `IndexBuilder.to_json` wrote. Raises BadIndexError."""
        try:
            stored = msgspec.json.decode(data, type=_Stored)
            if stored.format != FORMAT:
                raise BadIndexError(f"unknown index format {stored.format}")
            columns = {f: _column("I", getattr(stored, f)) for f in ("schema", "package", "name")}
            words = msgspec.json.decode(stored.words, type=list[str])
            index = cls(words, _column("Q", stored.ends), columns)
            index._segments = _column("Q", stored.segments)
            for number, first in enumerate(stored.groups):
                schema, package = (words[columns[f][first]] for f in ("schema", "package"))
                for query in extracts_with(schema, package):
                    index._extracts.setdefault(query, array("I")).append(number)
            for schema, package, crc, size in stored.sums:
                index._sums[Query(schema, package)] = Sum(crc, size)
        except (ValueError, OverflowError, IndexError, RecursionError) as error:
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
        numbers = {field: self._words.number(value) for field, value in asked.items()}
        lists = {field: self._with(field, number) for field, number in numbers.items()}
        fewest = min(lists, key=lambda field: len(lists[field]))
        found = list(lists[fewest])
        del numbers[fewest]
        for field, number in numbers.items():
            column = self._columns[field]
            found = [blob for blob in found if column[blob] == number]
        if not query.schema:
            schemas, none = self._columns["schema"], self._words.number("")
            found = [blob for blob in found if schemas[blob] != none]
        return found

    def section(self, blob: int) -> Section:
        """The bytes of a blob."""
        begin = self._ends[blob - 1] if blob else 0
        return Section(begin, self._ends[blob] - begin)

    def sections(self, blobs: Iterable[int]) -> Iterator[Section]:
        """The bytes of blobs; neighbours are joined. `blobs` is sorted."""
        ends = self._ends
        return _joined((ends[blob - 1] if blob else 0, ends[blob]) for blob in blobs)

    def extract(self, query: Query) -> Extract | None:
        """What is found by schema, package or both, compressed; None for any other query, and for
        one that finds nothing.
        """
        total, groups = self._sums.get(query), self._extracts.get(query)
        if total is None or groups is None:
            return None
        ends = self._segments
        return Extract(tuple(_joined((ends[g], ends[g + 1]) for g in groups)), total)

    def _with(self, field: str, number: int | None) -> Sequence[int]:
        return NOTHING if number is None else self._lists[field].of(number)


def _joined(stretches: Iterable[tuple[int, int]]) -> Iterator[Section]:
    """Stretches by their beginnings and ends, those that follow each other as one."""
    start = end = -1
    for begins, ends in stretches:
        if begins != end:
            if end > start:
                yield Section(start, end - start)
            start = begins
        end = ends
    if end > start:
        yield Section(start, end - start)
