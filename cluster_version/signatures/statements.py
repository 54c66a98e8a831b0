"""Statements about images: the atomic container signature.

Source of the rules: upstream's notes, section 6.3, and what Go's JSON decoder takes: names of
fields in any case, null for a field that is missing, of two with a name both.
"""

import json
from collections.abc import Mapping
from typing import Any

from cluster_version.signatures.errors import SignatureError

TYPE = "atomic container signature"

_SCHEMA: Mapping[str, Any] = {
    "critical": {
        "type": str,
        "image": {"docker-manifest-digest": str},
        "identity": {"docker-reference": str},
    },
    "optional": {"creator": str, "timestamp": int},
}
_BLANKS = " \t\r\n"
_TIMESTAMPS = range(-(2**63), 2**63)


class _Pairs(list[tuple[str, Any]]):
    """An object of JSON, with the fields that are there twice."""


def check_statement(content: bytes, digest: str) -> None:
    """Raises SignatureError for what does not say that an image with a digest is a release."""
    statement: dict[str, Any] = {}
    _take(_read(content), _SCHEMA, statement)
    critical = statement.get("critical", {})
    if critical.get("type") != TYPE:
        raise SignatureError("signature is not the correct type")
    if not critical.get("identity", {}).get("docker-reference"):
        raise SignatureError("signature must have an identity")
    if critical.get("image", {}).get("docker-manifest-digest") != digest:
        raise SignatureError("signature digest does not match")


def _read(content: bytes) -> Any:
    """The first value of JSON; what follows it does not count."""
    decoder = json.JSONDecoder(object_pairs_hook=_Pairs, parse_constant=_refuse)
    try:
        return decoder.raw_decode(content.decode(errors="replace").lstrip(_BLANKS))[0]
    except (ValueError, RecursionError) as error:
        raise _invalid(str(error)) from error


def _refuse(word: str) -> None:
    """NaN and the like, which Python's decoder takes."""
    raise ValueError(f"{word} is no JSON")


def _take(value: Any, schema: Mapping[str, Any], into: dict[str, Any]) -> None:
    """Takes the fields of an object over. Raises SignatureError for one that there is not."""
    if value is None:
        return
    if not isinstance(value, _Pairs):
        raise _invalid("an object is wanted")
    for written, given in value:
        name = written if written in schema else written.casefold()
        if name not in schema:
            raise _invalid(f"unknown field {json.dumps(written)}")
        wanted = schema[name]
        if isinstance(wanted, Mapping):
            _take(given, wanted, into.setdefault(name, {}))
        elif given is not None:
            into[name] = _checked(given, wanted, name)


def _checked(given: Any, wanted: type, name: str) -> Any:
    """A plain value. Raises SignatureError."""
    is_wanted = isinstance(given, wanted) and not isinstance(given, bool)
    if not is_wanted or (wanted is int and given not in _TIMESTAMPS):
        raise _invalid(f"{name} is not of the type {wanted.__name__}")
    return given


def _invalid(problem: str) -> SignatureError:
    return SignatureError(f"the signature is not valid JSON: {problem}")
