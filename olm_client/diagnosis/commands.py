"""The commands that mend things, as a person would type them. Pure."""

import re
from collections.abc import Collection, Iterable, Sequence

import orjson

from api.objects import GVK, KubeObject, key_of, name_of, namespace_of
from api.olm.v1 import names

_PLAIN_GROUPS = frozenset(
    {
        "",
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "apiregistration.k8s.io",
        "apps",
        "batch",
        "coordination.k8s.io",
        "policy",
        "rbac.authorization.k8s.io",
        names.GROUP,
    }
)
"""Groups whose kinds everybody writes without the group."""
_COMMAND = re.compile(r"(?:kubectl|olm) [^;()]+")
EACH_UP_TO = 5
"""Objects for which a command is written each; for more there is one that finds them."""


def resource_of(kind: GVK) -> str:
    """A kind as kubectl takes it."""
    name = kind.kind.lower()
    return name if kind.group in _PLAIN_GROUPS else f"{name}.{kind.group}"


def place_of(obj: KubeObject) -> str:
    """The option for an object's namespace, empty for one without."""
    return f" --namespace {namespace_of(obj)}" if namespace_of(obj) else ""


def delete(obj: KubeObject) -> str:
    """Deletes an object."""
    return f"kubectl delete {resource_of(key_of(obj).gvk)} {name_of(obj)}{place_of(obj)}"


def patch(obj: KubeObject, merged: object) -> str:
    """Merges something into an object."""
    what = f"{resource_of(key_of(obj).gvk)} {name_of(obj)}{place_of(obj)}"
    return f"kubectl patch {what} --type=merge --patch '{_json(merged)}'"


def json_patch(obj: KubeObject, operations: str) -> str:
    """Changes an object by JSON patch; `operations` may have `$(commands)` in it."""
    what = f"{resource_of(key_of(obj).gvk)} {name_of(obj)}{place_of(obj)}"
    quoted = operations.replace('"', '\\"')
    return f'kubectl patch {what} --type=json --patch "{quoted}"'


def without_finalizers(objects: Sequence[KubeObject], dead: Collection[str]) -> tuple[str, ...]:
    """Takes finalizers off objects of one kind that are being deleted; others stay."""
    if len(objects) <= EACH_UP_TO:
        return tuple(_without(obj, dead) for obj in objects)
    first = objects[0]
    resource = resource_of(key_of(first).gvk)
    clear = _json({"metadata": {"finalizers": _left(first, dead)}})
    place = ' --namespace "$namespace"' if namespace_of(first) else ""
    field = "{{.metadata.namespace}} " if namespace_of(first) else ""
    variables = "namespace name" if namespace_of(first) else "name"
    template = (
        "{{range .items}}{{if .metadata.deletionTimestamp}}"
        f'{field}{{{{.metadata.name}}}}{{{{"\\n"}}}}'
        "{{end}}{{end}}"
    )
    everywhere = " --all-namespaces" if namespace_of(first) else ""
    listed = f"kubectl get {resource}{everywhere} --output=go-template='{template}'"
    patched = f"kubectl patch {resource} \"$name\"{place} --type=merge --patch '{clear}'"
    return (f"{listed} | while read -r {variables}; do {patched}; done",)


def _without(obj: KubeObject, dead: Collection[str]) -> str:
    return patch(obj, {"metadata": {"finalizers": _left(obj, dead)}})


def _left(obj: KubeObject, dead: Collection[str]) -> list[str] | None:
    finalizers: Iterable[str] = (obj.get("metadata") or {}).get("finalizers") or ()
    return [each for each in finalizers if each not in dead] or None


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


def commands_in(text: str) -> tuple[str, ...]:
    """The commands that a hint of a condition names."""
    return tuple(found.strip().rstrip(".,") for found in _COMMAND.findall(text))
