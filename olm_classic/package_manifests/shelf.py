"""The packages of all catalogs, and which of them are seen where."""

from collections.abc import Iterable, Sequence

from olm_classic.package_manifests.packed import Packed

Key = tuple[str, str]
"""Namespace and name of a catalog."""


class Shelf:
    """Packages by catalog. A namespace sees those of its own catalogs and of the global ones."""

    def __init__(self, global_namespace: str) -> None:
        self.generation = 0
        """Grows with each change."""
        self._global = global_namespace
        self._catalogs: dict[Key, tuple[Packed, ...]] = {}
        self._seen: dict[str, Sequence[Packed]] = {}

    def put(self, key: Key, packages: Iterable[Packed]) -> None:
        """All packages of a catalog, in place of those before."""
        self._catalogs[key] = tuple(packages)
        self._changed()

    def drop(self, key: Key) -> None:
        """The catalog is gone, or not reached."""
        if self._catalogs.pop(key, None) is not None:
            self._changed()

    def counts(self) -> dict[Key, int]:
        """How many packages there are of each catalog."""
        return {key: len(packages) for key, packages in self._catalogs.items()}

    def seen(self, namespace: str) -> Sequence[Packed]:
        """What is seen in a namespace, by name; of one name what is nearest comes first.

        Nearest are the namespace's own catalogs, then those of higher priority. In all
        namespaces (the empty text) each package is seen where it is.
        """
        found = self._seen.get(namespace)
        if found is None:
            if len(self._seen) >= _MOST_NAMESPACES:
                self._seen.clear()
            found = self._seen[namespace] = self._sorted(namespace)
        return found

    def find(self, namespace: str, name: str) -> Packed | None:
        """The package of a name that is nearest."""
        return next((each for each in self.seen(namespace) if each.name == name), None)

    def _sorted(self, namespace: str) -> Sequence[Packed]:
        wanted = {namespace, self._global}
        found = [
            each
            for (where, _), packages in self._catalogs.items()
            if not namespace or where in wanted
            for each in packages
        ]
        return sorted(found, key=lambda each: _place(each, namespace))

    def _changed(self) -> None:
        self.generation += 1
        self._seen.clear()


def _place(package: Packed, namespace: str) -> tuple[str, str, bool, int, str, str]:
    catalog = package.catalog
    own = catalog.namespace == namespace
    where = "" if namespace else catalog.namespace
    return where, package.name, not own, -catalog.priority, catalog.namespace, catalog.name


_MOST_NAMESPACES = 64
