"""The chart as Helm renders it, and as a real API server takes it."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import yaml

from api.objects import KubeObject
from e2e.harness.controlplane import ControlPlane
from e2e.harness.errors import CommandFailed
from e2e.olm.chart import (
    CHART,
    CHARTS,
    CLASSIC,
    NAMESPACE,
    OLM_V1,
    RELEASE,
    UPDATE_SERVICE,
    ChartUnderTest,
    helm,
    rendered,
)

pytestmark = pytest.mark.integration

NAMESPACES = (
    "olmv1-system", "shared", "openshift-config", "openshift-catalogd",
    "olm", "operators", "global", "openshift-operators", "update-service",
)  # fmt: skip
"""In which the charts have objects."""
PLURALS = {
    "NetworkPolicy": "networkpolicies",
    "Ingress": "ingresses",
    "ClusterCatalog": "clustercatalogs",
}
"""Of kinds whose plural is not the name with an s."""

CLUSTER_SCOPED = {
    "Namespace", "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition",
    "MutatingWebhookConfiguration", "ClusterCatalog", "OperatorHub", "APIService",
}  # fmt: skip
OTHERS = ("cert-manager.io/", "monitoring.coreos.com/")
"""API groups of other projects, which this API server does not serve."""

sets = pytest.mark.parametrize(
    ("chart", "values"),
    [
        pytest.param(chart, values, id=f"{chart.name}: {values}")
        for chart in CHARTS
        for values in chart.sets
    ],
)


@sets
def test_snapshots_are_what_helm_renders(chart: ChartUnderTest, values: str) -> None:
    """`make chart` writes them anew."""
    assert chart.snapshot(values) == (chart.snapshots / f"{values}.yaml").read_text()


def test_what_holds_the_users_data_is_kept() -> None:
    """Deleting a CustomResourceDefinition deletes every extension."""
    retained = [
        obj["metadata"]["name"]
        for obj in all_documents(rendered("everything"))
        if obj["metadata"].get("annotations", {}).get("helm.sh/resource-policy") == "keep"
    ]
    assert sorted(retained) == [
        "clustercatalogs.olm.operatorframework.io",
        "clusterextensions.olm.operatorframework.io",
        "clusterobjectsets.olm.operatorframework.io",
        "mine",
    ]


def test_default_catalogs_are_those_of_the_values_files() -> None:
    """One of the same name in `catalogs` takes the place of a default one."""
    own = (
        "--set=catalogs[0].name=operatorhubio",
        "--set=catalogs[0].image=mirror.example.org/hub:v1",
    )
    asked = ("--set=defaultCatalogs.community=true", "--set=defaultCatalogs.redhat=true")
    found = {name: c["source"]["image"]["ref"] for name, c in catalogs(*asked).items()}
    assert len(found) == 5
    assert found["operatorhubio"] == "quay.io/operatorhubio/catalog:latest"
    assert catalogs(*asked, *own).keys() == found.keys()
    assert catalogs(*asked, *own)["operatorhubio"]["source"]["image"]["ref"].startswith("mirror")


def catalogs(*arguments: str) -> dict[str, Any]:
    """The specs of the ClusterCatalogs that values ask for, by name."""
    objects = all_documents(rendered("default", *arguments))
    return {o["metadata"]["name"]: o["spec"] for o in objects if o["kind"] == "ClusterCatalog"}


def test_before_the_kind_is_served_catalogs_are_hooks() -> None:
    asked = ("--set=defaultCatalogs.community=true",)
    text = helm("template", RELEASE, str(CHART), f"--namespace={NAMESPACE}", *asked)
    [made] = [obj for obj in all_documents(text) if obj["kind"] == "ClusterCatalog"]
    assert made["metadata"]["annotations"] == {
        "helm.sh/resource-policy": "keep",
        "helm.sh/hook": "post-install,post-upgrade",
        "meta.helm.sh/release-name": RELEASE,
        "meta.helm.sh/release-namespace": NAMESPACE,
    }


def test_hosts_can_be_excepted_from_a_proxy_that_is_not_the_charts() -> None:
    objects = all_documents(rendered("default", "--set=proxy.no=*"))
    pods = [obj["spec"]["template"]["spec"] for obj in objects if obj["kind"] == "Deployment"]
    environments = [
        {entry["name"]: entry["value"].split(",")[0] for entry in container["env"]}
        for pod in pods
        for container in pod["containers"]
    ]
    assert environments == [{"NO_PROXY": "*"}] * 2


class UniqueKeys(yaml.CSafeLoader):
    """Refuses a key that is given twice, of which Helm and the API server would take the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value]
        assert len(keys) == len(set(keys)), f"{keys} {node.start_mark}"
        return super().construct_mapping(node, deep)


