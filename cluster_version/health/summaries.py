"""Errors of a round as one, and a few words for each reason.

Source of the rules: upstream's notes, sections 11.1 and 11.2.
"""

from collections.abc import Iterable, Sequence
from http import HTTPStatus
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from cluster_version.errors import MULTIPLE, Effect, UpdateError, aggregated
from olm_runtime.errors import OLMError

OTHER = "UpdatePayloadFailed"
_PREFIX = "UpdatePayload"


class Cause(NamedTuple):
    """The reason of an error of the API server, and what it says to whoever runs the cluster."""

    reason: str
    text: str = ""


_NOT_FOUND = Cause("UpdatePayloadResourceNotFound", "resource may have been deleted")
_CONFLICT = Cause("UpdatePayloadResourceConflict", "someone else is updating this resource")
_DOWN = Cause("UpdatePayloadClusterDown", "the server is down or not responding")
_INTERNAL = Cause("UpdatePayloadClusterError", "the server is reporting an internal error")
_INVALID = Cause(
    "UpdatePayloadResourceInvalid",
    "the object is invalid, possibly due to local cluster configuration",
)
_UNAUTHORIZED = Cause("UpdatePayloadClusterUnauthorized", "could not authenticate to the server")
_FORBIDDEN = Cause(
    "UpdatePayloadResourceForbidden", "the server has forbidden updates to this resource"
)
_OVERLOADED = Cause(
    "UpdatePayloadClusterOverloaded", "the server is overloaded and is not accepting updates"
)
NO_KIND = Cause(
    "UpdatePayloadResourceTypeMissing",
    "the server does not recognize this resource, check extension API servers",
)
"""Of a kind that the server does not serve."""
_CAUSES = {
    "NotFound": _NOT_FOUND,
    "AlreadyExists": _NOT_FOUND,
    "Conflict": _CONFLICT,
    "Timeout": _DOWN,
    "ServiceUnavailable": _DOWN,
    "InternalError": _INTERNAL,
    "Invalid": _INVALID,
    "Unauthorized": _UNAUTHORIZED,
    "Forbidden": _FORBIDDEN,
    "ServerTimeout": _OVERLOADED,
    "TooManyRequests": _OVERLOADED,
}
_BY_STATUS: dict[int, Cause] = {
    HTTPStatus.UNAUTHORIZED: _UNAUTHORIZED,
    HTTPStatus.FORBIDDEN: _FORBIDDEN,
    HTTPStatus.NOT_FOUND: _NOT_FOUND,
    HTTPStatus.CONFLICT: _CONFLICT,
    HTTPStatus.UNPROCESSABLE_ENTITY: _INVALID,
    HTTPStatus.TOO_MANY_REQUESTS: _OVERLOADED,
}


def cause_of(status: int, reason: str) -> Cause:
    """What the API server's code and reason stand for; it gives no reason where a proxy answers."""
    if reason:
        return _CAUSES.get(reason, Cause(OTHER))
    down = _DOWN if status >= HTTPStatus.INTERNAL_SERVER_ERROR else Cause(OTHER)
    return _BY_STATUS.get(status, down)


def summarize(errors: Sequence[OLMError]) -> OLMError | None:
    """One error for all; those of ClusterOperators for the same reason are one first."""
    return multiple(_condensed(errors))


def without(errors: Sequence[OLMError], effect: Effect) -> list[OLMError]:
    """What `summarize` lists, without errors of an effect."""
    return [error for error in _condensed(errors) if _effect(error) is not effect]


def multiple(condensed: Sequence[OLMError]) -> OLMError | None:
    """Different errors in one, which lists them; the only one itself, None for none."""
    if len(condensed) <= 1:
        return next(iter(condensed), None)
    lines = sorted({error.message for error in condensed})
    message = "\n* ".join(["Multiple errors are preventing progress:", *lines])
    return UpdateError(message, reason=MULTIPLE, detail=_nested(condensed))


def _effect(error: OLMError) -> Effect | None:
    return error.effect if isinstance(error, UpdateError) else None


def _condensed(errors: Iterable[OLMError]) -> list[OLMError]:
    others: list[OLMError] = []
    operators: list[UpdateError] = []
    for error in errors:
        if isinstance(error, UpdateError) and error.plural is not None:
            operators.append(error)
        else:
            others.append(error)
    by_reason = groupby(sorted(operators, key=attrgetter("reason")), key=attrgetter("reason"))
    return [*others, *(_together(list(alike)) for _, alike in by_reason)]


def _together(alike: Sequence[UpdateError]) -> UpdateError:
    """Several errors for the same reason in one; the strongest effect counts."""
    first = alike[0]
    if len(alike) == 1 or first.plural is None:
        return first
    names = sorted(name for error in alike for name in error.names)
    effects = [error.effect for error in alike if error.effect is not None]
    return UpdateError(
        first.plural.message.replace("%s", ", ".join(names)),
        reason=first.plural.reason,
        effect=max(effects, key=[*Effect].index, default=Effect.REPORT),
        names=names,
        plural=first.plural,
        detail=_nested(alike),
    )


def _nested(errors: Iterable[OLMError]) -> str:
    return aggregated(error.message for error in errors)


# --- a few words ---------------------------------------------------------------------------------

_WORDS = {
    "UpdatePayloadResourceNotFound": "some resources could not be updated",
    "UpdatePayloadResourceConflict": "some resources could not be updated",
    "UpdatePayloadClusterDown": "the control plane is down or not responding",
    "UpdatePayloadClusterError": "the control plane is reporting an internal error",
    "UpdatePayloadClusterOverloaded": (
        "the control plane is overloaded and is not accepting updates"
    ),
    "UpdatePayloadClusterUnauthorized": "could not authenticate to the server",
    "UpdatePayloadRetrievalFailed": "could not download the update",
    "UpdatePayloadResourceForbidden": "the server is rejecting updates",
    "UpdatePayloadResourceTypeMissing": "a required extension is not available to update",
    "UpdatePayloadResourceInvalid": "some cluster configuration is invalid",
    "UpdatePayloadIntegrity": "the contents of the update are invalid",
    "ImageVerificationFailed": "the image may not be safe to use",
    "UpgradePreconditionCheckFailed": "it may not be safe to apply this update",
    "ClusterOperatorsNotAvailable": "some cluster operators are not available",
}
_NAMED = {
    "ClusterOperatorDegraded": ("cluster operator", "is degraded"),
    "ClusterOperatorNotAvailable": ("cluster operator", "is not available"),
    "ClusterOperatorNoVersions": ("cluster operator", "does not declare expected versions"),
    "WorkloadNotAvailable": ("workload", "has not yet successfully rolled out"),
    "WorkloadNotProgressing": ("workload", "cannot roll out"),
}
_UNNAMED = {"WorkloadNotAvailable": "a workload has not yet rolled out"}


def in_short(reason: str, name: str) -> str:
    """A few words for a reason; `name` may be empty."""
    if reason in _WORDS:
        return _WORDS[reason]
    if reason in _NAMED:
        kind, problem = _NAMED[reason]
        return (
            f"the {kind} {name} {problem}" if name else _UNNAMED.get(reason, f"a {kind} {problem}")
        )
    if reason.startswith(_PREFIX):
        return "the update could not be applied"
    text = f"{name} has an unknown error" if name else "an unknown error has occurred"
    return f"{text}: {reason}"
