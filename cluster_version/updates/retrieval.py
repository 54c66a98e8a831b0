"""How an update service is asked, and the error where it cannot be.

Source of the rules: upstream's notes, sections 3.1 and 3.4.
"""

from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from api.objects import KubeObject
from cluster_version.cluster_ids import parse_cluster_id
from cluster_version.decisions.objects import spec_of
from cluster_version.payload.release import MULTI
from cluster_version.updates.errors import RetrievalError
from olm_content.formats.go_text import quote
from olm_content.versions import Version, VersionError, parse_version
from olm_runtime.errors import TerminalError

MEDIA_TYPE = "application/json"
DEFAULT_SERVICE = "https://api.openshift.com/api/upgrades_info/v1/graph"
"""What is asked where a ClusterVersion names no service."""
KEEP_LISTS = frozenset({"RemoteFailed", "ResponseFailed", "ResponseInvalid"})
"""Failures that leave the lists as they were, while what was asked and how is the same."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked for; `architecture` is the desired one.

    is_hosted  whether the metrics store that risks are looked for in has several clusters
    """

    service: str
    cluster_id: str
    architecture: str
    channel: str
    version: str
    is_hosted: bool = field(default=False, kw_only=True)


def question_of(
    cluster_version: KubeObject, version: str, architecture: str, service: str = ""
) -> Question:
    """What a valid ClusterVersion asks for, where a release of an architecture runs.

    service  asked in place of what the ClusterVersion names, unless it is empty
    """
    spec = spec_of(cluster_version)
    return Question(
        service=service or spec.get("upstream") or DEFAULT_SERVICE,
        cluster_id=spec.get("clusterID") or "",
        architecture=(spec.get("desiredUpdate") or {}).get("architecture") or architecture,
        channel=spec.get("channel") or "",
        version=version,
    )


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
    try:
        cluster_id = parse_cluster_id(question.cluster_id)
    except TerminalError as error:
        raise RetrievalError("InvalidID", f"invalid cluster ID: {error.message}") from error
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
        message = f"{problem} and cannot be used to calculate upgrades."
        raise RetrievalError("InvalidCurrentVersion", message) from error
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


def failed(error: RetrievalError) -> RetrievalError:
    """An answer that was none, as the condition reports it."""
    return RetrievalError(error.reason, f"Unable to retrieve available updates: {error.message}")


def unexpected_status(code: int, phrase: str) -> RetrievalError:
    """An answer without a graph."""
    return RetrievalError("ResponseFailed", f"unexpected HTTP status: {code} {phrase}")
