"""The cluster roles of a group."""

from api.objects import GVK
from olm_classic.operator_groups.cluster_roles import cluster_roles

APIS = (GVK("b.example.com", "v1", "B"), GVK("a.example.com", "v1", "A"))


def test_each_level_aggregates_the_roles_of_every_api() -> None:
    roles = cluster_roles("ns", "og", APIS)
    assert [role["metadata"]["name"].split("-")[0] for role in roles] == [
        "olm.og.og.admin",
        "olm.og.og.edit",
        "olm.og.og.view",
    ]
    for role, level in zip(roles, ("admin", "edit", "view"), strict=True):
        assert role["metadata"]["labels"]["olm.owner.kind"] == "OperatorGroup"
        keys = [[*each["matchLabels"]] for each in role["aggregationRule"]["clusterRoleSelectors"]]
        assert keys == sorted(keys)
        assert len(keys) == len(APIS)
        assert all(key.endswith(f"-{level}") for [key] in keys)


def test_without_apis_there_is_nothing_to_aggregate() -> None:
    for role in cluster_roles("ns", "og", ()):
        assert "aggregationRule" not in role
        assert role["rules"] == []
