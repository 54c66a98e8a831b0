"""Deployments of an operator, as they are applied."""

from typing import Any

from api.objects import KubeObject
from olm_classic.csv.deployments import deployments_of
from olm_classic.csv.installation import installation

HASH = "olm.deployment-spec-hash"


def csv(**container: Any) -> KubeObject:
    pod = {
        "metadata": {"labels": {"app": "x"}, "annotations": {"own": "1", "shared": "pod"}},
        "spec": {
            "containers": [{"name": "manager", "image": "i", **container}],
            "initContainers": [{"name": "first", "image": "i"}],
        },
    }
    deployment = {
        "name": "manager",
        "label": {"team": "a"},
        "spec": {"selector": {"matchLabels": {"app": "x"}}, "template": pod},
    }
    return {
        "metadata": {
            "name": "op.v1",
            "namespace": "ns",
            "uid": "u",
            "annotations": {"shared": "csv", "olm.targetNamespaces": ""},
        },
        "spec": {"install": {"strategy": "deployment", "spec": {"deployments": [deployment]}}},
    }


def only(*arguments: Any, **more: Any) -> KubeObject:
    [made] = deployments_of(*arguments, **more)
    return made


def test_it_says_whose_it_is() -> None:
    made = only(csv())
    meta = made["metadata"]
    assert (meta["name"], meta["namespace"]) == ("manager", "ns")
    assert {key: meta["labels"][key] for key in ("team", "olm.owner", "olm.managed")} == {
        "team": "a",
        "olm.owner": "op.v1",
        "olm.managed": "true",
    }
    [reference] = meta["ownerReferences"]
    assert (reference["name"], reference["uid"], reference["controller"]) == ("op.v1", "u", False)
    assert made["spec"]["revisionHistoryLimit"] == 1


def test_its_pods_have_the_annotations_of_their_owner_over_their_own() -> None:
    carried = only(csv())["spec"]["template"]["metadata"]["annotations"]
    assert carried == {"own": "1", "shared": "csv", "olm.targetNamespaces": ""}


def test_containers_but_no_init_containers_know_their_condition_whatever_anybody_set() -> None:
    set_by_author = [{"name": "OPERATOR_CONDITION_NAME", "value": "mine"}, {"name": "A"}]
    config = {"env": [{"name": "OPERATOR_CONDITION_NAME", "value": "user's"}]}
    for given in (None, config):
        pod = only(csv(env=set_by_author), config=given)["spec"]["template"]["spec"]
        [container] = pod["containers"]
        found = [e["value"] for e in container["env"] if e["name"] == "OPERATOR_CONDITION_NAME"]
        assert found == ["op.v1"]
        assert "env" not in pod["initContainers"][0]


def test_a_changed_config_or_proxy_is_another_hash_and_the_same_input_the_same() -> None:
    variable = {"name": "HTTPS_PROXY", "value": "http://proxy"}
    hashes = [
        only(csv())["metadata"]["labels"][HASH],
        only(csv(), config={"nodeSelector": {"a": "b"}})["metadata"]["labels"][HASH],
        only(csv(), proxy=[variable])["metadata"]["labels"][HASH],
    ]
    assert len(set(hashes)) == len(hashes)
    assert only(csv())["metadata"]["labels"][HASH] == hashes[0]


def test_one_that_is_applied_and_available_is_healthy() -> None:
    operator = csv()
    live = only(operator)
    live["status"] = {"conditions": [{"type": "Available", "status": "True"}]}
    annotations = operator["metadata"]["annotations"]
    assert installation(deployments_of(operator), {"manager": live}, annotations).is_healthy
    assert csv() == operator, "what is given is not changed"
