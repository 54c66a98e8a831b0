"""Everything known about a catalog to its status: the only place that knows conditions. Pure.

Types, reasons and messages are upstream's, because scripts and tests compare them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from api.conditions import Condition, ConditionStatus, merge_conditions
from api.olm.v1.clustercatalog import (
    CatalogURLs,
    ClusterCatalog,
    ClusterCatalogStatus,
    ResolvedImage,
    ResolvedSource,
    SourceType,
)
from api.olm.v1.conditions import ConditionType, Reason
from api.olm.v1.refresh import answer
from catalogd.refresh import last_answer, open_request
from olm_catalogs.stored import Stored

UNPACKED = "Successfully unpacked and stored content from resolved source"
SERVING = "Serving desired content from resolved source"
UP_TO_DATE = "nothing new: what is served is up to date"
NEW_CONTENT = "new content: {}"
DISABLED = "Catalog availability mode is set to Unavailable"

OWN_TYPES = frozenset({ConditionType.PROGRESSING.value, ConditionType.SERVING.value})


@dataclass(frozen=True, slots=True)
class Failure:
    """Why content could not be brought up to date; `blocked` if only a person can help."""

    message: str
    blocked: bool = False


def served(
    catalog: ClusterCatalog, stored: Stored, *, base_url: str, now: datetime
) -> ClusterCatalogStatus:
    """The content is what the specification asks for, and is served."""
    conditions = (
        _condition(catalog, ConditionType.PROGRESSING, Reason.SUCCEEDED, UNPACKED),
        _condition(catalog, ConditionType.SERVING, Reason.AVAILABLE, SERVING),
        *_refreshed(catalog, stored),
    )
    return _serving(catalog, conditions, stored, base_url, now)


def failed(
    catalog: ClusterCatalog,
    failure: Failure,
    stored: Stored | None,
    *,
    base_url: str,
    now: datetime,
) -> ClusterCatalogStatus:
    """Content could not be fetched; what is on disk, if anything, is still served."""
    progressing = _condition(
        catalog,
        ConditionType.PROGRESSING,
        Reason.BLOCKED if failure.blocked else Reason.RETRYING,
        failure.message,
        holds=not failure.blocked,
    )
    refreshed = _not_refreshed(catalog, progressing)
    if stored is not None:
        serving = _condition(catalog, ConditionType.SERVING, Reason.AVAILABLE, SERVING)
        return _serving(catalog, (progressing, serving, *refreshed), stored, base_url, now)
    was_serving = any(c.type == ConditionType.SERVING for c in catalog.status.conditions)
    conditions = (progressing, _unavailable(catalog)) if was_serving else (progressing,)
    return ClusterCatalogStatus(conditions=_merged(catalog, (*conditions, *refreshed), now))


def disabled(catalog: ClusterCatalog, *, now: datetime) -> ClusterCatalogStatus:
    """The spec says that it is not to be served."""
    conditions = (
        _condition(catalog, ConditionType.PROGRESSING, Reason.SUCCEEDED, DISABLED),
        _condition(
            catalog,
            ConditionType.SERVING,
            Reason.USER_SPECIFIED_UNAVAILABLE,
            DISABLED,
            holds=False,
        ),
    )
    return ClusterCatalogStatus(conditions=_merged(catalog, conditions, now))


def deleted(catalog: ClusterCatalog, *, now: datetime) -> ClusterCatalogStatus:
    """Its content is removed; others may still hold the object."""
    serving = _merged(catalog, (_unavailable(catalog),), now)
    return ClusterCatalogStatus(
        conditions=tuple(c for c in serving if c.type == ConditionType.SERVING)
    )


def _serving(
    catalog: ClusterCatalog,
    conditions: Sequence[Condition],
    stored: Stored,
    base_url: str,
    now: datetime,
) -> ClusterCatalogStatus:
    return ClusterCatalogStatus(
        conditions=_merged(catalog, conditions, now),
        resolved_source=ResolvedSource(
            type=SourceType.IMAGE, image=ResolvedImage(ref=stored.source)
        ),
        urls=CatalogURLs(base=f"{base_url}/catalogs/{catalog.metadata.name}"),
        last_unpacked=datetime.fromtimestamp(stored.unpacked, UTC),
    )


def _refreshed(catalog: ClusterCatalog, stored: Stored) -> tuple[Condition, ...]:
    """The answer to a request, if there is one: what came of it now, or did before."""
    request, known = open_request(catalog), last_answer(catalog)
    if not request:
        return () if known is None else (known,)
    before = catalog.status.resolved_source
    same = before is not None and before.image.ref == stored.source
    reason = Reason.UNCHANGED if same else Reason.UPDATED
    said = UP_TO_DATE if same else NEW_CONTENT.format(stored.source)
    return (_condition(catalog, ConditionType.REFRESHED, reason, answer(request, said)),)


def _not_refreshed(catalog: ClusterCatalog, failed: Condition) -> tuple[Condition, ...]:
    """The same where the registry could not be asked."""
    request, known = open_request(catalog), last_answer(catalog)
    if not request:
        return () if known is None else (known,)
    message = answer(request, failed.message)
    condition = _condition(
        catalog, ConditionType.REFRESHED, Reason(failed.reason), message, holds=False
    )
    return (condition,)


def _unavailable(catalog: ClusterCatalog) -> Condition:
    return _condition(catalog, ConditionType.SERVING, Reason.UNAVAILABLE, "", holds=False)


def _condition(
    catalog: ClusterCatalog,
    kind: ConditionType,
    reason: Reason,
    message: str,
    *,
    holds: bool = True,
) -> Condition:
    return Condition(
        type=kind.value,
        status=ConditionStatus.TRUE if holds else ConditionStatus.FALSE,
        reason=reason.value,
        message=message,
        observed_generation=catalog.metadata.generation,
    )


def _merged(
    catalog: ClusterCatalog, conditions: Sequence[Condition], now: datetime
) -> tuple[Condition, ...]:
    """Other types in the status are removed: nobody would update them."""
    types = OWN_TYPES | {condition.type for condition in conditions}
    ours = [c for c in catalog.status.conditions if c.type in types]
    return merge_conditions(ours, conditions, now)
