"""The records of a catalog on disk by package, so that one package is in memory at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

import orjson

from olm_catalogs.validate.faults import Group
from olm_content.fbc.records import Place, Record
from olm_content.names import SCHEMAS


@dataclass(frozen=True, slots=True)
class _Spooled:
    """Where the value of a record lies in the file, and the rest of it."""

    schema: str
    package: str
    name: str
    place: Place
    offset: int
    length: int


class Spool:
    """Takes the records of a catalog, once; gives them back as often as wanted."""

    def __init__(self, file: IO[bytes]) -> None:
        """`file` is empty, and is read and written by this alone."""
        self._file = file
        self._size = 0
        self._packaged: dict[str, list[_Spooled]] = {}
        self._others: list[_Spooled] = []

    def add(self, each: Record) -> None:
        """The next record. Raises OSError."""
        data = orjson.dumps(each.value)
        self._file.write(data)
        spooled = _Spooled(each.schema, each.package, each.name, each.place, self._size, len(data))
        self._size += len(data)
        if each.schema in SCHEMAS:
            self._packaged.setdefault(each.package, []).append(spooled)
        else:
            self._others.append(spooled)

    def groups(self) -> Iterator[Group]:
        """The packages by name. Raises OSError."""
        for name in sorted(self._packaged):
            group = Group(name)
            for spooled in self._packaged[name]:
                group.add(self._read(spooled))
            yield group

    def others(self) -> Iterator[Record]:
        """The records of schemas that are not OLM's, as they came. Raises OSError."""
        return map(self._read, self._others)

    def _read(self, spooled: _Spooled) -> Record:
        self._file.seek(spooled.offset)
        value = orjson.loads(self._file.read(spooled.length))
        return Record(spooled.schema, spooled.package, spooled.name, value, spooled.place)
