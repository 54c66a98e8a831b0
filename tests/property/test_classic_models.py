"""Models of OLM Classic and OpenShift: what is written is read as the same model."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import Enum
from random import Random
from typing import Any, get_args, get_origin

import pytest
from hypothesis import given, settings
from msgspec import Struct

from api import wire
from api.crd import Resource
from api.openshift import crds as openshift
from api.operators import crds as operators
from api.schema import fields_of, unwrap
from tests.property.scale import TOGETHER, cases, chances

pytestmark = pytest.mark.property

KINDS = (*operators.KINDS, *openshift.KINDS, *openshift.CLUSTER_VERSION_KINDS)
RESOURCES = [version for kind in KINDS for version in kind]
CODES = (range(0x80), range(0x80, 0xD800), range(0xE000, 0x110000))
"""Of characters: ASCII, and the others but surrogates, which no text has."""


def text(chance: Random) -> str:
    return "".join(chr(chance.choice(chance.choice(CODES))) for _ in range(chance.randint(0, 5)))


def whole(chance: Random) -> int:
    return chance.randint(-(2**31), 2**31)


def labels(chance: Random, value: Callable[[Random], Any]) -> dict[str, Any]:
    return {text(chance): value(chance) for _ in range(chance.randint(0, 2))}


LEAVES: dict[Any, Callable[[Random], Any]] = {
    str: text,
    int: whole,
    bool: lambda chance: chance.random() < 0.5,
    int | str: lambda chance: chance.choice((chance.randint(0, 9), text(chance))),
    datetime: lambda chance: datetime.fromtimestamp(chance.randint(0, 2**31), UTC),
    Mapping[str, str]: lambda chance: labels(chance, text),
    Mapping[str, Any]: lambda chance: labels(chance, whole),
}


def value(kind: Any, chance: Random) -> Any:
    """A value of a type that models may use."""
    if kind in LEAVES:
        return LEAVES[kind](chance)
    if get_origin(kind) is tuple:
        [item, *_] = get_args(kind)
        return tuple(value(unwrap(item)[0], chance) for _ in range(chance.randint(0, 1)))
    if isinstance(kind, type) and issubclass(kind, Struct):
        return model(kind, chance)
    assert issubclass(kind, Enum)
    return chance.choice(list(kind))


def model(kind: Any, chance: Random) -> Any:
    """A model with any of its fields; those that are not needed may be left at their default."""
    given = [each for each in fields_of(kind) if each.needed or chance.random() < 0.5]
    return kind(**{each.name: value(each.kind, chance) for each in given})


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda each: f"{each.plural}-{each.version}")
@settings(max_examples=cases(100) // TOGETHER, print_blob=True)
@given(chances)
def test_what_is_written_is_read_as_the_same(resource: Resource, chance: Random) -> None:
    kind: Any = resource.model
    known = {"apiVersion": f"{resource.group}/{resource.version}", "kind": kind.__name__}
    for _ in range(TOGETHER):
        made = model(kind, chance)
        written = wire.write(made)
        assert kind.from_object(written | known) == made
        assert wire.write(kind.from_object(written | known)) == written
