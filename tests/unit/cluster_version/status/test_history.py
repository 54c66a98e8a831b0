"""The history of a ClusterVersion."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from cluster_version.status.history import Entry, Reached, State, pruned, recorded

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def at(second: int) -> datetime:
    return BEGIN + timedelta(seconds=second)


def reached(version: str, *, done: bool = False, image: str = "", **more: bool | str) -> Reached:
    return Reached(image or f"image:{version}", version, is_completed=done, **more)  # type: ignore[arg-type]


def test_an_update_begins_an_entry_and_completes_it() -> None:
    history = recorded((), reached("4.1.0", done=True), at(0))
    history = recorded(history, reached("4.1.1"), at(1))
    history = recorded(history, reached("4.1.1", done=True), at(2))
    history = recorded(history, reached("4.1.1"), at(3))  # what is completed stays so
    assert [(each.version, each.state, each.started, each.completed) for each in history] == [
        ("4.1.1", State.COMPLETED, at(1), at(2)),
        ("4.1.0", State.COMPLETED, at(0), at(0)),
    ]


def test_an_update_that_is_left_ends_partial() -> None:
    history = recorded((), reached("4.1.0"), at(0))
    history = recorded(history, reached("4.1.1"), at(1))
    assert (history[1].state, history[1].completed) == (State.PARTIAL, at(1))
    assert history[0].completed is None


def test_a_version_that_was_not_known_is_filled_in() -> None:
    history = recorded((), reached("", image="i"), at(0))
    history = recorded(history, reached("4.1.0", image="i"), at(1))
    assert [each.version for each in history] == ["4.1.0"]
    assert recorded(history, reached("", image="i"), at(2)) == history


def test_the_same_version_of_another_registry_is_another_entry() -> None:
    history = recorded((), reached("4.1.0", image="a/x@sha256:1"), at(0))
    assert len(recorded(history, reached("4.1.0", image="b/x@sha256:1"), at(1))) == 2


def test_what_was_accepted_outlives_the_operators_restart_into_the_new_image() -> None:
    history = recorded((), reached("4.1.0", accepted_risks="unsigned"), at(0))
    assert recorded(history, reached("4.1.0", local=True), at(1))[0].accepted_risks == "unsigned"
    assert recorded(history, reached("4.1.0"), at(1))[0].accepted_risks == ""


def test_verified_once_is_verified() -> None:
    history = recorded((), reached("4.1.0", verified=True), at(0))
    assert recorded(history, reached("4.1.0"), at(1))[0].verified


def test_without_an_image_there_is_nothing_to_remember() -> None:
    assert recorded((), Reached("", "4.1.0"), at(0)) == ()


_ENTRIES = st.lists(
    st.builds(
        lambda minor, patch, state: Entry("", f"4.{minor}.{patch}", state),
        st.integers(1, 4),
        st.integers(0, 3),
        st.sampled_from(State),
    ),
    min_size=9,
    max_size=9,
).map(
    lambda entries: [
        Entry(f"image {number}", entry.version, entry.state) for number, entry in enumerate(entries)
    ]
)


@given(_ENTRIES)
def test_the_newest_the_first_and_the_last_completed_are_never_forgotten(
    entries: list[Entry],
) -> None:
    left = pruned(entries, most=8)
    assert len(left) == 8
    completed = [entry for entry in entries if entry.state is State.COMPLETED]
    assert {*entries[:5], entries[8], *completed[:1]} <= {*left}
    assert [entry for entry in entries if entry in left] == [*left]


@given(_ENTRIES)
def test_nothing_is_forgotten_before_it_is_too_much(entries: list[Entry]) -> None:
    assert pruned(entries, most=9) == tuple(entries)
