"""Where the objects of a kind live in the API, as discovery says."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from api.objects import GVK, gvk_of
from olm_runtime.kube.errors import InvalidError


class Resource(NamedTuple):
    """What discovery says of a kind: where its objects live."""

    gvk: GVK
    plural: str
    namespaced: bool

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The URL path of a collection, an object or a subresource."""
        scope = f"/namespaces/{namespace}" if self.namespaced and namespace else ""
        parts = (self.plural, name, subresource)
        return root_of(self.gvk) + scope + "".join(f"/{part}" for part in parts if part)

    def home(self, namespace: str, name: str) -> str:
        """The URL path of the collection that an object is in.

        Raises InvalidError when the kind needs a namespace and none is given: the server would
        only say that it knows no such address.
        """
        if self.namespaced and not namespace:
            raise InvalidError(f'{self.gvk.kind} "{name}" names no namespace, and its kind has one')
        return self.path(namespace)


_OF_EVERY_SERVER = {
    # apiVersion: kinds with a namespace, and those without
    "v1": ("ConfigMap Secret Service ServiceAccount", "Namespace"),
    "apps/v1": ("Deployment", ""),
    "rbac.authorization.k8s.io/v1": ("Role RoleBinding", "ClusterRole ClusterRoleBinding"),
    "apiextensions.k8s.io/v1": ("", "CustomResourceDefinition"),
}


def of_every_server() -> dict[str, dict[str, Resource]]:
    """Resources by `apiVersion` and kind that whoever asks but a few times need not ask for."""
    return {
        version: {
            **{kind: _regular(version, kind, namespaced=True) for kind in namespaced.split()},
            **{kind: _regular(version, kind, namespaced=False) for kind in others.split()},
        }
        for version, (namespaced, others) in _OF_EVERY_SERVER.items()
    }


def _regular(api_version: str, kind: str, *, namespaced: bool) -> Resource:
    gvk = gvk_of({"apiVersion": api_version, "kind": kind})
    return Resource(gvk, f"{kind.lower()}s", namespaced)


def root_of(gvk: GVK) -> str:
    """The URL path of a group and version."""
    return f"/apis/{gvk.api_version}" if gvk.group else f"/api/{gvk.version}"


def api_version_of(path: str) -> str:
    """The `apiVersion` that a URL path belongs to."""
    parts = path.split("/")
    return "/".join(parts[2:4]) if parts[1] == "apis" else parts[2]


def parse_resources(gvk: GVK, listed: Mapping[str, Any]) -> dict[str, Resource]:
    """Resources by kind, from an APIResourceList; subresources are left out."""
    return {
        entry["kind"]: Resource(
            GVK(gvk.group, gvk.version, entry["kind"]), entry["name"], entry["namespaced"]
        )
        for entry in listed.get("resources") or ()
        if "/" not in entry["name"]
    }


def parse_groups(listed: Mapping[str, Any]) -> list[tuple[Resource, frozenset[str]]]:
    """All resources with their verbs, from an APIGroupDiscoveryList; subresources are left out.

    Each once, in the version that its group prefers of those that have it.
    """
    found: dict[tuple[str, str], tuple[Resource, frozenset[str]]] = {}
    for group in listed.get("items") or ():
        name = str((group.get("metadata") or {}).get("name") or "")
        for version in group.get("versions") or ():
            for resource, verbs in _of_version(name, version):
                found.setdefault((name, resource.plural), (resource, verbs))
    return list(found.values())


def _of_version(
    group: str, version: Mapping[str, Any]
) -> Iterator[tuple[Resource, frozenset[str]]]:
    for entry in version.get("resources") or ():
        kind = (entry.get("responseKind") or {}).get("kind") or ""
        gvk = GVK(group, str(version["version"]), str(kind))
        namespaced = entry.get("scope") == "Namespaced"
        yield Resource(gvk, entry["resource"], namespaced), frozenset(entry.get("verbs") or ())
