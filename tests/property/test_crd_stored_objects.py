"""What the check calls safe is safe: no object that was valid becomes invalid.

Objects are as the API server stores them: fields that the old schema does not know are pruned.
"""

import copy
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from olm_content.crds import check
from tests.property.scale import cases
from tests.unit.olm_content.crds.definitions import definition, version

pytestmark = pytest.mark.property

Schema = dict[str, Any]


NAMES = st.sampled_from(["a", "b", "c"])
SMALL = st.integers(0, 4)
TEXTS = st.text("ab", max_size=5)
JSON = st.recursive(
    st.none() | st.booleans() | SMALL | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=4,
)

ANY_KEYWORDS: dict[str, st.SearchStrategy[Any]] = {
    "nullable": st.booleans(),
    "enum": st.lists(SMALL | TEXTS | st.booleans(), min_size=1, max_size=3),
    "description": TEXTS,
    "not": st.builds(lambda value: {"enum": [value]}, SMALL | TEXTS),
    "anyOf": st.lists(st.builds(lambda n: {"minLength": n}, SMALL), min_size=1, max_size=2),
    "oneOf": st.lists(st.builds(lambda n: {"required": [n]}, NAMES), min_size=1, max_size=2),
    "allOf": st.lists(st.builds(lambda n: {"maximum": n}, SMALL), min_size=1, max_size=2),
}
KEYWORDS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "string": {
        "minLength": SMALL,
        "maxLength": SMALL,
        "pattern": st.sampled_from(["^a", "b$", "^[ab]*$"]),
    },
    "integer": {
        "minimum": SMALL,
        "maximum": SMALL,
        "exclusiveMinimum": st.booleans(),
        "exclusiveMaximum": st.booleans(),
        "multipleOf": st.integers(1, 3),
    },
    "boolean": {},
    "array": {"minItems": SMALL, "maxItems": SMALL, "uniqueItems": st.booleans()},
    "object": {
        "minProperties": SMALL,
        "maxProperties": SMALL,
        "required": st.lists(NAMES, max_size=2, unique=True),
    },
}


def schemas(depth: int) -> st.SearchStrategy[Schema]:
    types = ["string", "integer", "boolean"] + (["array", "object", "object"] if depth else [])
    return st.sampled_from(types).flatmap(lambda kind: of_type(kind, depth))


@st.composite
def of_type(draw: st.DrawFn, kind: str, depth: int) -> Schema:
    schema: Schema = {"type": kind}
    for keyword, strategy in {**KEYWORDS[kind], **ANY_KEYWORDS}.items():
        if draw(st.integers(0, 5)) == 0:
            schema[keyword] = draw(strategy)
    if kind == "array":
        schema["items"] = draw(schemas(depth - 1))
    elif kind == "object":
        if draw(st.integers(0, 3)) == 0:
            schema["additionalProperties"] = draw(schemas(depth - 1))
        else:
            schema["properties"] = draw(st.dictionaries(NAMES, schemas(depth - 1), max_size=3))
    return schema


def nodes(schema: Schema) -> list[Schema]:
    below = [*(schema.get("properties") or {}).values()]
    below += [
        schema[k] for k in ("items", "additionalProperties") if isinstance(schema.get(k), dict)
    ]
    return [schema, *(node for child in below for node in nodes(child))]


@st.composite
def changed(draw: st.DrawFn, schema: Schema) -> Schema:
    """The schema with one keyword of one node set, changed or removed, or a field added."""
    result = copy.deepcopy(schema)
    node = draw(st.sampled_from(nodes(result)))
    strategies = {**KEYWORDS[node["type"]], **ANY_KEYWORDS}
    if "properties" in node and draw(st.booleans()):
        node["properties"].setdefault(draw(NAMES), draw(schemas(0)))
        return result
    keyword = draw(st.sampled_from(sorted({*strategies, *node})))
    if keyword in node and draw(st.booleans()):
        del node[keyword]
    elif keyword in strategies:
        node[keyword] = draw(strategies[keyword])
    elif keyword == "type":
        node["type"] = draw(st.sampled_from(sorted(KEYWORDS)))
    return result


def values(schema: Schema) -> st.SearchStrategy[Any]:
    """Values that may well fit the schema, and some that do not."""
    match schema.get("type"):
        case "object":
            known = {k: values(v) for k, v in (schema.get("properties") or {}).items()}
            extra = schema.get("additionalProperties")
            if isinstance(extra, dict):
                return st.dictionaries(NAMES, values(extra), max_size=4)
            fitting: st.SearchStrategy[Any] = st.fixed_dictionaries({}, optional=known)
        case "array":
            fitting = st.lists(values(schema.get("items") or {}), max_size=4)
        case "string":
            fitting = TEXTS
        case "integer":
            fitting = st.integers(-1, 6)
        case "boolean":
            fitting = st.booleans()
        case _:
            fitting = JSON
    return st.one_of(fitting, fitting, fitting, st.none(), JSON)


def pruned(value: Any, schema: Schema) -> Any:
    """What the API server stores of a value."""
    extra = schema.get("additionalProperties")
    if isinstance(value, dict) and isinstance(extra, dict):
        return {name: pruned(item, extra) for name, item in value.items()}
    if isinstance(value, dict):
        known = schema.get("properties") or {}
        return {name: pruned(value[name], known[name]) for name in value if name in known}
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        return [pruned(item, schema["items"]) for item in value]
    return value


def is_valid(value: Any, schema: Schema) -> bool:
    return bool(jsonschema.Draft4Validator(as_json_schema(schema)).is_valid(value))


def as_json_schema(schema: Schema) -> Schema:
    """The same with null spelt out, which Draft 4 has no `nullable` for."""
    plain = {k: v for k, v in schema.items() if k != "nullable"}
    for bound, side in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if side not in plain:
            plain.pop(bound, None)
    if "properties" in plain:
        plain["properties"] = {k: as_json_schema(v) for k, v in plain["properties"].items()}
    for keyword in ("items", "additionalProperties"):
        if isinstance(plain.get(keyword), dict):
            plain[keyword] = as_json_schema(plain[keyword])
    if not plain.get("required"):
        plain.pop("required", None)
    return {"anyOf": [{"type": "null"}, plain]} if schema.get("nullable") else plain


@settings(max_examples=cases(800), deadline=None)
@given(st.data())
def test_no_valid_object_becomes_invalid_where_the_check_says_safe(data: st.DataObject) -> None:
    old = data.draw(schemas(2), label="old")
    new = data.draw(changed(old), label="new")
    if check(definition(version("v1", old)), definition(version("v1", new))):
        return
    for _ in range(5):
        value = pruned(data.draw(values(old), label="object"), old)
        if is_valid(value, old):
            assert is_valid(value, new)


@settings(max_examples=cases(300), deadline=None)
@given(schemas(3))
def test_nothing_changed_is_safe(schema: Schema) -> None:
    crd = definition(version("v1", schema))
    assert check(crd, copy.deepcopy(crd)) == ()
