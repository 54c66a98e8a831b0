"""What the chart of OLM Classic renders, read from its snapshots.

Each rule is asked of every set of values.
"""

from functools import cache
from pathlib import Path

import pytest
import yaml

from api.objects import KubeObject, name_of
from config import chart
from e2e.olm.chart import CLASSIC
from olm_classic.catalog_operator.settings import (
    BundleUnpack,
    CatalogServing,
    Settings,
    parse_settings,
)
from olm_classic.dialect import Dialect

ROLES = ("Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding")
USERS = {"aggregate-olm-edit", "aggregate-olm-view"}

sets = pytest.mark.parametrize("values", CLASSIC.sets)


@cache
def objects(values: str) -> tuple[KubeObject, ...]:
    text = (CLASSIC.snapshots / f"{values}.yaml").read_text()
    return tuple(filter(None, yaml.safe_load_all(text)))


def of_kind(values: str, *kinds: str) -> dict[str, KubeObject]:
    return {name_of(obj): obj for obj in objects(values) if obj["kind"] in kinds}


def pod(values: str) -> KubeObject:
    [found] = of_kind(values, "Deployment").values()
    spec: KubeObject = found["spec"]["template"]["spec"]
    return spec


def container(values: str) -> KubeObject:
    [only] = pod(values)["containers"]
    return dict(only)


POD_IP = "10.244.0.7"
"""What the pod is given of itself."""


def settings(values: str, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for each in container(values)["env"]:
        monkeypatch.setenv(each["name"], each.get("value", POD_IP))
    return parse_settings(container(values)["args"])


@sets
def test_the_program_takes_its_arguments(values: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read = settings(values, monkeypatch)
    assert read.leader_elect
    assert read.system_namespace == "olm"
    wanted = {"openshift": "openshift-marketplace", "everything": "catalogs"}
    assert read.global_namespace == wanted.get(values, "olm")
    assert read.metrics is not None
    assert (read.metrics.tls_cert is None) == (values == "default")


def test_values_reach_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    read = settings("everything", monkeypatch)
    assert read.catalog_serving is CatalogServing.SHARED
    assert read.bundle_unpack is BundleUnpack.JOB
    assert read.dialect is Dialect.UPSTREAM
    assert read.install_plan_retry_seconds == 300.0
    assert read.global_pull_secret == ("shared", "pull-secret")
    assert read.pods.images.opm == "registry.example.com/opm:v1"
    assert read.default_catalogs == Path("/etc/olm/default-catalogs")
    assert "HTTPS_PROXY" in {each["name"] for each in container("everything")["env"]}


@sets
def test_the_pod_is_restricted_and_writes_only_to_its_volumes(values: str) -> None:
    assert pod(values)["securityContext"] == {
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    only = container(values)
    assert only["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    volumes = {volume["name"]: volume for volume in pod(values)["volumes"]}
    assert volumes.keys() == {mount["name"] for mount in only["volumeMounts"]}
    for mount in only["volumeMounts"]:
        assert ("emptyDir" in volumes[mount["name"]]) is not mount.get("readOnly", False)


@sets
def test_paths_of_arguments_are_mounted(values: str) -> None:
    only = container(values)
    mounts = [Path(mount["mountPath"]) for mount in only["volumeMounts"]]
    given = (argument.partition("=")[2] for argument in only["args"])
    for path in (Path(value) for value in given if value.startswith("/")):
        assert any(path.is_relative_to(mount) for mount in mounts), path


@sets
def test_selectors_choose_the_pod_and_ports_exist(values: str) -> None:
    [deployment] = of_kind(values, "Deployment").values()
    labels = deployment["spec"]["template"]["metadata"]["labels"].items()
    ports = {port["name"] for port in container(values)["ports"]}
    for service in of_kind(values, "Service").values():
        assert service["spec"]["selector"].items() <= labels
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports
    for policy in of_kind(values, "NetworkPolicy").values():
        assert policy["spec"]["podSelector"]["matchLabels"].items() <= labels
        assert {} not in [*policy["spec"]["ingress"], *policy["spec"]["egress"]]


@sets
def test_rights_are_those_that_tests_run_with(values: str) -> None:
    """And no more, but for those of users and of who reads metrics."""
    [component] = chart.CLASSIC.components
    text = (chart.CLASSIC.rbac / f"{component}.yaml").read_text()
    known = {
        (obj["kind"], name_of(obj)): obj.get("rules") or obj["roleRef"]
        for obj in yaml.safe_load_all(text)
        if obj["kind"] in ROLES
    }
    rendered = {
        (obj["kind"], name_of(obj)): obj.get("rules") or obj["roleRef"]
        for obj in objects(values)
        if obj["kind"] in ROLES
    }
    assert known.items() <= rendered.items()
    readers = set() if values == "default" else {"catalog-operator-metrics-readers"}
    assert {name for _, name in rendered.keys() - known.keys()} == USERS | readers


def test_users_have_the_rights_that_upstream_gives_them() -> None:
    roles = of_kind("default", "ClusterRole")
    edit, view = (roles[name] for name in sorted(USERS))
    aggregated = "rbac.authorization.k8s.io/aggregate-to-"
    for role, levels in ((edit, ("admin", "edit")), (view, ("admin", "edit", "view"))):
        labels = role["metadata"]["labels"]
        assert [key for key in labels if key.startswith(aggregated)] == [
            f"{aggregated}{level}" for level in levels
        ]
    verbs = {
        (resource, verb)
        for rule in edit["rules"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    assert ("subscriptions", "create") in verbs
    assert ("installplans", "update") not in verbs, "a plan is approved by who may do more"
    assert not {verb for rule in view["rules"] for verb in rule["verbs"]} - {"get", "list", "watch"}


def test_default_groups_are_those_of_the_documents() -> None:
    found = {
        name: (group["metadata"]["namespace"], group["spec"])
        for name, group in of_kind("default", "OperatorGroup").items()
    }
    assert found == {
        "global-operators": ("operators", {}),
        "olm-operators": ("olm", {"targetNamespaces": ["olm"]}),
    }


def test_default_catalogs_are_manifests_and_operator_hub_is_made_for_them() -> None:
    data = of_kind("everything", "ConfigMap")["olm-default-catalogs"]["data"]
    [catalog] = (yaml.safe_load(text) for text in data.values())
    assert name_of(catalog) == "community"
    assert catalog["spec"]["updateStrategy"] == {"registryPoll": {"interval": "10m"}}
    assert "cluster" in of_kind("everything", "OperatorHub")
    assert not of_kind("default", "OperatorHub")


@sets
def test_a_single_pod_has_no_budget(values: str) -> None:
    several = {n for n, d in of_kind(values, "Deployment").items() if d["spec"]["replicas"] > 1}
    assert set(of_kind(values, "PodDisruptionBudget")) == several


def test_alerts_are_about_metrics_that_there_are() -> None:
    [rules] = of_kind("everything", "PrometheusRule").values()
    expressions = [rule["expr"] for group in rules["spec"]["groups"] for rule in group["rules"]]
    for name, expression in zip(
        ("installplan_warnings_total", "catalogsource_ready"), expressions, strict=True
    ):
        assert name in expression
