"""Names and canonical forms keep their promises for any input."""

import string
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from olm_content.bundle.model import Permission
from olm_content.kube_types.quantity import canonical
from olm_content.render.names import MAX_NAME_LENGTH, object_name, unique_name

pytestmark = pytest.mark.property

label = st.text(string.ascii_lowercase + string.digits + "-", min_size=1, max_size=300)
rules = st.lists(
    st.dictionaries(
        st.sampled_from(["verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs"]),
        st.lists(st.text(max_size=8), max_size=3),
    ),
    max_size=3,
)


@given(base=label, suffix=st.text("a", min_size=1, max_size=44))
def test_a_name_is_at_most_one_over_the_limit_and_keeps_its_suffix(base: str, suffix: str) -> None:
    name = object_name(base, suffix)
    assert name.endswith(f"-{suffix}")
    assert len(name) <= MAX_NAME_LENGTH + 1
    assert (len(name) == MAX_NAME_LENGTH + 1) == (len(base) + len(suffix) == MAX_NAME_LENGTH)


@given(base=label, account=st.text(max_size=8), given_rules=rules)
def test_a_unique_name_depends_on_nothing_but_its_content(
    base: str, account: str, given_rules: list[dict[str, list[str]]]
) -> None:
    permission = Permission(account, tuple(given_rules))
    reordered = Permission(account, tuple(dict(reversed(rule.items())) for rule in given_rules))
    more = Permission(account, (*given_rules, {"verbs": ["extra"]}))
    assert unique_name(base, permission) == unique_name(base, reordered)
    assert unique_name(base, permission) != unique_name(base, more)


SUFFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12}


def value_of(text: str) -> Decimal:
    for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), start=1):
        if text.endswith(suffix):
            return Decimal(text[:-2]) * Decimal(1024) ** power
    if text[-1] in "kMGTPE" or text[-1] in "num":
        powers = {**SUFFIXES, "P": 15, "E": 18}
        return Decimal(text[:-1]).scaleb(powers[text[-1]])
    return Decimal(text)


@given(
    number=st.decimals(min_value=-(10**6), max_value=10**6, places=3),
    suffix=st.sampled_from([*("m", "", "k", "M", "G"), "Ki", "Mi", "Gi"]),
)
def test_a_canonical_quantity_has_the_same_value_and_stays_as_it_is(
    number: Decimal, suffix: str
) -> None:
    text = canonical(f"{number:f}{suffix}")
    assert value_of(text) == value_of(f"{number:f}{suffix}")
    assert canonical(text) == text
