"""The findings of a resolution: one reason for every bundle considered, and notes.

`explain` makes text of them.
"""

from collections import Counter
from enum import StrEnum
from typing import NamedTuple

from olm_content.fbc.model import Edge


class Reason(StrEnum):
    """Why a bundle was, or was not, chosen; and why a catalog had none to consider."""

    CHOSEN = "Chosen"
    NOT_IN_CHANNEL = "NotInChannel"
    VERSION_UNREADABLE = "VersionUnreadable"
    OUT_OF_RANGE = "OutOfRange"
    PRERELEASE_EXCLUDED = "PrereleaseExcluded"
    NOT_A_SUCCESSOR = "NotASuccessor"
    LOWER_VERSION = "LowerVersion"
    DEPRECATED_BEHIND = "DeprecatedBehind"
    LOWER_PRIORITY = "LowerPriority"
    AMBIGUOUS = "Ambiguous"
    UNSUPPORTED_DEPENDENCY = "UnsupportedDependency"

    CATALOG_NOT_SELECTED = "CatalogNotSelected"
    CATALOG_UNAVAILABLE = "CatalogUnavailable"
    PACKAGE_ABSENT = "PackageAbsent"


class Rival(NamedTuple):
    """The bundle that was preferred."""

    catalog: str
    bundle: str
    version: str


class Cause(NamedTuple):
    """The one reason for a bundle, or for a whole catalog when `bundle` is empty.

    channels  where the bundle is (NOT_IN_CHANNEL)
    edges     what it may follow in the channels that count (NOT_A_SUCCESSOR)
    rival     what was preferred (LOWER_VERSION, DEPRECATED_BEHIND, LOWER_PRIORITY)
    detail    the fact behind any other reason: a property type, a fault, an error
    """

    catalog: str
    reason: Reason
    bundle: str = ""
    version: str = ""
    channels: tuple[str, ...] = ()
    edges: tuple[Edge, ...] = ()
    rival: Rival | None = None
    detail: str = ""


class NoteKind(StrEnum):
    """Kinds of notes; notes decide nothing."""

    UNREADABLE_SKIP_RANGE = "UnreadableSkipRange"
    PRERELEASE_WITHOUT_RANGE = "PrereleaseWithoutRange"
    INCOMPLETE_VIEW = "IncompleteView"


class Note(NamedTuple):
    """A note on a bundle of a catalog, or on the catalog."""

    kind: NoteKind
    catalog: str
    bundle: str = ""
    channel: str = ""
    detail: str = ""


class Findings(NamedTuple):
    """All findings, in the order of catalogs and of the bundles in them."""

    causes: tuple[Cause, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def considered(self) -> int:
        """The number of bundles considered."""
        return sum(1 for cause in self.causes if cause.bundle)

    def tally(self) -> dict[Reason, int]:
        """How many bundles there are of each reason, the most frequent first."""
        return dict(Counter(cause.reason for cause in self.causes if cause.bundle).most_common())
