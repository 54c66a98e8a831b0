"""Whatever objects a catalog has, every field of every one can be asked for."""

from collections.abc import Iterable
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalogd.graphql.direct import encoded
from catalogd.graphql.schema import CatalogSchema, Reading
from catalogd.graphql.shape import CatalogShape, Fields, Kind

pytestmark = pytest.mark.property

KEYS = st.sampled_from(["a", "a-b", "aB", "A", "", "1", "__x", "ü"])
NUMBERS = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


def selection(fields: Fields) -> str:
    """Everything there is to ask for."""
    inner = (
        f"{name} {selection(found.fields)}" if _is_typed(found.kind, found.fields) else name
        for name, found in fields.items()
    )
    return "{ " + " ".join(inner) + " }"


def _is_typed(kind: Kind, fields: Fields) -> bool:
    return kind is Kind.OBJECT and bool(fields)


@given(st.lists(st.dictionaries(KEYS, VALUES, min_size=1, max_size=4), min_size=1, max_size=5))
def test_every_field_of_every_object_can_be_asked_for(objects: list[dict[str, Any]]) -> None:
    shape = CatalogShape()
    for each in objects:
        shape.add("x", each)

    def read(
        schema: str,
        package: str,
        name: str,
        *,
        offset: int,
        limit: int,
    ) -> Iterable[bytes]:
        return map(orjson.dumps, objects)

    answer = CatalogSchema(shape).answer(
        "{ xs " + selection(shape.schemas["x"].fields) + " }", Reading(read, lambda: None)
    )
    answer = orjson.loads(encoded(answer))
    assert "errors" not in answer
    assert len(answer["data"]["xs"]) == len(objects)
    for each, found in zip(objects, answer["data"]["xs"], strict=True):
        assert sum(value is not None for value in found.values()) == len(
            {
                name
                for name, field in shape.schemas["x"].fields.items()
                if any(each.get(key) is not None for key in field.keys)
            }
        )
