"""How catalogd is asked to look at a registry at once, and how it answers. Pure.

Who may patch a ClusterCatalog sets ANNOTATION_REFRESH_REQUESTED to a value that it did not have,
such as the time. catalogd asks the registry, and the condition Refreshed says what came of the
request with that value. This needs no field of the status: upstream's definition of the kind drops
those that it does not know.
"""

import json
from collections.abc import Mapping

from api.olm.v1.names import ANNOTATION_REFRESH_REQUESTED, shortened

MAX_REQUEST = 63
"""Characters; a longer value is answered by a short form of it."""


def requested(annotations: Mapping[str, str]) -> str:
    """The request that the annotations of a catalog hold; empty for none."""
    return shortened(annotations.get(ANNOTATION_REFRESH_REQUESTED, ""), MAX_REQUEST)


def answer(request: str, said: str) -> str:
    """The message of Refreshed for a request."""
    return _prefix(request) + said


def said_of(request: str, message: str) -> str | None:
    """What a message of Refreshed says of a request; None if it is of another one."""
    prefix = _prefix(request)
    return message.removeprefix(prefix) if message.startswith(prefix) else None


def _prefix(request: str) -> str:
    """Quoted, so that none is the beginning of another."""
    return f"request {json.dumps(request)}: "
