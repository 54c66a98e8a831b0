"""What is remembered of each revision between reconciles; all of it may be lost at any time."""

from collections.abc import Callable
from typing import Generic, TypeVar

from operator_controller.apply.revisions import Revision

Record = TypeVar("Record")


class PerRevision(Generic[Record]):
    """A record for each revision, by its name; one that was made anew gets a new record."""

    def __init__(self, make: Callable[[], Record]) -> None:
        self._make = make
        self._records: dict[str, tuple[str, Record]] = {}

    def of(self, revision: Revision) -> Record:
        """That of a revision, which is made where there is none."""
        uid, record = self._records.get(revision.name, (None, None))
        if record is None or uid != revision.uid:
            record = self._make()
            self._records[revision.name] = (revision.uid, record)
        return record

    def get(self, name: str) -> Record | None:
        """That of the revision of a name, if there is one."""
        return self._records.get(name, (None, None))[1]

    def forget(self, name: str) -> None:
        """Drops that of the revision of a name."""
        self._records.pop(name, None)
