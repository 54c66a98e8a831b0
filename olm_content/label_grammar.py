"""What Kubernetes takes as the key and as the value of a label, its faults in its words."""

import re

MAX_LENGTH = 63
MAX_PREFIX_LENGTH = 253

_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_NAME})?"
_PREFIX = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"

_CHARACTERS = (
    "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character"
)
_KEY_EXAMPLES = (
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME}')"
)
_WITH_PREFIX = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
_VALUE_EXAMPLES = (
    f"(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '{_VALUE}')"
)
_PREFIX_FAULT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character "
    f"(e.g. 'example.com', regex used for validation is '{_PREFIX}')"
)


def key_faults(key: str) -> list[str]:
    """What is wrong with a label's key: a name of at most 63 bytes, a DNS subdomain and `/` before
    it allowed.
    """
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        return [f"a valid label key must {_CHARACTERS} {_KEY_EXAMPLES} {_WITH_PREFIX}"]
    faults = [f"prefix part {fault}" for fault in _prefix_faults(prefix)] if slash else []
    if not name:
        faults.append("name part must be non-empty")
    faults += [f"name part {fault}" for fault in _length_faults(name, MAX_LENGTH)]
    if not re.fullmatch(_NAME, name):
        faults.append(f"name part must {_CHARACTERS} {_KEY_EXAMPLES}")
    return faults


def value_faults(value: str) -> list[str]:
    """What is wrong with a label's value: empty, or a name of at most 63 bytes."""
    faults = _length_faults(value, MAX_LENGTH)
    if not re.fullmatch(_VALUE, value):
        faults.append(f"a valid label must be an empty string or {_CHARACTERS} {_VALUE_EXAMPLES}")
    return faults


def _prefix_faults(prefix: str) -> list[str]:
    if not prefix:
        return ["must be non-empty"]
    faults = _length_faults(prefix, MAX_PREFIX_LENGTH)
    return faults if re.fullmatch(_PREFIX, prefix) else [*faults, _PREFIX_FAULT]


def _length_faults(text: str, longest: int) -> list[str]:
    too_long = len(text.encode(errors="replace")) > longest
    return [f"must be no more than {longest} bytes"] if too_long else []
