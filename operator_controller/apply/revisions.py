"""Revisions of an extension, read from its ClusterObjectSets: the record of what is installed."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from api.objects import KubeObject, annotations_of, condition, is_true, labels_of, metadata, name_of
from api.olm.v1 import names
from olm_rollout.ownership import controller_of

ARCHIVED_LIMIT = 5
"""Archived revisions in the history, and as many that can be rolled back to; upstream's number."""


class BundleIdentity(NamedTuple):
    """Which bundle a revision holds.

    `release` is None where it is no part of the bundle's identity (gate BundleReleaseSupport).
    """

    name: str
    version: str
    package: str
    image: str
    release: str | None = None

    def is_version_of(self, other: "BundleIdentity") -> bool:
        """Whether both are the same version, perhaps from other images."""
        return (self.package, self.name, self.full_version) == (
            other.package,
            other.name,
            other.full_version,
        )

    @property
    def full_version(self) -> str:
        """Version and release in one text, as registry+v1 bundles spell them."""
        return f"{self.version}+{self.release}" if self.release else self.version


class Revision(NamedTuple):
    """One ClusterObjectSet of an extension, as the controllers need it.

    `generation` is the newest of the extension that came to it, `cause` what made it; 0 and empty
    where that was not noted. `finished`: it is archived, and what only it had is gone.
    """

    name: str
    uid: str
    number: int
    bundle: BundleIdentity
    inputs: str
    content: str
    generation: int
    cause: str
    archived: bool
    finished: bool
    deleting: bool
    succeeded: bool
    raw: KubeObject

    @property
    def properties(self) -> str:
        """The properties of the bundle as JSON text; empty if it has none."""
        return annotations_of(self.raw).get(names.ANNOTATION_BUNDLE_PROPERTIES, "")

    @property
    def is_upstreams(self) -> bool:
        """Whether upstream's controller made it, or it was made of what that installed by Helm."""
        return not self.inputs

    @property
    def names_account(self) -> bool:
        """Whether it says as which service account it is to be applied."""
        return names.ANNOTATION_SERVICE_ACCOUNT_NAME in annotations_of(self.raw)

    @property
    def retrying(self) -> bool:
        """Whether its last reconcile failed."""
        return (condition(self.raw, "Progressing") or {}).get("reason") == "Retrying"

    @property
    def suspended(self) -> bool:
        """Whether its last reconcile found it suspended: since then nothing of it is written."""
        return (condition(self.raw, "Progressing") or {}).get("reason") == "Suspended"

    @property
    def is_set_free(self) -> bool:
        """Whether it lost its extension, which is deleted while its dependents stay.

        It has no objects any more, and goes with the extension's last finalizer.
        """
        made_for = labels_of(self.raw).get(names.LABEL_OWNER_KIND)
        return made_for == names.CLUSTER_EXTENSION and controller_of(self.raw) is None

    @property
    def obstacle(self) -> str:
        """What holds the objects of an archived revision; empty while nothing is known to."""
        found = condition(self.raw, "Progressing") or {}
        seen = found.get("observedGeneration") == metadata(self.raw).get("generation")
        stuck = self.archived and not self.finished and not self.deleting and seen
        stuck = stuck and not self.suspended
        return str(found.get("message") or "") if stuck else ""


def parse_revision(raw: KubeObject) -> Revision:
    """Reads a ClusterObjectSet; annotations that are missing read as empty."""
    spec = raw.get("spec") or {}
    notes = annotations_of(raw)
    return Revision(
        name=name_of(raw),
        uid=str(metadata(raw).get("uid") or ""),
        number=int(spec.get("revision") or 0),
        bundle=BundleIdentity(
            name=notes.get(names.ANNOTATION_BUNDLE_NAME, ""),
            version=notes.get(names.ANNOTATION_BUNDLE_VERSION, ""),
            package=notes.get(names.ANNOTATION_PACKAGE_NAME, ""),
            image=notes.get(names.ANNOTATION_BUNDLE_REFERENCE, ""),
            release=notes.get(names.ANNOTATION_BUNDLE_RELEASE),
        ),
        inputs=notes.get(names.ANNOTATION_RENDER_INPUTS, ""),
        content=notes.get(names.ANNOTATION_CONTENT_DIGEST, ""),
        generation=_number(notes.get(names.ANNOTATION_EXTENSION_GENERATION, "")),
        cause=notes.get(names.ANNOTATION_CAUSE, ""),
        archived=spec.get("lifecycleState") == "Archived",
        finished=(condition(raw, "Progressing") or {}).get("reason") == "Archived",
        deleting=bool(metadata(raw).get("deletionTimestamp")),
        succeeded=is_true(raw, "Succeeded") or names.LABEL_MIGRATED_FROM_HELM in labels_of(raw),
        raw=raw,
    )


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 0


