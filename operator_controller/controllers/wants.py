"""Which package each extension wants, and from which catalogs."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from api import wire
from api.objects import KubeObject, name_of
from api.olm.v1.common import LabelSelector
from api.wire import InvalidObjectError
from olm_content.selectors import selects

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Want:
    """A package, and the catalogs that count."""

    package: str
    selector: LabelSelector


@dataclass(slots=True)
class Wants:
    """The wants of all extensions, as their specs say them."""

    _wants: dict[str, Want] = field(default_factory=dict)

    def note(self, extension: KubeObject) -> None:
        """Remembers the want of an extension; one that cannot be read wants nothing."""
        source = (extension.get("spec") or {}).get("source") or {}
        catalog = source.get("catalog") or {}
        try:
            selector = wire.read(LabelSelector, catalog.get("selector") or {})
        except InvalidObjectError:
            self.drop(name_of(extension))
            return
        package = str(catalog.get("packageName") or "")
        self._wants[name_of(extension)] = Want(package, selector)

    def drop(self, extension: str) -> None:
        """Forgets an extension."""
        self._wants.pop(extension, None)

    def packages_from(self, labels: Labels) -> set[str]:
        """The packages that are wanted from a catalog with these labels."""
        return {want.package for want in self._wants.values() if selects(want.selector, labels)}

    def extensions_from(self, *labels: Labels) -> list[str]:
        """The extensions that select a catalog which has, or had, these labels."""
        return [
            name
            for name, want in self._wants.items()
            if any(selects(want.selector, each) for each in labels)
        ]

    def extensions_of(self, package: str, labels: Labels) -> list[str]:
        """The extensions that want the package from a catalog with these labels."""
        return [
            name for name in self.extensions_from(labels) if self._wants[name].package == package
        ]
