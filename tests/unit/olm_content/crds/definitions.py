"""Small CustomResourceDefinitions for tests."""

from typing import Any

from api.objects import KubeObject

NAME = "samples.test.example.com"


def version(name: str, schema: dict[str, Any], *, served: bool = True) -> dict[str, Any]:
    return {
        "name": name,
        "served": served,
        "storage": False,
        "schema": {"openAPIV3Schema": schema},
    }


def definition(
    *versions: dict[str, Any],
    name: str = NAME,
    scope: str = "Namespaced",
    conversion: str = "None",
    stored: tuple[str, ...] = (),
) -> KubeObject:
    """A definition; the first version is the one that is stored."""
    first, *rest = versions
    crd: KubeObject = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name},
        "spec": {
            "group": name.partition(".")[2],
            "names": {"plural": name.partition(".")[0], "kind": "Sample"},
            "scope": scope,
            "versions": [{**first, "storage": True}, *rest],
            "conversion": {"strategy": conversion},
        },
    }
    if stored:
        crd["status"] = {"storedVersions": list(stored)}
    return crd


def with_field(schema: dict[str, Any], **root: Any) -> KubeObject:
    """A definition with one version, v1, whose spec has one field."""
    spec = {"type": "object", "properties": {"field": schema}}
    return definition(version("v1", {"type": "object", "properties": {"spec": spec}, **root}))
