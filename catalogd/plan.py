"""What a ClusterCatalog needs now, from the object and from what is on disk. Pure."""

from enum import Enum, auto
from typing import Any

from api.olm.v1.clustercatalog import AvailabilityMode, ClusterCatalog
from api.olm.v1.names import FINALIZER_DELETE_SERVER_CACHE, LABEL_METADATA_NAME, label_value
from catalogd.stored import Stored

SECONDS_PER_MINUTE = 60.0
POLL_JITTER = 0.01
"""Polls are late by up to this part of the interval, so that catalogs do not poll in step."""


class Action(Enum):
    """The one thing to do."""

    FORGET = auto()
    """The object is deleted, and its content with it."""
    RELEASE = auto()
    """It is being deleted: remove the content, then our finalizer."""
    IGNORE = auto()
    """It is being deleted and waits for others."""
    DISABLE = auto()
    """Its spec says that it is not to be served."""
    INGEST = auto()
    """Ask the registry, and fetch what is new."""
    KEEP = auto()
    """All is well."""


def decide(catalog: ClusterCatalog | None, stored: Stored | None, now: float) -> Action:
    """The action for a catalog; `now` in seconds since the epoch, by a clock that is not set."""
    if catalog is None:
        return Action.FORGET
    if catalog.spec.availability_mode is AvailabilityMode.UNAVAILABLE:
        return Action.DISABLE
    if catalog.metadata.is_deleted:
        ours = FINALIZER_DELETE_SERVER_CACHE in catalog.metadata.finalizers
        return Action.RELEASE if ours else Action.IGNORE
    if stored is None or not stored.is_of(catalog.metadata):
        return Action.INGEST
    if stored.requested != catalog.spec.source.image.ref:
        return Action.INGEST
    due = next_poll(catalog, stored, now)
    return Action.INGEST if due is not None and due <= now else Action.KEEP


def is_wanted(catalog: ClusterCatalog) -> bool:
    """Whether its content is to be served."""
    available = catalog.spec.availability_mode is AvailabilityMode.AVAILABLE
    return available and not catalog.metadata.is_deleted


def next_poll(catalog: ClusterCatalog, stored: Stored, now: float) -> float | None:
    """When the registry is to be asked again, in seconds since the epoch; None for never.

    At once if the last poll is in the future: the clock was set back meanwhile.
    """
    minutes = catalog.spec.source.image.poll_interval_minutes
    if minutes is None:
        return None
    return stored.polled + minutes * SECONDS_PER_MINUTE if stored.polled <= now else now


def poll_delay(
    catalog: ClusterCatalog, stored: Stored, *, now: float, jitter: float
) -> float | None:
    """Seconds until the next poll, `jitter` in [0, 1); None for no polling."""
    due = next_poll(catalog, stored, now)
    if due is None:
        return None
    late = max(0.0, due - stored.polled) * POLL_JITTER * jitter
    return max(0.0, due + late - now)


def protection(catalog: ClusterCatalog) -> dict[str, Any]:
    """The merge patch of metadata that adds our finalizer and name label; empty if both are there.

    The webhook sets the label at admission; this repairs what was admitted without it.
    """
    metadata = catalog.metadata
    patch: dict[str, Any] = {}
    if FINALIZER_DELETE_SERVER_CACHE not in metadata.finalizers:
        patch["finalizers"] = [*metadata.finalizers, FINALIZER_DELETE_SERVER_CACHE]
    label = label_value(metadata.name)
    if metadata.labels.get(LABEL_METADATA_NAME) != label:
        patch["labels"] = {LABEL_METADATA_NAME: label}
    return patch


def release(catalog: ClusterCatalog) -> dict[str, Any]:
    """The merge patch of metadata that removes our finalizer; empty if it is not there."""
    finalizers = catalog.metadata.finalizers
    if FINALIZER_DELETE_SERVER_CACHE not in finalizers:
        return {}
    return {"finalizers": [f for f in finalizers if f != FINALIZER_DELETE_SERVER_CACHE]}
