"""A Subscription's config over a Deployment, where the documents and upstream differ."""

from copy import deepcopy
from typing import Any

import pytest

from olm_classic.csv.deployment_config import configured
from olm_classic.dialect import Dialect

NODES: dict[str, Any] = {
    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{}]}
}
PODS: dict[str, Any] = {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone"}]}


def deployment(container: dict[str, Any] | None = None, **pod: Any) -> dict[str, Any]:
    spec = {"containers": [{"name": "c", **(container or {})}], **pod}
    return {"metadata": {"name": "d"}, "spec": {"template": {"spec": spec}}}


def pod_of(result: dict[str, Any]) -> dict[str, Any]:
    pod: dict[str, Any] = result["spec"]["template"]["spec"]
    return pod


def test_the_given_deployment_stays_as_it_is() -> None:
    given = deployment({"env": [{"name": "A"}]}, nodeSelector={"a": "b"})
    before = deepcopy(given)
    config = {"env": [{"name": "A", "value": "1"}], "nodeSelector": {}, "annotations": {"a": "b"}}
    assert configured(given, config) != before
    assert given == before


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ([], ["https://p"]),
        ([{"name": "https_proxy"}], ["https://p", None]),
        ([{"name": "NO_PROXY"}], ["own", None]),
    ],
)
def test_the_cluster_proxy_counts_unless_the_user_speaks_of_one(
    env: list[dict[str, str]], expected: list[str | None]
) -> None:
    own = deployment({"env": [{"name": "HTTPS_PROXY", "value": "own"}]})
    proxy = [{"name": "HTTP_PROXY"}, {"name": "HTTPS_PROXY", "value": "https://p"}]
    [container] = pod_of(configured(own, {"env": env}, proxy))["containers"]
    assert [variable.get("value") for variable in container["env"]] == expected


@pytest.mark.parametrize(
    ("dialect", "path"), [(Dialect.DOCUMENTS, "/new"), (Dialect.UPSTREAM, "/old")]
)
def test_upstream_loses_what_would_replace_a_mount_after_an_added_one(
    dialect: Dialect, path: str
) -> None:
    given = deployment({"volumeMounts": [{"name": "a", "mountPath": "/old"}]})
    added, replacing = {"name": "b", "mountPath": "/b"}, {"name": "a", "mountPath": "/new"}
    config = {"volumeMounts": [added, replacing]}
    [container] = pod_of(configured(given, config, dialect=dialect))["containers"]
    assert container["volumeMounts"] == [{"name": "a", "mountPath": path}, added]


@pytest.mark.parametrize(
    ("given", "dialect", "expected"),
    [
        (None, Dialect.UPSTREAM, {"nodeAffinity": NODES, "podAntiAffinity": PODS}),
        ({}, Dialect.UPSTREAM, None),
        ({"nodeAffinity": {}}, Dialect.UPSTREAM, {"podAntiAffinity": PODS}),
        ({"podAntiAffinity": {}}, Dialect.DOCUMENTS, {"nodeAffinity": NODES}),
        ({"podAntiAffinity": {}}, Dialect.UPSTREAM, None),
        ({"nodeAffinity": {}, "podAntiAffinity": {}}, Dialect.DOCUMENTS, None),
    ],
)
def test_affinity_is_replaced_by_parts(given: Any, dialect: Dialect, expected: Any) -> None:
    own = deployment(affinity={"nodeAffinity": NODES, "podAntiAffinity": PODS})
    result = configured(own, {"affinity": given}, dialect=dialect)
    assert pod_of(result).get("affinity") == expected


def test_empty_resources_clear_those_of_the_container() -> None:
    given = deployment({"resources": {"limits": {"cpu": "1"}}})
    assert pod_of(configured(given, {}))["containers"] == pod_of(given)["containers"]
    [container] = pod_of(configured(given, {"resources": {}}))["containers"]
    assert container["resources"] == {}