@sets
def test_no_key_is_given_twice(chart: ChartUnderTest, values: str) -> None:
    assert all_documents(chart.rendered(values))


def all_documents(text: str) -> list[KubeObject]:
    return [obj for obj in yaml.load_all(text, UniqueKeys) if obj]


@sets
def test_helm_finds_nothing_to_complain_about(chart: ChartUnderTest, values: str) -> None:
    given = chart.values_arguments(values)
    assert "0 chart(s) failed" in helm("lint", "--strict", str(chart.folder), *given)


REFUSED = [
    (["--set=catalogd.replica=2"], "additional properties 'replica' not allowed"),
    (["--set=tls.provider=vault"], "value must be one of"),
    (["--set=image.digest=latest"], "does not match pattern"),
    (["--set=catalogd.namespace=elsewhere"], "tls.provider self keeps both certificates in one"),
    (
        ["--set=catalogd.namespace=elsewhere", "--set=tls.provider=cert-manager"],
        "needs tls.certManager.issuerRef",
    ),
    (["--set=tls.provider=secret"], "needs tls.caBundle"),
    (
        ["--set=registriesConf.content=x", "--set=registriesConf.configMap=y"],
        "exclude each other",
    ),
]
REFUSED_BY_CLASSIC = [
    (["--set=catalogOperator.catalogServing=cloud"], "value must be one of"),
    (["--set=packageServer.replica=2"], "additional properties 'replica' not allowed"),
    (
        ["--set=metrics.readers[0].name=a", "--set=metrics.readers[0].namespace=b"],
        "metrics.readers needs tls.secret",
    ),
]

REFUSED_BY_UPDATE_SERVICE = [
    (["--set=graphData.image="], "give one of graphData.image and graphData.volume"),
    (["--set=graphData.volume.emptyDir.medium=Memory"], "give one of graphData.image and"),
    (["--set=ingress.enabled=true"], "needs ingress.host"),
    (["--set=releases={quay}"], "does not match pattern"),
]


@pytest.mark.parametrize(
    ("chart", "arguments", "complaint"),
    [
        *((OLM_V1, *case) for case in REFUSED),
        *((CLASSIC, *case) for case in REFUSED_BY_CLASSIC),
        *((UPDATE_SERVICE, *case) for case in REFUSED_BY_UPDATE_SERVICE),
    ],
)
def test_values_that_cannot_be_meant_are_refused(
    chart: ChartUnderTest, arguments: list[str], complaint: str
) -> None:
    with pytest.raises(CommandFailed) as failed:
        chart.rendered(next(iter(chart.sets)), *arguments)
    assert complaint in failed.value.stderr


@pytest.fixture(scope="module")
def server(control_plane: ControlPlane) -> Iterator[httpx.Client]:
    """The API server, with the CRDs and the namespaces that are not the chart's."""
    config = CHART.parents[1] / "config"
    for folder in (config / "crd", config / "crd" / "classic"):
        control_plane.apply(folder)
    with control_plane.client() as client:
        for name in NAMESPACES:
            labels = {"pod-security.kubernetes.io/warn": "restricted"}
            body = {"metadata": {"name": name, "labels": labels}}
            client.post("/api/v1/namespaces", json=body)
        yield client


@pytest.fixture(scope="module")
def accepted() -> set[str]:
    """What the API server has taken."""
    return set()


@sets
def test_the_api_server_takes_every_object_without_a_warning(
    server: httpx.Client, accepted: set[str], chart: ChartUnderTest, values: str
) -> None:
    """As a dry run, with unknown fields refused, and pods judged by the restricted standard.

    Definitions are the same in all sets, and asked for once.
    """
    objects = all_documents(chart.rendered(values))
    taken = 0
    for obj in objects:
        if obj["apiVersion"].startswith(OTHERS):
            continue
        content = json.dumps(obj)
        taken += 1
        if content in accepted:
            continue
        answer = server.patch(
            object_path(obj),
            params={"dryRun": "All", "fieldManager": "test", "force": "true",
                    "fieldValidation": "Strict"},
            headers={"Content-Type": "application/apply-patch+yaml"},
            content=content,
        )  # fmt: skip
        assert answer.is_success, f"{obj['kind']} {obj['metadata']['name']}: {answer.text}"
        assert "warning" not in answer.headers, f"{obj['kind']}: {answer.headers['warning']}"
        accepted.add(content)
    assert taken > len(objects) / 2


def object_path(obj: KubeObject) -> str:
    version, kind = obj["apiVersion"], obj["kind"]
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    plural = PLURALS.get(kind, f"{kind.lower()}s")
    metadata = obj["metadata"]
    if kind not in CLUSTER_SCOPED:
        root = f"{root}/namespaces/{metadata['namespace']}"
    return f"{root}/{plural}/{metadata['name']}"
