"""What pages say of objects, found out anew only for those that have changed.

A list of a thousand extensions is made anew each second where one of them changes each second.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from api.objects import KubeObject

Facts = Mapping[str, Any]


class FactsCache:
    """The facts of the objects that were listed last; an object that has changed is another."""

    def __init__(
        self,
        facts_of: Callable[[KubeObject], Facts],
        ordered: Callable[[Iterable[Facts]], Sequence[Facts]],
    ) -> None:
        self._facts_of = facts_of
        self._ordered = ordered
        self._listed: Sequence[KubeObject] = ()
        self._cached: dict[int, tuple[KubeObject, Facts]] = {}
        self._facts: Sequence[Facts] = ()

    def of(self, objects: Sequence[KubeObject]) -> Sequence[Facts]:
        """As `ordered` has them. Nobody may change them."""
        if objects is not self._listed:
            self._cached = {id(each): self._entry_of(each) for each in objects}
            self._listed = objects
            self._facts = self._ordered(facts for _, facts in self._cached.values())
        return self._facts

    def _entry_of(self, obj: KubeObject) -> tuple[KubeObject, Facts]:
        entry = self._cached.get(id(obj))  # it is the same one, as what is cached lives
        return entry if entry is not None else (obj, self._facts_of(obj))
