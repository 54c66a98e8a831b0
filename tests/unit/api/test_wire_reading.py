"""Raw JSON to models and back."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from typing import Annotated, Any

import pytest
from msgspec import Struct, field

from api import wire
from api.schema import Doc, Presence
from api.wire import InvalidObjectError


class Colour(StrEnum):
    RED = "Red"
    BLUE = "Blue"


class Wheel(Struct, frozen=True, kw_only=True):
    size: int
    colour: Colour | None = None


class Cart(Struct, frozen=True, kw_only=True):
    owner_name: Annotated[str, Doc("Who owns it.")]
    spare: Annotated[bool, Presence.DEFAULTED] = False
    note: Annotated[str, Presence.REQUIRED] = ""
    wheels: tuple[Annotated[Wheel, Doc("One of them.")], ...] = ()
    built: datetime | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    cargo: Mapping[str, Any] = field(default_factory=dict)


FULL = {
    "ownerName": "Ann",
    "spare": True,
    "note": "new",
    "wheels": [{"size": 3, "colour": "Red"}, {"size": 4}],
    "built": "2025-02-18T20:29:00Z",
    "labels": {"a": "b"},
    "cargo": {"apples": [1, 2.5, None, {"green": True}]},
}


def test_every_type_is_read() -> None:
    assert wire.read(Cart, FULL) == Cart(
        owner_name="Ann",
        spare=True,
        note="new",
        wheels=(Wheel(size=3, colour=Colour.RED), Wheel(size=4)),
        built=datetime(2025, 2, 18, 20, 29, tzinfo=UTC),
        labels={"a": "b"},
        cargo=FULL["cargo"],  # type: ignore[arg-type]
    )


def test_what_was_read_is_written_the_same() -> None:
    assert wire.write(wire.read(Cart, FULL)) == FULL


def test_open_content_is_referenced_not_copied() -> None:
    assert wire.read(Cart, FULL).cargo is FULL["cargo"]


def test_unknown_fields_are_ignored() -> None:
    assert wire.read(Wheel, {"size": 1, "spokes": 12}) == Wheel(size=1)


def test_null_counts_as_absent() -> None:
    assert wire.read(Cart, {"ownerName": "Ann"} | dict.fromkeys(["wheels", "labels", "built"])) == (
        Cart(owner_name="Ann")
    )


def test_defaults_are_left_out_unless_the_schema_asks_for_them() -> None:
    assert wire.write(Cart(owner_name="Ann")) == {"ownerName": "Ann", "spare": False, "note": ""}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2025-02-18T20:29:00Z", "2025-02-18T20:29:00Z"),
        ("2025-02-18T20:29:00.123456789Z", "2025-02-18T20:29:00Z"),
        ("2025-02-18t20:29:00z", "2025-02-18T20:29:00Z"),
        ("2025-02-18T22:29:00+02:00", "2025-02-18T20:29:00Z"),
        ("2025-02-18T20:29:00", "2025-02-18T20:29:00Z"),
    ],
)
def test_times_are_utc_in_whole_seconds(text: str, expected: str) -> None:
    cart = wire.read(Cart, {"ownerName": "Ann", "built": text})
    assert wire.write(cart)["built"] == expected


def test_timestamp_of_a_moment_elsewhere() -> None:
    east = timezone(timedelta(hours=9))
    assert wire.timestamp(datetime(2025, 1, 1, 8, 0, tzinfo=east)) == "2024-12-31T23:00:00Z"


@pytest.mark.parametrize(
    ("raw", "faults"),
    [
        pytest.param([], ["expected an object, got a list"], id="no object at all"),
        pytest.param({}, ["ownerName: required, but missing"], id="missing"),
        pytest.param({"ownerName": None}, ["ownerName: required, but missing"], id="null"),
        pytest.param({"ownerName": 1}, ["ownerName: expected a string, got int"], id="number"),
        pytest.param(
            {"ownerName": "Ann", "spare": 1}, ["spare: expected a boolean, got int"], id="boolean"
        ),
        pytest.param(
            {"ownerName": "Ann", "wheels": {}},
            ["wheels: expected a list, got an object"],
            id="list",
        ),
        pytest.param(
            {"ownerName": "Ann", "wheels": [{"size": 1}, 2, {"size": True, "colour": "Pink"}]},
            [
                "wheels[1]: expected an object, got int",
                'wheels[2].colour: expected one of "Red", "Blue", got \'Pink\'',
                "wheels[2].size: expected a whole number, got a boolean",
            ],
            id="entries of a list",
        ),
        pytest.param(
            {"ownerName": "Ann", "labels": {"a": 1, "b": "c"}},
            ["labels.a: expected a string, got int"],
            id="values of a map",
        ),
        pytest.param(
            {"ownerName": "Ann", "labels": "a=b"},
            ["labels: expected an object, got a string"],
            id="map",
        ),
        pytest.param(
            {"ownerName": "Ann", "cargo": [1]},
            ["cargo: expected an object, got a list"],
            id="open content",
        ),
        pytest.param(
            {"ownerName": "Ann", "built": "yesterday"},
            ["built: expected an RFC 3339 time, got 'yesterday'"],
            id="time",
        ),
        pytest.param(
            {"ownerName": "Ann", "wheels": [{"size": 1, "colour": 7}]},
            ['wheels[0].colour: expected one of "Red", "Blue", got 7'],
            id="enum",
        ),
    ],
)
def test_every_fault_is_named_with_its_path(raw: Any, faults: list[str]) -> None:
    with pytest.raises(InvalidObjectError) as raised:
        wire.read(Cart, raw)
    assert list(raised.value.faults) == faults
    assert str(raised.value) == f"Cart cannot be read: {'; '.join(faults)}"


def test_a_model_of_a_type_that_json_lacks_is_a_programming_error() -> None:
    class Box(Struct, frozen=True):
        content: complex

    with pytest.raises(TypeError, match="no reader for"):
        wire.read(Box, {"content": 1})
