"""In which form a client wants an answer, by its header Accept. Pure."""

import re
from collections.abc import Container
from dataclasses import dataclass

from olm_runtime.aggregation.statuses import StatusError

_AS_THEY_COME = frozenset({"application/json", "application/*", "*/*"})


@dataclass(frozen=True, slots=True)
class Form:
    """A kind that an answer is converted to; empty for none."""

    kind: str = ""
    group: str = ""
    version: str = ""


PLAIN = Form()


def meta_forms(*kinds: str) -> frozenset[Form]:
    """Kinds that every API server converts answers to."""
    versions = ("v1", "v1beta1")
    return frozenset(Form(kind, "meta.k8s.io", version) for kind in kinds for version in versions)


DISCOVERY_FORMS = frozenset(
    Form("APIGroupDiscoveryList", "apidiscovery.k8s.io", version) for version in ("v2", "v2beta1")
)


def form_of(accept: str, forms: Container[Form]) -> Form:
    """The first form that a client accepts and that there is: one of `forms`, or plain JSON.

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
        if form in forms:
            return form
    raise StatusError(406, "only the following media types are accepted: application/json")


def takes_gzip(accept_encoding: str) -> bool:
    """Whether a client takes an answer compressed."""
    for each in accept_encoding.split(","):
        coding, _, quality = each.partition(";")
        if coding.strip().lower() in ("gzip", "*"):
            return not re.fullmatch(r"\s*q\s*=\s*0(\.0*)?\s*", quality)
    return False
