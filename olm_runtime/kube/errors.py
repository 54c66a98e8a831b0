"""What the API server can answer instead of an object, as errors of ours.

ApiError
├── NotFoundError        404
│   └── NoMatchError     a kind that discovery does not have
├── AlreadyExistsError   409, reason AlreadyExists
├── ConflictError        409 otherwise: stale resourceVersion, field conflict
├── GoneError            410, or 400/500 with reason Expired: a watch must list again
├── ForbiddenError       401, 403
└── InvalidError         422, and 400: the server refuses the content itself
"""

from http import HTTPStatus
from typing import Any, NamedTuple

import orjson

from olm_runtime.errors import TransientError, bounded

NO_SUCH_RESOURCE = "the server could not find the requested resource"


UNAUTHORIZED = 401


class Cause(NamedTuple):
    """One of the faults of an InvalidError, as in `details.causes` of a Status."""

    field: str
    reason: str
    message: str


class ApiError(TransientError):
    """An answer that is no success. `status` is the HTTP code, 0 when there was no answer.

    The message is bounded; `causes` are all faults of a content that the server refuses.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        reason: str = "",
        causes: tuple[Cause, ...] = (),
        hint: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.reason = reason
        self.causes = causes

    @property
    def may_pass(self) -> bool:
        """Whether the same request may go better in a moment: the server is not there, or fails."""
        return not 0 < self.status < HTTPStatus.INTERNAL_SERVER_ERROR


_AWAY = frozenset(
    {0, HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT}
)


def is_away(error: ApiError) -> bool:
    """Whether nobody answered, or a proxy that stands before a server which is not there."""
    return error.status in _AWAY


class NotFoundError(ApiError):
    """The object, or the resource itself, does not exist."""

    @property
    def names_object(self) -> bool:
        """Whether the resource is served and only the object is missing."""
        return self.reason == "NotFound" and self.message != NO_SUCH_RESOURCE


class NoMatchError(NotFoundError):
    """The server does not serve the kind."""


class AlreadyExistsError(ApiError):
    """An object with that name is there already."""


class ConflictError(ApiError):
    """Somebody else changed the object, or owns a field."""


class GoneError(ApiError):
    """The resource version is too old to watch from."""


class ForbiddenError(ApiError):
    """The identity may not do this."""


class InvalidError(ApiError):
    """The API server refuses the content."""


_BY_STATUS: dict[int, type[ApiError]] = {
    400: InvalidError,
    401: ForbiddenError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    410: GoneError,
    422: InvalidError,
}


def error_from(status: int, body: bytes) -> ApiError:
    """The error for an answer; only a real Status object's message is repeated to users."""
    details = _status_object(body)
    message = bounded(str(details.get("message") or f"the API server answered {status}"))
    reason = str(details.get("reason") or "")
    kind = _BY_STATUS.get(status, ApiError)
    if status == UNAUTHORIZED:
        return kind(
            f"the API server does not accept the credentials: {message}",
            status=status,
            reason=reason,
            hint="they may have expired: log in again, or renew the token",
        )
    if reason == "AlreadyExists":
        kind = AlreadyExistsError
    elif reason == "Expired":
        kind = GoneError
    return kind(message, status=status, reason=reason, causes=_causes(details))


def _causes(status: dict[str, Any]) -> tuple[Cause, ...]:
    causes = (status.get("details") or {}).get("causes") or ()
    return tuple(
        Cause(*(str(cause.get(key) or "") for key in ("field", "reason", "message")))
        for cause in causes
    )


def _status_object(body: bytes) -> dict[str, Any]:
    try:
        parsed = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return parsed if isinstance(parsed, dict) and parsed.get("kind") == "Status" else {}
