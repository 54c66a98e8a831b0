"""Models of OLM Classic and OpenShift: what is written is read as the same model."""

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import Any, get_args, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from api import wire
from api.crd import Resource
from api.openshift import crds as openshift
from api.operators import crds as operators
from api.schema import fields_of, unwrap

pytestmark = pytest.mark.property

KINDS = (*operators.KINDS, *openshift.KINDS, *openshift.CLUSTER_VERSION_KINDS)
RESOURCES = [version for kind in KINDS for version in kind]

TEXTS = st.text(max_size=5)
LEAVES = {
    str: TEXTS,
    int: st.integers(-(2**31), 2**31),
    bool: st.booleans(),
    int | str: st.one_of(st.integers(0, 9), TEXTS),
    datetime: st.integers(0, 2**31).map(lambda seconds: datetime.fromtimestamp(seconds, UTC)),
    Mapping[str, str]: st.dictionaries(TEXTS, TEXTS, max_size=2),
    Mapping[str, Any]: st.dictionaries(TEXTS, st.integers(), max_size=2),
}


def values(kind: Any) -> st.SearchStrategy[Any]:
    """Values of a type that models may use."""
    if kind in LEAVES:
        return LEAVES[kind]
    if get_origin(kind) is tuple:
        return st.lists(values(unwrap(get_args(kind)[0])[0]), max_size=1).map(tuple)
    if isinstance(kind, type) and issubclass(kind, Struct):
        return models(kind)
    assert issubclass(kind, Enum)
    return st.sampled_from(kind)


def models(model: Any) -> st.SearchStrategy[Any]:
    """Models with any of their fields; those that are not needed may be left at their default."""
    fields = fields_of(model)
    needed = {each.name: values(each.kind) for each in fields if each.needed}
    others = {each.name: values(each.kind) for each in fields if not each.needed}
    return st.fixed_dictionaries(needed, optional=others).map(lambda given: model(**given))


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda each: f"{each.plural}-{each.version}")
@given(data=st.data())
def test_what_is_written_is_read_as_the_same(resource: Resource, data: st.DataObject) -> None:
    model = data.draw(models(resource.model))
    written = wire.write(model)
    kind: Any = resource.model
    whole = written | {
        "apiVersion": f"{resource.group}/{resource.version}",
        "kind": kind.__name__,
    }
    assert kind.from_object(whole) == model
    assert wire.write(kind.from_object(whole)) == written
