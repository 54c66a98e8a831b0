"""Requirements of a ClusterServiceVersion, where the visible goldens have no case."""

from typing import Any

import pytest

from api.objects import GVK
from olm_classic.csv.requirements import Cluster, are_met, requirements


def csv(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "op.v2", "namespace": "ns"}, "spec": spec}


def crd(name: str, *alongside: str) -> dict[str, Any]:
    key = "operatorframework.io/installed-alongside-"
    conditions = [{"type": t, "status": "True"} for t in ("Established", "NamesAccepted")]
    return {
        "metadata": {
            "name": name,
            "uid": "1",
            "annotations": {f"{key}{i}": value for i, value in enumerate(alongside)},
        },
        "spec": {"versions": [{"name": "v1", "served": True}]},
        "status": {"conditions": conditions},
    }


@pytest.mark.parametrize(
    ("server", "minimum", "message"),
    [
        (None, "1.20.0", "Server version discovery error"),
        ("main", "1.20.0", "Server version parsing error"),
        ("v1.20.0", "1.20", "CSV version parsing error"),
        (
            "v1.30.2-eks-1",
            "1.30.3",
            "CSV version requirement not met: minKubeVersion (1.30.3) > server version (1.30.2)",
        ),
        (
            "v1.30.2-eks-1",
            "1.30.2",
            "CSV minKubeVersion (1.30.2) less than server version (v1.30.2-eks-1)",
        ),
    ],
)
def test_the_version_of_the_server(server: str | None, minimum: str, message: str) -> None:
    [found] = requirements(csv(minKubeVersion=minimum), Cluster(server))
    assert found["message"] == message
    assert are_met([found]) == ("less than" in message)


@pytest.mark.parametrize(
    ("alongside", "message"),
    [
        ((), "CRD is present and Established condition is true"),
        (("ns/op.v1",), "CRD installed alongside other CSV(s): op.v1"),
        (("ns/op.v1", "ns/op.v0"), "CRD installed alongside other CSV(s): op.v0, op.v1"),
        (("ns/op.v1", "ns/op.v2"), "CRD is present and Established condition is true"),
        (("other/op.v1", "ns/stranger"), "CRD is present and Established condition is true"),
    ],
)
def test_an_owned_definition_has_to_be_of_its_own_plan(
    alongside: tuple[str, ...], message: str
) -> None:
    owner = csv(customresourcedefinitions={"owned": [{"name": "as.x", "version": "v1"}]})
    cluster = Cluster("v1.30.0", crds={"as.x": crd("as.x", *alongside)})
    [found] = requirements(owner, cluster, ["op.v1", "op.v0"])
    assert found["message"] == message


def test_a_required_api_service_has_to_be_available_and_to_serve_the_kind() -> None:
    description = {"group": "x.com", "version": "v1", "kind": "X"}
    needing = csv(apiservicedefinitions={"required": [description]})
    service = {
        "metadata": {"uid": "1"},
        "status": {"conditions": [{"type": "Available", "status": "True"}]},
    }
    kinds = {GVK("x.com", "v1", "X")}
    for cluster, status in (
        (Cluster("v1.30.0", api_services={"v1.x.com": service}, kinds=kinds), "Present"),
        (Cluster("v1.30.0", api_services={"v1.x.com": service}), "NotPresent"),
        (Cluster("v1.30.0", kinds=kinds), "NotPresent"),
    ):
        [found] = requirements(needing, cluster)
        assert (found["name"], found["status"]) == ("v1.x.com", status)
