"""What there is to choose of a package, for the shell's completion. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Choices(NamedTuple):
    """Versions by channel, newest first; all versions; the namespace that bundles suggest."""

    channels: Mapping[str, Sequence[str]]
    versions: Sequence[str]
    namespace: str = ""

    def to_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return self._asdict()

    def of_channels(self, names: Sequence[str]) -> list[str]:
        """The versions in these channels; without any, all."""
        chosen = {version for name in names for version in self.channels.get(name, ())}
        return [version for version in self.versions if not names or version in chosen]
