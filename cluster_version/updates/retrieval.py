"""How an update service is asked, and what is told where it cannot be.

Source of the rules: upstream's notes, sections 3.1 and 3.4.
"""

from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit
from uuid import UUID

from cluster_version.payload.release import MULTI
from cluster_version.updates.errors import RetrievalError
from olm_content.formats.go_text import quote
from olm_content.versions import Version, VersionError, parse_version

MEDIA_TYPE = "application/json"
RETRIEVED = "RetrievedUpdates"
KEEP_LISTS = frozenset({"RemoteFailed", "ResponseFailed", "ResponseInvalid"})
"""Failures that leave the lists as they were, while what was asked and how is the same."""

_LENGTH, _URN, _BRACES, _BARE = 36, "urn:uuid:", "{}", 32


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked for; `architecture` is the desired one."""

    service: str
    cluster_id: str
    architecture: str
    channel: str
    version: str


@dataclass(frozen=True, slots=True)
class Request:
    """A question as it is sent."""

    url: str
    version: Version


def request_of(question: Question) -> Request:
    """The request of a question. Raises RetrievalError for one that cannot be asked."""
    if not question.service:
        problem = "No updateService server has been set to retrieve updates."
        raise RetrievalError("NoUpstream", problem)
    try:
        place = urlsplit(question.service)
    except ValueError as error:
        problem = f"failed to parse update service URL: parse {quote(question.service)}: {error}"
        raise RetrievalError("InvalidURI", problem) from error
    cluster_id = _cluster_id(question.cluster_id)
    if not question.architecture:
        raise RetrievalError("NoArchitecture", "Architecture has not been configured.")
    if not question.version:
        problem = "The cluster version does not have a semantic version assigned"
        raise RetrievalError("NoCurrentVersion", f"{problem} and cannot calculate valid upgrades.")
    if not question.channel:
        raise RetrievalError("NoChannel", "The update channel has not been configured.")
    try:
        version = parse_version(question.version)
    except VersionError as error:
        problem = "The current cluster version is not a valid semantic version"
        told = f"{problem} and cannot be used to calculate upgrades."
        raise RetrievalError("InvalidCurrentVersion", told) from error
    architecture = question.architecture
    asked = {
        "arch": MULTI.lower() if architecture == MULTI else architecture,
        "channel": question.channel,
        "id": str(cluster_id),
        "version": str(version),
    }
    query = [*parse_qsl(place.query, keep_blank_values=True), *asked.items()]
    ordered = sorted(query, key=lambda each: each[0])
    return Request(urlunsplit(place._replace(query=urlencode(ordered))), version)


def _cluster_id(text: str) -> UUID:
    """The identifier, in one of the four forms that it may have. Raises RetrievalError."""
    digits = text
    if len(text) == _LENGTH + len(_URN):
        if not text.lower().startswith(_URN):
            raise _invalid_id(f"invalid urn prefix: {quote(text[: len(_URN)])}")
        digits = text[len(_URN) :]
    elif len(text) == _LENGTH + len(_BRACES):
        digits = text[1:-1]
    elif len(text) not in (_LENGTH, _BARE):
        raise _invalid_id(f"invalid UUID length: {len(text)}")
    bare = digits.replace("-", "")
    if len(digits) == _LENGTH and [at for at, each in enumerate(digits) if each == "-"] != [
        8,
        13,
        18,
        23,
    ]:
        raise _invalid_id("invalid UUID format")
    try:
        return UUID(hex=bare)
    except ValueError as error:
        raise _invalid_id("invalid UUID format") from error


def _invalid_id(problem: str) -> RetrievalError:
    return RetrievalError("InvalidID", f"invalid cluster ID: {problem}")


def failed(error: RetrievalError) -> RetrievalError:
    """An answer that was none, as the condition tells it."""
    return RetrievalError(error.reason, f"Unable to retrieve available updates: {error.message}")


def unexpected_status(code: int, phrase: str) -> RetrievalError:
    """An answer without a graph."""
    return RetrievalError("ResponseFailed", f"unexpected HTTP status: {code} {phrase}")
