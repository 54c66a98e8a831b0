"""Keys and values that labels can have, and what Kubernetes says of others."""

import pytest

from olm_content.label_grammar import key_faults, value_faults

GOOD_KEYS = ["k", "a.b-c_D9", "x" * 63, "example.com/k", "a-1.b/K", "p" * 253 + "/k"]
BAD_KEYS = {
    "": ["name part must be non-empty", "name part must consist of"],
    "x" * 64: ["name part must be no more than 63 bytes"],
    "-k": ["name part must consist of"],
    "k.": ["name part must consist of"],
    "é": ["name part must consist of"],
    "k\n": ["name part must consist of"],
    "/k": ["prefix part must be non-empty"],
    "Example/k": ["prefix part a lowercase RFC 1123 subdomain must consist of"],
    "p" * 254 + "/k": ["prefix part must be no more than 253 bytes"],
    "a/b/c": ["a valid label key must consist of"],
}
GOOD_VALUES = ["", "v", "a.b-c_D9", "x" * 63]
BAD_VALUES = {
    "-v": ["a valid label must be an empty string or consist of"],
    "v w": ["a valid label must be an empty string or consist of"],
    "x" * 64: ["must be no more than 63 bytes"],
    "é" * 32: ["must be no more than 63 bytes", "a valid label must be"],
}


@pytest.mark.parametrize("key", GOOD_KEYS)
def test_keys(key: str) -> None:
    assert key_faults(key) == []


@pytest.mark.parametrize("value", GOOD_VALUES)
def test_values(value: str) -> None:
    assert value_faults(value) == []


@pytest.mark.parametrize(("key", "faults"), BAD_KEYS.items())
def test_bad_keys(key: str, faults: list[str]) -> None:
    starts = zip(key_faults(key), faults, strict=True)
    assert all(fault.startswith(start) for fault, start in starts)


@pytest.mark.parametrize(("value", "faults"), BAD_VALUES.items())
def test_bad_values(value: str, faults: list[str]) -> None:
    starts = zip(value_faults(value), faults, strict=True)
    assert all(fault.startswith(start) for fault, start in starts)
