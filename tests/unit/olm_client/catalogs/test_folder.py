"""Which files of a catalog have to be parsed for a package."""

import pytest

from olm_client.catalogs.folder import may_contain, spelling

SPELLED = {
    "as it is": b"name: my-op",
    "with an escaped character": rb'name: "my\x2dop"',
    "with a long escape": rb'name: "my-\U0000006fp"',
    "with the escapes of JSON": rb'{"name": "\u006dy-op"}',
    "with an escaped line break": b'name: "my-\\\n    op"',
    "with another line break": b'name: "my-\\\r\n\top"',
    "in another encoding": "name: my-op".encode("utf-16"),
    "in another encoding without mark": "name: my-op".encode("utf-16-le"),
    "in base64": b"name: !!binary bXktb3A=",
}


@pytest.mark.parametrize("data", SPELLED.values(), ids=SPELLED.keys())
def test_a_name_is_seen_however_it_is_spelled(data: bytes) -> None:
    assert may_contain(data, "my-op", spelling(data))


OTHERS = {
    "other names": b"name: my-operator-x",
    "harmless escapes": rb'text: "a\nb \u003c \u00e9 \x0a"',
    "line breaks elsewhere": b'text: "one \\\n  two"',
}


@pytest.mark.parametrize("data", OTHERS.values(), ids=OTHERS.keys())
def test_a_file_without_the_name_is_passed_over(data: bytes) -> None:
    assert not may_contain(data, "your-op", spelling(data))


def test_a_name_of_unusual_characters_is_looked_for_everywhere() -> None:
    assert may_contain(b"", "My Op", spelling(b""))
