"""Which error an answer of the API server becomes."""

import orjson
import pytest

from olm_runtime.errors import MAX_CAUSE_LENGTH
from olm_runtime.kube.errors import (
    AlreadyExistsError,
    ApiError,
    ConflictError,
    ForbiddenError,
    GoneError,
    InvalidError,
    NotFoundError,
    error_from,
)


def status_object(code: int, reason: str = "", message: str = "as told") -> bytes:
    return orjson.dumps(
        {"kind": "Status", "apiVersion": "v1", "code": code, "reason": reason, "message": message}
    )


@pytest.mark.parametrize(
    ("code", "reason", "expected"),
    [
        pytest.param(400, "BadRequest", InvalidError, id="content that cannot be read"),
        pytest.param(403, "Forbidden", ForbiddenError, id="an identity that may not"),
        pytest.param(404, "NotFound", NotFoundError, id="an object that is not there"),
        pytest.param(409, "AlreadyExists", AlreadyExistsError, id="a name that is taken"),
        pytest.param(409, "Conflict", ConflictError, id="an object that changed meanwhile"),
        pytest.param(410, "Expired", GoneError, id="a version that is too old"),
        pytest.param(410, "Gone", GoneError, id="a version that is gone"),
        pytest.param(500, "Expired", GoneError, id="a watch that tells so in an event"),
        pytest.param(422, "Invalid", InvalidError, id="content against the rules"),
        pytest.param(500, "InternalError", ApiError, id="anything else"),
    ],
)
def test_the_kind_of_an_error(code: int, reason: str, expected: type[ApiError]) -> None:
    error = error_from(code, status_object(code, reason))
    assert type(error) is expected
    assert (error.status, error.reason, error.message) == (code, reason, "as told")


def test_credentials_that_are_not_accepted_are_reported_as_such() -> None:
    error = error_from(401, status_object(401, "Unauthorized", "Unauthorized"))
    assert isinstance(error, ForbiddenError)
    assert error.message == "the API server does not accept the credentials: Unauthorized"
    assert error.hint == "they may have expired: log in again, or renew the token"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"404 page not found\n", id="plain text"),
        pytest.param(b"<html>token=abc</html>", id="a proxy's page"),
        pytest.param(b'{"message": "token=abc"}', id="JSON of another kind"),
        pytest.param(b"[1]", id="JSON that is no object"),
        pytest.param(b"\xff\xfe", id="no text at all"),
        pytest.param(b"", id="nothing"),
    ],
)
def test_only_what_the_api_server_itself_says_is_repeated(body: bytes) -> None:
    assert error_from(502, body).message == "the API server answered 502"


def test_a_long_message_is_cut() -> None:
    error = error_from(422, status_object(422, "Invalid", "x" * 100_000))
    assert len(error.message) == MAX_CAUSE_LENGTH
    assert error.message.endswith("…")
