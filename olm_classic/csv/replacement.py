"""Which ClusterServiceVersions of a namespace replace each other."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from api.objects import KubeObject, is_deleting, labels_of, name_of
from olm_classic.csv.phases import Phase, phase_of
from olm_classic.names import LABEL_COPIED_FROM


class Chain:
    """The ClusterServiceVersions of one namespace without copies, by what they replace."""

    def __init__(self, csvs: Iterable[KubeObject]) -> None:
        """`csvs` are all of the namespace."""
        own = [csv for csv in csvs if LABEL_COPIED_FROM not in labels_of(csv)]
        self._by_name: Mapping[str, KubeObject] = {name_of(csv): csv for csv in own}

    def __iter__(self) -> Iterator[KubeObject]:
        """All of them, by name."""
        return (csv for _, csv in sorted(self._by_name.items()))

    def replaced(self, csv: KubeObject) -> KubeObject | None:
        """The one that it replaces, if that is there; none replaces itself."""
        name = replaces(csv)
        return None if name == name_of(csv) else self._by_name.get(name)

    def replacement(self, csv: KubeObject) -> KubeObject | None:
        """The one that replaces it: by name the first that is not being deleted."""
        name = name_of(csv)
        found = (each for each in self if replaces(each) == name and not is_deleting(each))
        return next((each for each in found if name_of(each) != name), None)

    def ancestors(self, csv: KubeObject) -> list[str]:
        """The names of those that it replaces, one after another."""
        return [name_of(each) for each in self._walk(csv, self.replaced)]

    def replacements(self, csv: KubeObject) -> list[KubeObject]:
        """Those that replace it, one after another."""
        return [*self._walk(csv, self.replacement)]

    def related(self, csv: KubeObject) -> set[str]:
        """The names of it, of those that it replaces, and of those that replace it."""
        return {name_of(csv), *self.ancestors(csv), *map(name_of, self.replacements(csv))}

    def owners(self, definition: str, csv: KubeObject) -> list[str]:
        """The names of those outside its chain that own a definition."""
        related = self.related(csv)
        return [
            name_of(each)
            for each in self
            if name_of(each) not in related and definition in owned_definitions(each)
        ]

    def _walk(
        self, csv: KubeObject, step: Callable[[KubeObject], KubeObject | None]
    ) -> Iterator[KubeObject]:
        """What a step leads to, again and again, each once."""
        seen = {name_of(csv)}
        while (found := step(csv)) is not None and name_of(found) not in seen:
            seen.add(name_of(found))
            yield (csv := found)


def replaces(csv: KubeObject) -> str:
    """The name of the one that it is to replace."""
    return str((csv.get("spec") or {}).get("replaces") or "")


def owned_definitions(csv: KubeObject) -> set[str]:
    """The names of the definitions that it owns."""
    described = csv["spec"].get("customresourcedefinitions") or {}
    return {each["name"] for each in described.get("owned") or ()}


def is_in(csv: KubeObject | None, *phases: Phase) -> bool:
    """Whether it is there, in one of the phases."""
    return csv is not None and phase_of(csv.get("status") or {}) in phases
