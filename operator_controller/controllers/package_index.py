"""An index of the ClusterExtensions: which package each asks for, and from which catalogs."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from api import wire
from api.metadata import LabelSelector
from api.objects import KubeObject, name_of
from api.wire import InvalidObjectError
from olm_content.selectors import selects

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Request:
    """A package, and the catalogs that count."""

    package: str
    selector: LabelSelector


@dataclass(slots=True)
class PackageIndex:
    """What all extensions ask for, as their specs say it."""

    _requests: dict[str, Request] = field(default_factory=dict)
    _by_package: dict[str, dict[str, None]] = field(default_factory=dict)
    """The extensions of each package, in order: with many of both, all are too many to look at."""

    def update(self, extension: KubeObject) -> None:
        """Indexes an extension; one that cannot be read asks for nothing."""
        source = (extension.get("spec") or {}).get("source") or {}
        catalog = source.get("catalog") or {}
        try:
            selector = wire.read(LabelSelector, catalog.get("selector") or {})
        except InvalidObjectError:
            self.remove(name_of(extension))
            return
        package, name = str(catalog.get("packageName") or ""), name_of(extension)
        self.remove(name)
        self._requests[name] = Request(package, selector)
        self._by_package.setdefault(package, {})[name] = None

    def remove(self, extension: str) -> None:
        """Forgets an extension."""
        known = self._requests.pop(extension, None)
        if known is None:
            return
        others = self._by_package[known.package]
        others.pop(extension, None)
        if not others:
            del self._by_package[known.package]

    def packages(self) -> set[str]:
        """The packages that are asked for, from whatever catalog."""
        return set(self._by_package)

    def packages_from(self, labels: Labels) -> set[str]:
        """The packages that are asked for from a catalog with these labels."""
        asked = self._requests.values()
        return {each.package for each in asked if selects(each.selector, labels)}

    def extensions_from(self, *labels: Labels) -> list[str]:
        """The extensions that select a catalog which has, or had, these labels."""
        return [
            name
            for name, request in self._requests.items()
            if any(selects(request.selector, each) for each in labels)
        ]

    def extensions_of(self, package: str, labels: Labels) -> list[str]:
        """The extensions that ask for the package from a catalog with these labels."""
        names = self._by_package.get(package, ())
        return [name for name in names if selects(self._requests[name].selector, labels)]
