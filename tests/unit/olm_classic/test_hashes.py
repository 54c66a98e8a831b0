"""Hashes: their alphabet, their length, and the bytes that go in."""

import pytest

from olm_classic.hashes import deep_hash, fnv64a, json_hash, map_hash, text_hash


def test_text_hashes_are_base_62_with_small_letters_first() -> None:
    assert text_hash("ns-802/group-27506/admin") == "547mLvDXLWHMGt8GrLQdnLD3EGUJTXMQSL6Qzv"
    assert text_hash("ns-802/group-27506/edit") == "ct0VQHpDoIpc9Nzp6dsHg32une5rjdwwOyaIqM"


def test_deep_hashes_end_with_a_newline() -> None:
    assert json_hash({"a": 1}) == text_hash('{"a":1}\n')


def test_maps_are_hashed_by_sorted_keys_and_their_values_as_they_stand() -> None:
    assert map_hash({"b": {"y": 1, "x": 2}, "a": 0}) == text_hash('{"a":0,"b":{"y":1,"x":2}}\n')


def test_deep_hashes_see_the_type_and_not_how_the_text_was_written() -> None:
    rule = {"resources": ["pods"], "verbs": ["get"], "resourceNames": [], "unknown": 1}
    assert deep_hash("PolicyRule", rule) == text_hash('{"verbs":["get"],"resources":["pods"]}\n')


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", "cbf29ce484222325"), ("a", "af63dc4c8601ec8c"), ("foobar", "85944171f73967e8")],
)
def test_fnv_agrees_with_its_published_vectors(text: str, expected: str) -> None:
    assert fnv64a(text) == expected
