"""What a catalog offers, as the registry API asks for it: packages, channels, entries, APIs. Pure.

The answers and the words of refusals are upstream's; where it answers in random order, the order
here is that of names.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from olm_catalogs.registry.bundles import Api
from olm_content.fbc.model import Entry
from olm_content.formats.go_text import quote

T = TypeVar("T")


class NotFoundError(LookupError):
    """Nothing in the catalog fits the question; the text says what was asked for."""


class ServedEntry(Entry, frozen=True):
    """An entry of a channel, and the APIs that its bundle provides.

    `bundle` is the bundle's number: its messages are the same in all channels.
    """

    package: str = ""
    channel: str = ""
    bundle: int = 0
    provides: tuple[Api, ...] = ()


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel: its head's name, its entries by name, its deprecation's message if it has one."""

    name: str
    head: str
    entries: Mapping[str, ServedEntry]
    deprecation: str | None = None


@dataclass(frozen=True, slots=True)
class Package:
    """A package: its channels by name, its deprecation's message if it has one."""

    name: str
    default_channel: str
    channels: Mapping[str, Channel]
    deprecation: str | None = None


@dataclass(frozen=True, slots=True)
class Update:
    """An entry as the API lists it: once for each bundle that it updates."""

    entry: ServedEntry
    replaces: str


@dataclass(frozen=True, slots=True)
class Index:
    """All packages by name. Methods raise NotFoundError."""

    packages: Mapping[str, Package]
    _providers: dict[Api, list[ServedEntry]] = field(
        default_factory=dict, compare=False, repr=False
    )

    def __post_init__(self) -> None:
        for entry in self.entries():
            for api in dict.fromkeys(entry.provides):
                self._providers.setdefault(api, []).append(entry)

    def entries(self) -> Iterator[ServedEntry]:
        """Every entry of every channel, by package, channel and name."""
        for package in self.packages.values():
            for channel in package.channels.values():
                yield from channel.entries.values()

    def package(self, name: str) -> Package:
        """The package of a name."""
        return _found(self.packages, name, lambda: f"package {quote(name)} not found")

    def channel(self, package: str, name: str) -> Channel:
        """A channel of a package."""
        channels = self.package(package).channels
        return _found(
            channels, name, lambda: f"package {quote(package)}, channel {quote(name)} not found"
        )

    def entry(self, package: str, channel: str, name: str) -> ServedEntry:
        """An entry of a channel."""
        place = f"package {quote(package)}, channel {quote(channel)}, bundle {quote(name)}"
        return _found(self.channel(package, channel).entries, name, lambda: f"{place} not found")

    def head(self, package: str, channel: str) -> ServedEntry:
        """The head of a channel."""
        found = self.channel(package, channel)
        return found.entries[found.head]

    def that_replaces(self, name: str, package: str, channel: str) -> ServedEntry:
        """The entry of a channel that replaces the named bundle, else the first that skips it."""
        if package not in self.packages:
            raise NotFoundError(f"package {package} not found")  # upstream's only one unquoted
        found = [e for e in self.channel(package, channel).entries.values() if e.updates(name)]
        if not found:
            place = f"package {quote(package)}, channel {quote(channel)}"
            raise NotFoundError(f"no entry found for {place}")
        return min(found, key=lambda entry: entry.replaces != name)

    def all_that_replace(self, name: str) -> list[Update]:
        """Every entry of any channel that updates the named bundle."""
        found = [Update(entry, entry.replaces) for entry in self.entries() if entry.updates(name)]
        if not found:
            raise NotFoundError(f"no channel entries found that replace {name}")
        return found

    def all_that_provide(self, api: Api) -> list[Update]:
        """Every entry of any channel that provides a kind."""
        found = [update for entry in self._providers.get(api, ()) for update in _updates(entry)]
        return _provided(found, api)

    def heads_that_provide(self, api: Api) -> list[Update]:
        """The heads that provide a kind; of what they skip only what is in their channel."""
        found = []
        for entry in self._providers.get(api, ()):
            channel = self.packages[entry.package].channels[entry.channel]
            if channel.head == entry.name:
                found += [
                    update
                    for update in _updates(entry)
                    if update.replaces == entry.replaces or update.replaces in channel.entries
                ]
        return _provided(found, api)

    def default_that_provides(self, api: Api) -> ServedEntry:
        """The head of the default channel of the first package in which it provides a kind."""
        for update in self.heads_that_provide(api):
            entry = update.entry
            if entry.channel == self.packages[entry.package].default_channel:
                return entry
        raise NotFoundError(f"no entry found that provides {_asked(api)}")


def _updates(entry: ServedEntry) -> Iterator[Update]:
    yield Update(entry, entry.replaces)
    yield from (Update(entry, skip) for skip in entry.skips if skip != entry.replaces)


def _provided(found: list[Update], api: Api) -> list[Update]:
    if not found:
        raise NotFoundError(f"no channel entries found that provide {_asked(api)}")
    return found


def _asked(api: Api) -> str:
    group, version, kind = map(quote, api)
    return f"group:{group} version:{version} kind:{kind}"


def _found(things: Mapping[str, T], name: str, fault: Callable[[], str]) -> T:
    try:
        return things[name]
    except KeyError:
        raise NotFoundError(fault()) from None
