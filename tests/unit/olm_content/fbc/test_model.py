"""The model of a channel: what an entry updates, heads, and the chain of a valid channel."""

import pytest

from olm_content.fbc.chain import ChainError, check_chain, head
from olm_content.fbc.model import Channel, Entry
from olm_content.versions import parse_version


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (Entry("op.v3"), False),
        (Entry("op.v3", replaces="op.v2"), True),
        (Entry("op.v3", replaces="op.v1", skips=("op.v2",)), True),
        (Entry("op.v3", skip_range=">=1.0.0 <3.0.0"), True),
        (Entry("op.v3", skip_range=">=2.0.1 <3.0.0"), False),
        (Entry("op.v3", replaces="op.v1", skip_range="no range"), False),
    ],
)
def test_what_an_entry_updates(entry: Entry, expected: bool) -> None:
    assert entry.leads_from("op.v2", parse_version("2.0.0")) is expected


def test_a_range_that_cannot_be_read_is_no_edge() -> None:
    assert Entry("a", skip_range="no range").accepted is None
    assert Entry("a").accepted is None


@pytest.mark.parametrize(
    ("entries", "heads"),
    [
        ((), ()),
        ((Entry("a"), Entry("b", "a"), Entry("c", "b", ("a",))), ("c",)),
        ((Entry("a"), Entry("b")), ("a", "b")),
        ((Entry("a", "b"), Entry("b", "a")), ()),
    ],
)
def test_heads(entries: tuple[Entry, ...], heads: tuple[str, ...]) -> None:
    assert Channel("stable", entries).heads == heads


def test_one_head_is_expected() -> None:
    assert head(Channel("c", (Entry("b", "a"), Entry("a")))) == "b"
    with pytest.raises(ChainError, match="multiple channel heads found in graph: a, b"):
        head(Channel("c", (Entry("b"), Entry("a"))))
    with pytest.raises(ChainError, match="no channel head found"):
        head(Channel("c"))


def test_the_chain_reaches_what_nothing_skips() -> None:
    check_chain(Channel("c", (Entry("c", "b", ("x",)), Entry("b", "outside"), Entry("x"))))
    aside = (Entry("x", "y"), Entry("y", "x"))
    with pytest.raises(ChainError, match="stranded bundles: x, y"):
        check_chain(Channel("c", (Entry("b", "a"), Entry("a"), *aside)))


def test_a_chain_does_not_come_back() -> None:
    entries = (Entry("c", "b"), Entry("b", "a"), Entry("a", "b"))
    with pytest.raises(ChainError, match=r"detected cycle.*: b -> a -> b"):
        check_chain(Channel("c", entries))
