"""What a ClusterCatalog needs now, from the object and from what is on disk. Pure."""

from typing import Any

from api.olm.v1.clustercatalog import AvailabilityMode, ClusterCatalog
from api.olm.v1.names import FINALIZER_DELETE_SERVER_CACHE, LABEL_METADATA_NAME, label_value
from olm_catalogs.stored import Stored

SECONDS_PER_MINUTE = 60.0
POLL_JITTER = 0.01
"""Polls are late by up to this part of the interval, so that catalogs do not poll in step."""


def needs_ingest(catalog: ClusterCatalog, stored: Stored | None, now: float) -> bool:
    """Whether its registry is to be asked; `now` in seconds since the epoch, by a steady clock."""
    if stored is None or not stored.is_of(catalog.metadata):
        return True
    if stored.requested != catalog.spec.source.image.ref:
        return True
    due = next_poll(catalog, stored, now)
    return due is not None and due <= now


def is_available(catalog: ClusterCatalog) -> bool:
    """Whether its user wants it served."""
    return catalog.spec.availability_mode is AvailabilityMode.AVAILABLE


def is_wanted(catalog: ClusterCatalog) -> bool:
    """Whether its content is to be served."""
    return is_available(catalog) and not catalog.metadata.is_deleted


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
    """The merge patch of metadata that adds our finalizer and name label, where either is missing.

    Empty for a catalog that is not to be served: there is no content to protect.
    The webhook sets the label at admission; this repairs what was admitted without it.
    """
    metadata = catalog.metadata
    patch: dict[str, Any] = {}
    if not is_wanted(catalog):
        return patch
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
