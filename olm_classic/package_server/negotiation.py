"""In which form a client wants an answer, by its header Accept. Pure."""

import re
from collections.abc import Container
from dataclasses import dataclass

from olm_runtime.aggregation.statuses import StatusError

_AS_THEY_COME = frozenset({"application/json", "application/*", "*/*"})
META_GROUP, META_VERSIONS = "meta.k8s.io", frozenset({"v1", "v1beta1"})
DISCOVERY_GROUP = "apidiscovery.k8s.io"


@dataclass(frozen=True, slots=True)
class Form:
    """A kind that an answer is converted to; empty for none."""

    kind: str = ""
    group: str = ""
    version: str = ""


PLAIN = Form()


def form_of(accept: str, kinds: Container[str], group: str = META_GROUP) -> Form:
    """The first form that a client accepts and that there is: `kinds` of a group, or plain JSON.

    Raises StatusError.
    """
    for each in (accept or "*/*").split(","):
        media_type, _, rest = each.partition(";")
        if media_type.strip().lower() not in _AS_THEY_COME:
            continue
        given = dict(re.findall(r"([a-z]+)\s*=\s*([^;\s]+)", rest))
        form = Form(given.get("as", ""), given.get("g", ""), given.get("v", ""))
        if not form.kind:
            return PLAIN
        if form.kind in kinds and form.group == group:
            return form
    raise StatusError(406, "only the following media types are accepted: application/json")


def takes_gzip(accept_encoding: str) -> bool:
    """Whether a client takes an answer compressed."""
    for each in accept_encoding.split(","):
        coding, _, quality = each.partition(";")
        if coding.strip().lower() in ("gzip", "*"):
            return not re.fullmatch(r"\s*q\s*=\s*0(\.0*)?\s*", quality)
    return False
