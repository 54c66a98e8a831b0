"""The words of the product, and names that are too long for where they go."""

import re

import pytest

from api.olm.v1 import names

CONSTANTS = {key: value for key, value in vars(names).items() if isinstance(value, str)}


@pytest.mark.parametrize("prefix", ["LABEL_", "ANNOTATION_", "FINALIZER_"])
def test_no_two_words_mean_the_same(prefix: str) -> None:
    words = [value for key, value in CONSTANTS.items() if key.startswith(prefix)]
    assert sorted(words) == sorted(set(words))


@pytest.mark.parametrize(
    "word",
    [v for k, v in CONSTANTS.items() if k.startswith(("LABEL_", "ANNOTATION_", "FINALIZER_"))],
)
def test_words_are_qualified_names(word: str) -> None:
    prefix, _, name = word.rpartition("/")
    assert re.fullmatch(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?", name)
    assert prefix in ("", names.GROUP, "app.kubernetes.io")


def test_a_short_name_is_its_own_label() -> None:
    assert names.label_value("a" * 63) == "a" * 63


def test_a_long_name_is_cut_and_stays_distinct() -> None:
    one, other = names.label_value("a" * 64), names.label_value("a" * 65)
    assert len(one) == len(other) == names.MAX_LABEL_VALUE
    assert one != other
    assert one == names.label_value("a" * 64)


def test_a_cut_name_does_not_end_its_part_in_a_separator() -> None:
    assert re.fullmatch(r"a{10}-[0-9a-f]{10}", names.shortened("a" * 10 + "." * 20, 25))
