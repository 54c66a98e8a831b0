"""Answers that carry no content, with upstream's status codes and texts. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """An error answer: text/plain, one line."""

    status: int
    text: str

    @property
    def body(self) -> bytes:
        """The text with its line break."""
        return f"{self.text}\n".encode()


NO_CONTENT = Problem(404, "404 Not Found")
NO_SUCH_PAGE = Problem(404, "404 page not found")
BAD_REQUEST = Problem(400, "400 Bad Request")
METHOD_NOT_ALLOWED = Problem(405, "Method Not Allowed")
INVALID_BODY = Problem(400, "Invalid request body")
EMPTY_QUERY = Problem(400, "Query cannot be empty")
LARGE_QUERY = Problem(400, "Query too large")
PRECONDITION_FAILED = Problem(412, "412 Precondition Failed")
RANGE_NOT_SATISFIABLE = Problem(416, "invalid range: failed to overlap")


def invalid_name(fault: str) -> Problem:
    """A catalog name that no catalog can have."""
    return Problem(400, f"invalid catalog name: {fault}")
