"""Mirrors of several objects in one order (openshift/api, ImageDigestMirrorSet.spec).

"When multiple policies are defined for the same source repository, the sets of defined mirrors will
be merged together, preserving the relative order of the mirrors, if possible."
"""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from olm_runtime.images.mirror_sets import merged

pytestmark = pytest.mark.property

SOURCE = "source.example"
NAMES = [f"{letter}.example" for letter in "abcdefgh"]
LISTS = st.lists(st.lists(st.sampled_from([*NAMES, SOURCE]), unique=True, min_size=1), max_size=5)


@st.composite
def agreeing(draw: st.DrawFn) -> list[list[str]]:
    """Lists that some order of all names explains; the source is in none."""
    order = draw(st.permutations(NAMES))
    lists = draw(st.lists(st.sets(st.sampled_from(NAMES), min_size=1), max_size=5))
    return [sorted(names, key=order.index) for names in lists]


@given(agreeing())
def test_lists_that_agree_keep_their_order(lists: list[list[str]]) -> None:
    ordered = merged(SOURCE, lists)
    for mirrors in lists:
        assert [name for name in ordered if name in mirrors] == mirrors


@given(LISTS)
def test_each_mirror_is_there_once_whatever_the_lists_say(lists: list[list[str]]) -> None:
    ordered = merged(SOURCE, lists)
    assert set(ordered) - {SOURCE} == {name for names in lists for name in names} - {SOURCE}
    assert len(ordered) == len(set(ordered))
    assert ordered[-1:] != [SOURCE]


@given(LISTS, st.randoms(use_true_random=False))
def test_the_order_of_the_objects_does_not_matter(lists: list[list[str]], random: Random) -> None:
    shuffled = list(lists)
    random.shuffle(shuffled)
    assert merged(SOURCE, shuffled) == merged(SOURCE, lists)
