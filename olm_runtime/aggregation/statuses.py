"""Refusals as every API server words them: objects of kind Status. Pure."""

from collections.abc import Mapping
from typing import Any

import orjson

JSON = "application/json"

_REASONS = {
    400: "BadRequest", 401: "Unauthorized", 403: "Forbidden", 404: "NotFound",
    405: "MethodNotAllowed", 406: "NotAcceptable", 410: "Expired", 500: "InternalError",
    503: "ServiceUnavailable",
}  # fmt: skip


class StatusError(Exception):
    """An answer that is a refusal."""

    def __init__(self, code: int, message: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details

    def body(self) -> bytes:
        """The object."""
        return orjson.dumps(
            {
                "kind": "Status",
                "apiVersion": "v1",
                "metadata": {},
                "status": "Failure",
                "message": self.message,
                "reason": _REASONS.get(self.code, "Unknown"),
                **({"details": dict(self.details)} if self.details else {}),
                "code": self.code,
            }
        )
