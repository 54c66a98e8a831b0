"""What aggregated discovery says."""

from typing import Any

from api.objects import GVK
from olm_runtime.kube.discovery import Resource, parse_groups


def resource(kind: str, plural: str, *verbs: str, scope: str = "Namespaced") -> dict[str, Any]:
    subresources = [{"subresource": "status", "verbs": ["get", "patch"]}]
    return {
        "resource": plural,
        "responseKind": {"group": "", "version": "", "kind": kind},
        "scope": scope,
        "verbs": list(verbs),
        "subresources": subresources,
    }


def test_a_resource_is_listed_once_in_the_version_that_its_group_prefers() -> None:
    widgets = resource("Widget", "widgets", "list", "delete")
    cluster = resource("Room", "rooms", "list", scope="Cluster")
    versions = [
        {"version": "v2", "freshness": "Current", "resources": [widgets]},
        {"version": "v1", "freshness": "Current", "resources": [widgets, cluster]},
        {"version": "v0", "freshness": "Stale"},
    ]
    listed = {
        "kind": "APIGroupDiscoveryList",
        "items": [
            {"metadata": {"name": "example.com"}, "versions": versions},
            {"metadata": {}, "versions": [{"version": "v1", "resources": [widgets]}]},
        ],
    }
    assert parse_groups(listed) == [
        (
            Resource(GVK("example.com", "v2", "Widget"), "widgets", True),
            frozenset({"list", "delete"}),
        ),
        (Resource(GVK("example.com", "v1", "Room"), "rooms", False), frozenset({"list"})),
        (Resource(GVK("", "v1", "Widget"), "widgets", True), frozenset({"list", "delete"})),
    ]
