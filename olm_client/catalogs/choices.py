"""What there is to choose of a package, for the shell's completion. Pure.

Made once for each content of a catalog, as summaries are: a shell does not wait for more.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from olm_client.catalogs.summary import csv_metadata, precedence
from olm_content.fbc.packages import read_channel, version_text
from olm_content.fbc.reading import Reader
from olm_content.names import ANNOTATION_SUGGESTED_NAMESPACE, BUNDLE, CHANNEL

Value = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Choices:
    """Versions by channel, newest first; all versions; the namespace that bundles suggest."""

    channels: Mapping[str, Sequence[str]]
    versions: Sequence[str]
    namespace: str = ""

    def to_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return asdict(self)

    def of_channels(self, names: Sequence[str]) -> list[str]:
        """The versions in these channels; without any, all."""
        chosen = {version for name in names for version in self.channels.get(name, ())}
        return [version for version in self.versions if not names or version in chosen]


def choices_of(blobs: Iterable[Value]) -> Choices:
    """The choices of a package from the objects of it; what has the wrong type counts as absent."""
    own = list(blobs)
    bundles = {str(each.get("name")): each for each in own if each.get("schema") == BUNDLE}
    versions = {name: text for name, each in bundles.items() if (text := version_text(each))}
    channels = {
        channel.name: _newest_first(versions.get(entry.name, "") for entry in channel.entries)
        for each in own
        if each.get("schema") == CHANNEL
        for channel in [read_channel(Reader(each))]
    }
    newest = max(versions, key=lambda name: precedence(versions[name]), default="")
    annotations = Reader(csv_metadata(bundles.get(newest, {}))).inner("annotations")
    return Choices(
        channels=channels,
        versions=_newest_first(versions.values()),
        namespace=annotations.text(ANNOTATION_SUGGESTED_NAMESPACE),
    )


def _newest_first(versions: Iterable[str]) -> list[str]:
    return sorted(filter(None, set(versions)), key=precedence, reverse=True)
