"""Whether a definition of a cluster has the fields that this version knows. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from api.objects import GVK, KubeObject
from api.olm.v1.crds import definitions
from olm_client.diagnosis.facts import crd_name


def missing_fields(live: KubeObject, kind: GVK) -> list[str]:
    """The fields, as paths such as `.spec.suspend`, that a live definition lacks."""
    ours = next(d for d in definitions().values() if d["metadata"]["name"] == crd_name(kind))
    return [*_missing(_schema(ours, kind), _schema(live, kind), "")]


def _schema(definition: Mapping[str, Any], kind: GVK) -> Mapping[str, Any]:
    versions = (definition.get("spec") or {}).get("versions") or ()
    found: Mapping[str, Any] = next(
        (each for each in versions if each.get("name") == kind.version), {}
    )
    schema: Mapping[str, Any] = (found.get("schema") or {}).get("openAPIV3Schema") or {}
    return schema


def _missing(ours: Mapping[str, Any], theirs: Mapping[str, Any], path: str) -> Iterator[str]:
    known = theirs.get("properties") or {}
    for name, schema in (ours.get("properties") or {}).items():
        if name in known:
            yield from _missing(schema, known[name], f"{path}.{name}")
        elif not theirs.get("x-kubernetes-preserve-unknown-fields"):
            yield f"{path}.{name}"
    if "items" in ours and "items" in theirs:
        yield from _missing(ours["items"], theirs["items"], f"{path}[]")