class Age(NamedTuple):
    """How old a revision was by the wall clock when it was first seen, and when that was.

    From then on the monotonic clock counts: the wall clock may go back, and forth.
    """

    at_first: float
    first_seen: float

    def at(self, monotonic: float) -> float:
        """In seconds."""
        return self.at_first + monotonic - self.first_seen


def age_of(revision: Revision, now: datetime, monotonic: float) -> Age:
    """The age of a revision that is seen for the first time; what is yet to be made is new."""
    created = metadata(revision.raw).get("creationTimestamp")
    since = now - datetime.fromisoformat(created) if created else timedelta()
    return Age(max(0.0, since.total_seconds()), monotonic)


def seconds_left(revision: Revision, age: float) -> float | None:
    """Until the revision must have rolled out; None where no deadline counts (any more)."""
    minutes = deadline_minutes(revision)
    if not minutes or revision.succeeded or revision.archived:
        return None
    return minutes * 60 - age


def deadline_minutes(revision: Revision) -> int:
    """`spec.progressDeadlineMinutes`, 0 for none."""
    return int((revision.raw.get("spec") or {}).get("progressDeadlineMinutes") or 0)


class Revisions(NamedTuple):
    """All revisions of one extension, oldest first."""

    every: tuple[Revision, ...] = ()

    @classmethod
    def of(cls, objects: Iterable[KubeObject]) -> "Revisions":
        """From ClusterObjectSets in any order."""
        parsed = (parse_revision(raw) for raw in objects)
        return cls(tuple(sorted(parsed, key=lambda r: r.number)))

    def followed_by(self, revision: Revision) -> "Revisions":
        """These and one that was made just now."""
        return Revisions((*self.every, revision))

    @property
    def active(self) -> tuple[Revision, ...]:
        """Those that are neither archived nor being deleted."""
        return tuple(r for r in self.every if not r.archived and not r.deleting)

    def newer_than(self, number: int) -> tuple[Revision, ...]:
        """Active revisions that replace the one of this number, or have."""
        return tuple(r for r in self.active if r.number > number)

    def older_than(self, number: int) -> tuple[Revision, ...]:
        """Active revisions that the one of this number replaces."""
        return tuple(r for r in self.active if r.number < number)

    @property
    def unfinished(self) -> tuple[Revision, ...]:
        """Those of which something may still be in the cluster."""
        return tuple(r for r in self.every if not r.finished and not r.deleting)

    @property
    def installed(self) -> Revision | None:
        """The newest active revision that rolled out once."""
        return next((r for r in reversed(self.active) if r.succeeded), None)

    @property
    def latest(self) -> Revision | None:
        """The newest active revision, rolled out or not."""
        return self.active[-1] if self.active else None

    @property
    def superseded(self) -> tuple[Revision, ...]:
        """Active revisions that never rolled out, and will not: a newer one is to be there."""
        return tuple(r for r in self.active[:-1] if not r.succeeded)

    @property
    def ended(self) -> frozenset[int]:
        """Numbers up to the newest that are not in service any more, or never were."""
        return frozenset(range(1, self.next_number)) - {r.number for r in self.active}

    @property
    def next_number(self) -> int:
        """The number of the next revision; numbers are never used twice."""
        return self.every[-1].number + 1 if self.every else 1

    @property
    def obsolete(self) -> tuple[Revision, ...]:
        """Archived revisions of which nothing is left, beyond the limit.

        Those that never rolled out count by themselves, so that repeated failures do not displace
        revisions that can be rolled back to.
        """
        over = [r for r in self.every if r.finished and not r.deleting]
        return tuple(
            each
            for succeeded in (True, False)
            for each in [r for r in over if r.succeeded is succeeded][:-ARCHIVED_LIMIT]
        )
