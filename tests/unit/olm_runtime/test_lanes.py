"""Lanes: which of the keys that wait is next."""

from olm_runtime.lanes import Lane, Place, Priority


def normal(since: float) -> Place:
    return Place(Priority.NORMAL, since)


def urgent(since: float) -> Place:
    return Place(Priority.HIGH, since)


def taken(lane: Lane[str], count: int | None = None) -> str:
    return "".join(lane.pop()[0] for _ in range(len(lane) if count is None else count))


def test_newest_and_oldest_take_turns_also_where_no_more_wait_than_there_are_slots() -> None:
    lane: Lane[str] = Lane(slots=8)
    for number, key in enumerate("abcdefgh"):
        lane.add(key, normal(number))
    assert taken(lane, 6) == "habgcd"


def test_oldest_first_where_nothing_else_is_asked_for() -> None:
    lane: Lane[str] = Lane(slots=1, newest_too=False)
    for number, key in enumerate("abcdefgh"):
        lane.add(key, normal(number))
    assert taken(lane) == "abcdefgh"


def test_what_is_urgent_goes_first_but_for_each_third() -> None:
    lane: Lane[str] = Lane(slots=8)
    for number, key in enumerate("abc"):
        lane.add(key, normal(number))
    for number, key in enumerate("XYZ"):
        lane.add(key, urgent(10 + number))
    assert taken(lane) == "ZXaYbc"


def test_what_follows_has_the_place_of_what_it_belongs_to() -> None:
    lane: Lane[str] = Lane(slots=1)
    for number, key in enumerate("bcd"):
        lane.add(key, normal(1 + number))
    lane.add("A", normal(0))
    assert taken(lane, 2) == "dA"


def test_a_key_that_waits_becomes_more_urgent_and_never_less() -> None:
    lane: Lane[str] = Lane(slots=1)
    for number, key in enumerate("abcd"):
        lane.add(key, normal(number))
    lane.add("b", urgent(5))
    lane.add("b", normal(0))
    assert len(lane) == 4
    assert taken(lane, 1) == "b"


def test_keys_whose_urgency_has_ended_give_way_to_what_was_begun() -> None:
    lane: Lane[str] = Lane(slots=1, newest_too=False)
    for number, key in enumerate("abcd"):
        lane.add(key, urgent(number))
    assert lane.pop() == ("a", urgent(0))
    by_now = {key: normal(number) for number, key in enumerate("abcd")}
    lane.add("a", by_now["a"])
    lane.add("X", urgent(9))
    assert lane.pop(by_now.get) == ("X", urgent(9))
    assert lane.pop(by_now.get) == ("b", normal(1)), "it has waited longest"
    assert lane.pop(by_now.get) == ("a", normal(0))
    assert lane.pop(by_now.get) == ("c", normal(2))


def test_a_key_that_was_removed_waits_no_more() -> None:
    lane: Lane[str] = Lane(slots=1)
    lane.add("a", normal(0))
    lane.add("b", urgent(1))
    lane.remove("b")
    assert "b" not in lane
    assert taken(lane) == "a"
