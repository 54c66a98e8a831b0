"""What clusters ask, and why they may be refused. Pure.

Source of the rules: upstream's notes, section 3.1; kinds and texts as upstream's clients know them.
"""

import re
from dataclasses import dataclass

import orjson

JSON = "application/json"
GRAPH_V1 = "application/vnd.redhat.cincinnati.v1+json"
_WILDCARDS = frozenset({"*", "*/*", "application/*"})
_CHANNEL, _ARCHITECTURE = r"^[0-9a-z\-\.]+$", r"^[0-9a-z]+$"


class RefusalError(Exception):
    """An answer that is an error: a status, and a body with its kind and text."""

    def __init__(self, status: int, kind: str, value: str) -> None:
        super().__init__(value)
        self.status = status
        self.kind = kind
        self.value = value

    def body(self) -> bytes:
        """As JSON."""
        return orjson.dumps({"kind": self.kind, "value": self.value})


NOT_READY = RefusalError(503, "graph_not_ready", "the graph is not yet there; ask again soon")
NO_SUCH_PAGE = RefusalError(404, "does_not_exist", "does not exist: there is /graph and /v1/graph")
NOT_ALLOWED = RefusalError(405, "method_not_allowed", "only GET and HEAD are answered")


@dataclass(frozen=True, slots=True)
class Question:
    """The graph that is asked for, and the media type that it is wanted as."""

    channel: str
    architecture: str
    media_type: str = JSON


def read_question(accept: str | None, channel: str | None, architecture: str) -> Question:
    """What a request asks for. Raises RefusalError.

    The version of the cluster is not looked at: the answer is the whole graph of a channel.
    """
    media_type = _media_type(accept)
    if channel is None:
        raise RefusalError(400, "missing_params", "mandatory client parameters missing: channel")
    _check("channel", channel, _CHANNEL)
    _check("arch", architecture, _ARCHITECTURE)
    return Question(channel, architecture, media_type)


def _check(name: str, text: str, pattern: str) -> None:
    if not re.search(pattern, text) or text.endswith("\n"):
        fault = f"{name} '{text}' does not match regex '{pattern}'"
        raise RefusalError(400, "invalid_params", f"invalid client parameters: {fault}")


def _media_type(accept: str | None) -> str:
    """The first that is accepted; without a header everything is."""
    for each in (JSON if accept is None else accept).split(","):
        media_type, _, parameters = each.partition(";")
        media_type = media_type.strip().lower()
        if re.fullmatch(r"\s*q\s*=\s*0(\.0*)?\s*", parameters):
            continue
        if media_type in (JSON, GRAPH_V1):
            return media_type
        if media_type in _WILDCARDS:
            return JSON
    raise RefusalError(406, "invalid_content_type", "invalid Content-Type requested")
