"""Models to CustomResourceDefinitions.

The schema is structural (apiextensions.k8s.io/v1) and says what the models say, in the same
order of rules. Nothing here depends on time or environment: the same models always give the
same definition.
"""

import textwrap
from collections.abc import Mapping
from datetime import datetime
from enum import Enum, StrEnum
from typing import Any, get_args, get_origin

from msgspec import Struct, field

from api import wire
from api.schema import (
    Doc,
    Embedded,
    Key,
    Keywords,
    Marker,
    ModelField,
    Presence,
    Rule,
    fields_of,
    unwrap,
)

Schema = dict[str, Any]

_SCALARS: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    int | str: {
        "x-kubernetes-int-or-string": True,
        "anyOf": [{"type": "integer"}, {"type": "string"}],
    },
    bool: {"type": "boolean"},
    datetime: {"type": "string", "format": "date-time"},
    Mapping[str, Any]: {"type": "object"},
    Mapping[str, str]: {"type": "object", "additionalProperties": {"type": "string"}},
}

_TYPE_META: dict[str, Schema] = {
    "apiVersion": {
        "type": "string",
        "description": "Group and version of the kind, for example olm.operatorframework.io/v1.",
    },
    "kind": {"type": "string", "description": "Kind of the object."},
    "metadata": {"type": "object"},
}


REFERENCES = "#/definitions/"
"""Before the name of the struct in a `$ref`; API servers take none: see `with_structs`."""


class Column(Struct, frozen=True):
    """A column of `kubectl get`; `kind` is string, date, integer, number or boolean."""

    name: str
    path: str
    kind: str = "string"


AGE = Column("Age", ".metadata.creationTimestamp", "date")


def condition_column(condition: str) -> Column:
    """The status of a condition, under the name of its type."""
    return Column(str(condition), f'.status.conditions[?(@.type=="{condition}")].status')


class Scope(StrEnum):
    """Whether objects are in namespaces."""

    CLUSTER = "Cluster"
    NAMESPACED = "Namespaced"


class Resource(Struct, frozen=True, kw_only=True):
    """A version of a kind with a status, as the API server shall serve it."""

    model: type
    """Its class name is the kind."""
    group: str
    version: str
    plural: str
    columns: tuple[Column, ...] = ()
    """Without any, kubectl shows name and age."""
    annotations: Mapping[str, str] = field(default_factory=dict)
    scope: Scope = Scope.CLUSTER
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    """Names of sets of kinds: `kubectl get olm`."""
    rules: tuple[Rule, ...] = ()
    """Rules over a whole object."""

    @property
    def name(self) -> str:
        """Name of the CustomResourceDefinition."""
        return f"{self.plural}.{self.group}"


def definition(resource: Resource, *others: Resource) -> dict[str, Any]:
    """The CustomResourceDefinition of a kind, as plain JSON.

    It is stored in the version of `resource`. The same kind in `others` is served, too, after a
    change of apiVersion alone; the schema of the version that is asked for drops what it lacks.
    """
    annotations = {"annotations": dict(resource.annotations)} if resource.annotations else {}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": resource.name, **annotations},
        "spec": {
            "group": resource.group,
            "names": _names(resource),
            "scope": resource.scope.value,
            **({"conversion": {"strategy": "None"}} if others else {}),
            "versions": [
                _version(resource, storage=True),
                *(_version(other, storage=False) for other in others),
            ],
        },
    }


def _names(resource: Resource) -> dict[str, Any]:
    kind = resource.model.__name__
    names: dict[str, Any] = {
        "kind": kind,
        "listKind": f"{kind}List",
        "plural": resource.plural,
        "singular": kind.lower(),
    }
    if resource.short_names:
        names["shortNames"] = list(resource.short_names)
    if resource.categories:
        names["categories"] = list(resource.categories)
    return names


def _version(resource: Resource, *, storage: bool) -> dict[str, Any]:
    columns = [_column(column) for column in resource.columns]
    return {
        "name": resource.version,
        "served": True,
        "storage": storage,
        **({"additionalPrinterColumns": columns} if columns else {}),
        "schema": {"openAPIV3Schema": marked(root_schema(resource.model), resource.rules)},
        "subresources": {"status": {}},
    }


def with_structs(schema: Any, structs: Mapping[str, Schema]) -> Any:
    """The schema, or a definition with schemas, with the structs in place of references to them."""
    match schema:
        case {"$ref": reference, **said}:
            return with_structs(structs[reference.removeprefix(REFERENCES)], structs) | said
        case dict():
            return {key: with_structs(value, structs) for key, value in schema.items()}
        case list():
            return [with_structs(entry, structs) for entry in schema]
        case _:
            return schema


def root_schema(model: type) -> Schema:
    """The schema of a whole object; its metadata is the API server's own business."""
    schema = model_schema(model)
    schema["properties"].update(_TYPE_META)
    return schema


def model_schema(model: type) -> Schema:
    """The schema of a model: an object with a property for each field."""
    fields = fields_of(model)
    schema: Schema = {
        "type": "object",
        "description": described(model.__doc__ or ""),
        "properties": {each.key: field_schema(each) for each in fields},
    }
    if required := sorted(each.key for each in fields if each.required):
        schema["required"] = required
    return schema


def field_schema(model_field: ModelField) -> Schema:
    """The schema of a field: its type's, and over it what the field itself says."""
    schema = marked(type_schema(model_field.kind), model_field.markers)
    if Presence.DEFAULTED in model_field.markers:
        schema["default"] = wire.plain(model_field.default)
    return schema


def type_schema(kind: Any) -> Schema:
    """The schema of a bare type. Raises TypeError for a type that no model may use."""
    if kind in _SCALARS:
        return dict(_SCALARS[kind])
    if get_origin(kind) is tuple:
        item, markers = unwrap(get_args(kind)[0])
        return {"type": "array", "items": marked(type_schema(item), markers)}
    if isinstance(kind, type) and issubclass(kind, Struct):
        return model_schema(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"type": "string", "enum": [member.value for member in kind]}
    raise TypeError(f"no schema for {kind}")


def marked(schema: Schema, markers: tuple[Marker, ...]) -> Schema:
    """A schema with the markers applied; rules keep their order, which decides what users read."""
    rules = []
    for marker in markers:
        match marker:
            case Doc(text):
                schema["description"] = described(text)
            case Keywords(values):
                schema.update(values)
            case Rule(expression, message):
                rules.append({"rule": expression, "message": message})
            case Embedded(struct):
                schema = {"$ref": f"{REFERENCES}{struct}"} | _said_of(schema)
            case Presence() | Key():
                pass
    if rules:
        schema["x-kubernetes-validations"] = rules
    return schema


def _said_of(schema: Schema) -> Schema:
    return {key: value for key, value in schema.items() if key != "type"}


def described(text: str) -> str:
    """Text as it stands in the code, to paragraphs of one line each."""
    paragraphs = textwrap.dedent(text).strip().split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _column(column: Column) -> dict[str, str]:
    return {"name": column.name, "type": column.kind, "jsonPath": column.path}
