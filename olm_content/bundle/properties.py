"""The properties of a bundle as its revision notes them, and the one that is read again.

`olm.maxOpenShiftVersion` is the last minor version of OpenShift that a bundle works with. Sources:
the documents ("Compatibility with OpenShift Container Platform versions"); for odd values, how
OpenShift's cluster-olm-operator reads them.
"""

import json
import re
from typing import Any, NamedTuple

from olm_content.bundle.go_metadata import field_of
from olm_content.formats import go_json
from olm_content.names import MAX_OPENSHIFT_VERSION
from olm_runtime.errors import bounded

NOTED_LENGTH = 16 * 1024
"""Characters. All annotations of an object together have 256 KiB, and revisions are read often."""
SHOWN_LENGTH = 100

_NUMBER = r"[1-9][0-9]{0,18}\.(0|[1-9][0-9]{0,18})"
_TEXT = r"[0-9]{1,19}\.[0-9]{1,19}"


class MinorVersion(NamedTuple):
    """A minor version of OpenShift, such as 4.18. Compares as versions do."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


_LEAPS = {MinorVersion(4, 23): MinorVersion(5, 1)}
"""4.23 and 5.0 are one release under two names; both go to 5.1."""


def next_version(current: MinorVersion) -> MinorVersion:
    """The minor version of OpenShift that follows."""
    return _LEAPS.get(current) or MinorVersion(current.major, current.minor + 1)


class PropertiesError(ValueError):
    """Properties that do not say which versions of OpenShift the bundle works with."""


class _Number(str):
    """A number as it is written: 4.10 is not 4.1."""

    __slots__ = ()


def noted(text: str) -> str:
    """What a revision notes of the properties of its bundle, JSON text both.

    All of them. Where that is too long, what is read again: the same version, or a value that is as
    unreadable.
    """
    if len(text) <= NOTED_LENGTH:
        return text
    try:
        found = max_openshift_version(text)
    except PropertiesError as error:
        value = str(error)
    else:
        if found is None:
            return "[]"
        value = str(found)
    return go_json.dumps([{"type": MAX_OPENSHIFT_VERSION, "value": value}])


def max_openshift_version(text: str) -> MinorVersion | None:
    """The last minor version of OpenShift that the bundle works with; None if it names none.

    `text` is a JSON list of properties, or empty. Raises PropertiesError.
    """
    values = [
        field_of(item, "value")
        for item in _items(text)
        if isinstance(item, dict) and field_of(item, "type") == MAX_OPENSHIFT_VERSION
    ]
    if len(values) > 1:
        raise PropertiesError(f"more than one {MAX_OPENSHIFT_VERSION}")
    return _minor_version(values[0]) if values else None


def _items(text: str) -> list[Any]:
    try:
        items = json.loads(text or "null", parse_float=_Number, parse_int=_Number)
    except (ValueError, RecursionError) as error:
        raise PropertiesError("its properties are no JSON") from error
    if not isinstance(items, list | None):
        raise PropertiesError("its properties are no list")
    return items or []


def _minor_version(value: Any) -> MinorVersion:
    """A number is taken by its digits. Raises PropertiesError."""
    form = _NUMBER if isinstance(value, _Number) else _TEXT
    spelled = value.strip() if isinstance(value, str) else ""
    if not re.fullmatch(form, spelled):
        shown = value if isinstance(value, _Number) else json.dumps(value, ensure_ascii=False)
        raise PropertiesError(
            f"{MAX_OPENSHIFT_VERSION} is {bounded(shown, SHOWN_LENGTH)}, and should be "
            'MAJOR.MINOR, such as "4.18"'
        )
    major, _, minor = spelled.partition(".")
    return MinorVersion(int(major), int(minor))
