"""What a request asks for, read from its method and path as API servers read them. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "HEAD": "get"}
_TRUE = frozenset({"true", "1", "t", "T", "TRUE", "True"})


@dataclass(frozen=True, slots=True)
class Attributes:
    """A verb on a path, or, if `resource` is set, on a resource."""

    verb: str
    path: str
    group: str = ""
    version: str = ""
    namespace: str = ""
    resource: str = ""
    name: str = ""
    subresource: str = ""

    def reviewed(self) -> Mapping[str, Any]:
        """The fields of a SubjectAccessReview."""
        if not self.resource:
            return {"nonResourceAttributes": {"path": self.path, "verb": self.verb}}
        fields = ("verb", "group", "version", "namespace", "resource", "subresource", "name")
        return {"resourceAttributes": {field: getattr(self, field) for field in fields}}

    def refusal(self, user: str, reason: str = "") -> str:
        """The answer to somebody who may not do it, in the API server's words."""
        detail = f": {reason}" if reason else ""
        if not self.resource:
            return f'forbidden: User "{user}" cannot {self.verb} path "{self.path}"{detail}'
        resource = f"{self.resource}/{self.subresource}" if self.subresource else self.resource
        scope = f'in the namespace "{self.namespace}"' if self.namespace else "at the cluster scope"
        named = f' "{self.name}"' if self.name else ""
        return (
            f"{self.resource}.{self.group}{named} is forbidden: "
            f'User "{user}" cannot {self.verb} resource "{resource}" '
            f'in API group "{self.group}" {scope}{detail}'
        )


def attributes_of(method: str, path: str, query: bytes) -> Attributes:
    """What a request asks for."""
    parts = [part for part in path.split("/") if part]
    if len(parts) < 4 or parts[0] != "apis":
        return Attributes(method.lower(), path)
    group, version, *rest = parts[1:]
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2:
        namespace, rest = rest[1], rest[2:]
    resource, name, subresource = (*rest, "", "")[:3]
    return Attributes(
        verb=_verb(method, name, query),
        path=path,
        group=group,
        version=version,
        namespace=namespace,
        resource=resource,
        name=name,
        subresource=subresource,
    )


def _verb(method: str, name: str, query: bytes) -> str:
    if method == "DELETE":
        return "delete" if name else "deletecollection"
    if method not in ("GET", "HEAD"):
        return _VERBS.get(method, method.lower())
    watched = parse_qs(query.decode("latin-1")).get("watch", [""])[-1] in _TRUE
    return "get" if name else "watch" if watched else "list"
