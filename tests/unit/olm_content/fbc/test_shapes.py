"""What reading into a shape keeps, drops, orders and refuses."""

import pytest

from olm_content.fbc.shapes import ShapeError, read


def test_fields_come_in_the_shapes_order_whatever_their_case() -> None:
    shown = read("Channel", {"Package": "p", "NAME": "c", "schema": "olm.channel", "extra": 1})
    assert list(shown.items()) == [
        ("schema", "olm.channel"),
        ("name", "c"),
        ("package", "p"),
        ("entries", None),
    ]


@pytest.mark.parametrize(
    ("shape", "value", "expected"),
    [
        ("Entry", {"name": "a", "skips": [], "replaces": ""}, {"name": "a"}),
        ("Entry", {}, {"name": ""}),
        ("Property", {"type": "x"}, {"type": "x", "value": None}),
        ("Descriptor", {"path": "p", "value": 0}, {"path": "p", "value": 0}),
        ("Image", None, {"name": "", "image": ""}),
        (
            "CSVMetadata",
            {"labels": {"b": "2", "a": "1"}, "provider": {}},
            {
                "apiServiceDefinitions": {},
                "crdDescriptions": {},
                "labels": {"a": "1", "b": "2"},
                "provider": {},
            },
        ),
    ],
)
def test_empty_optional_fields_vanish_and_required_ones_appear(
    shape: str, value: object, expected: object
) -> None:
    assert read(shape, value) == expected


@pytest.mark.parametrize(
    ("shape", "value", "fault"),
    [
        ("Entry", {"name": 1}, "name: expected a string, got a number"),
        ("Entry", {"name": "a", "skips": "b"}, "skips: expected a list, got a string"),
        (
            "Channel",
            {"entries": [{"name": "a"}, 3]},
            "entries[1]: expected an object, got a number",
        ),
        ("InstallMode", {"supported": "yes"}, "supported: expected a boolean, got a string"),
        ("Icon", {"base64data": "%%%"}, "base64data: invalid base64"),
        ("ChannelProperty", {"priority": True}, "priority: expected an integer, got a boolean"),
        ("CSVMetadata", {"labels": {"a": 1}}, "labels.a: expected a string, got a number"),
    ],
)
def test_a_wrong_type_is_reported_with_its_place(shape: str, value: object, fault: str) -> None:
    with pytest.raises(ShapeError, match=fault.replace("[", r"\[")):
        read(shape, value)
