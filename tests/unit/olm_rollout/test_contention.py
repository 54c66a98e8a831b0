"""Objects that others take over: how often, and how long they are then left alone."""

from api.objects import GVK, ObjectKey
from olm_rollout.contention import (
    DELETED,
    FREE_TAKEOVERS,
    LONGEST_PAUSE_SECONDS,
    PEACE_SECONDS,
    Contention,
    after,
    message_of,
)
from olm_rollout.managed_fields import MAX_FIELDS, Held

KEY = ObjectKey(GVK("", "v1", "ConfigMap"), "ns", "settings")
THEIRS = frozenset({Held("rival", "data.a")})


def fought(times: int, *, every: float = 0.0) -> Contention:
    known = None
    for number in range(times):
        known = after(known, THEIRS, number * every)
    assert known is not None
    return known


def test_what_is_changed_now_and_then_is_restored_at_once_and_not_reported() -> None:
    known = fought(FREE_TAKEOVERS)
    assert not known.is_reported
    assert known.pause_left(0.0) == 0.0
    rare = fought(100, every=PEACE_SECONDS)
    assert (rare.takeovers, rare.is_reported) == (1, False)


def test_a_fight_is_reported_and_pauses_get_longer_up_to_a_limit() -> None:
    pauses = [fought(FREE_TAKEOVERS + n).pause_left(0.0) for n in range(1, 5)]
    assert pauses == [1.0, 2.0, 4.0, 8.0]
    assert fought(10_000).pause_left(0.0) == LONGEST_PAUSE_SECONDS
    assert fought(FREE_TAKEOVERS + 4).pause_left(3.0) == 5.0


def test_a_fight_at_the_longest_pause_goes_on_being_one() -> None:
    known = fought(1000)
    again = after(known, THEIRS, LONGEST_PAUSE_SECONDS)
    assert again.is_reported
    assert again.pause == LONGEST_PAUSE_SECONDS


def test_it_is_over_after_a_while_of_peace() -> None:
    known = fought(FREE_TAKEOVERS + 1)
    end = known.pause + PEACE_SECONDS
    assert known.seconds_left(end - 1.0) == 1.0
    assert not known.seconds_left(end)
    assert after(known, THEIRS, end).takeovers == 1


def test_it_is_due_when_the_pause_ends_as_long_as_it_was_left_alone_because_of_it() -> None:
    known = fought(FREE_TAKEOVERS + 1)
    assert known.due(looked=known.pause - 0.001) == known.pause
    assert known.due(looked=known.pause) == known.pause + PEACE_SECONDS


def test_the_text_names_object_manager_and_field_and_says_what_to_do() -> None:
    taken = frozenset({*THEIRS, Held("", "data.b"), DELETED})
    text = message_of(KEY, Contention(9, 0.0, taken), "app")
    assert text.startswith("ConfigMap ns/settings: ")
    assert 'field manager "rival" keeps setting data.a' in text
    assert "somebody keeps removing data.b" in text
    assert "somebody keeps deleting it" in text
    assert "\nhint: have that program leave alone what this app sets" in text
    assert text == message_of(KEY, Contention(10, 5.0, taken), "app")


def test_many_fields_are_counted() -> None:
    many = frozenset(Held("rival", f"data.k{n}") for n in range(MAX_FIELDS + 3))
    assert "and 3 more" in message_of(KEY, Contention(9, 0.0, many), "app")
