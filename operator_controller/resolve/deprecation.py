"""Which deprecations of a catalog concern an extension."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from olm_content.fbc.model import Deprecation
from olm_content.names import BUNDLE, CHANNEL, PACKAGE


class DeprecationMessages(NamedTuple):
    """The messages of the catalog, by what they are about; without empty ones."""

    package: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    bundle: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """All of them, from the whole to the part."""
        return self.package + self.channels + self.bundle


def concerning(
    deprecations: Iterable[Deprecation], *, channels: Collection[str], bundle: str
) -> DeprecationMessages:
    """What concerns an extension with these channels in its spec (none: all) and this bundle.

    Deprecations of the package always do. `bundle` is the installed one, empty if there is none.
    """
    worded = [d for d in deprecations if d.message]
    return DeprecationMessages(
        package=tuple(d.message for d in worded if d.schema == PACKAGE),
        channels=tuple(
            d.message
            for d in worded
            if d.schema == CHANNEL and (not channels or d.name in channels)
        ),
        bundle=tuple(
            d.message for d in worded if d.schema == BUNDLE and bundle and d.name == bundle
        ),
    )
