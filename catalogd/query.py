"""The parameters of `/metas`, and names of catalogs in paths. Pure; rules are upstream's."""

import re
from urllib.parse import parse_qsl

from catalogd.index import Query

PARAMETERS = frozenset({"schema", "package", "name"})
MAX_PARAMETERS = 16
MAX_NAME_LENGTH = 253

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_NAME = re.compile(_SUBDOMAIN)


class BadQueryError(ValueError):
    """Parameters that are not understood: answered with 400."""


def parse_query(text: str) -> Query:
    """Reads a query string; of a repeated parameter the first counts. Raises BadQueryError."""
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_PARAMETERS)
    except ValueError as error:
        raise BadQueryError(str(error)) from error
    found: dict[str, str] = {}
    for key, value in pairs:
        if key not in PARAMETERS:
            raise BadQueryError(f"unknown parameter {key!r}")
        found.setdefault(key, value)
    return Query(**found)


def name_fault(name: str) -> str:
    """Why a text is no name of an object, in Kubernetes' words; empty if it is one."""
    if len(name) > MAX_NAME_LENGTH:
        return f"must be no more than {MAX_NAME_LENGTH} characters"
    if _NAME.fullmatch(name):
        return ""
    return (
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or"
        " '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex"
        rf" used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.{_LABEL})*')"
    )
