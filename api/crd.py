"""Models to CustomResourceDefinitions.

The schema is structural (apiextensions.k8s.io/v1) and says what the models say, in the same
order of rules. Nothing here depends on time or environment: the same models always give the
same definition.
"""

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Any, get_args, get_origin

from api import wire
from api.schema import Doc, Keywords, Marker, ModelField, Presence, Rule, fields_of, unwrap

Schema = dict[str, Any]

_SCALARS: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
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


@dataclass(frozen=True, slots=True)
class Column:
    """A column of `kubectl get`; `kind` is string, date, integer, number or boolean."""

    name: str
    path: str
    kind: str = "string"


AGE = Column("Age", ".metadata.creationTimestamp", "date")


def condition_column(condition: str) -> Column:
    """The status of a condition, under the name of its type."""
    return Column(str(condition), f'.status.conditions[?(@.type=="{condition}")].status')


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A cluster-scoped kind with a status, as the API server shall serve it."""

    model: type
    """Its class name is the kind."""
    group: str
    version: str
    plural: str
    columns: tuple[Column, ...]
    annotations: Mapping[str, str]

    @property
    def name(self) -> str:
        """Name of the CustomResourceDefinition."""
        return f"{self.plural}.{self.group}"


def definition(resource: Resource) -> dict[str, Any]:
    """The CustomResourceDefinition of a kind, as plain JSON."""
    kind = resource.model.__name__
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": resource.name, "annotations": dict(resource.annotations)},
        "spec": {
            "group": resource.group,
            "names": {
                "kind": kind,
                "listKind": f"{kind}List",
                "plural": resource.plural,
                "singular": kind.lower(),
            },
            "scope": "Cluster",
            "versions": [
                {
                    "name": resource.version,
                    "served": True,
                    "storage": True,
                    "additionalPrinterColumns": [_column(column) for column in resource.columns],
                    "schema": {"openAPIV3Schema": root_schema(resource.model)},
                    "subresources": {"status": {}},
                }
            ],
        },
    }


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
        "properties": {field.key: field_schema(field) for field in fields},
    }
    if required := sorted(field.key for field in fields if field.required):
        schema["required"] = required
    return schema


def field_schema(field: ModelField) -> Schema:
    """The schema of a field: its type's, and over it what the field itself says."""
    schema = marked(type_schema(field.kind), field.markers)
    if Presence.DEFAULTED in field.markers:
        schema["default"] = wire.plain(field.default)
    return schema


def type_schema(kind: Any) -> Schema:
    """The schema of a bare type. Raises TypeError for a type that no model may use."""
    if kind in _SCALARS:
        return dict(_SCALARS[kind])
    if get_origin(kind) is tuple:
        item, markers = unwrap(get_args(kind)[0])
        return {"type": "array", "items": marked(type_schema(item), markers)}
    if is_dataclass(kind) and isinstance(kind, type):
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
            case Presence():
                pass
    if rules:
        schema["x-kubernetes-validations"] = rules
    return schema


def described(text: str) -> str:
    """Text as it stands in the code, to paragraphs of one line each."""
    paragraphs = textwrap.dedent(text).strip().split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _column(column: Column) -> dict[str, str]:
    return {"name": column.name, "type": column.kind, "jsonPath": column.path}
