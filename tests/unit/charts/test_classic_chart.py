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
from olm_classic.olm_operator.settings import parse_settings as parse_olm_operator
from olm_classic.package_server.settings import OwnCertificate
from olm_classic.package_server.settings import parse_settings as parse_package_server

ROLES = ("Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding")
USERS = {"aggregate-olm-edit", "aggregate-olm-view"}

CATALOGS, OPERATOR, SERVER = chart.CLASSIC.components

sets = pytest.mark.parametrize("values", CLASSIC.sets)
pods = pytest.mark.parametrize(
    ("values", "component"), [(v, c) for v in CLASSIC.sets for c in chart.CLASSIC.components]
)


@cache
def objects(values: str) -> tuple[KubeObject, ...]:
    text = (CLASSIC.snapshots / f"{values}.yaml").read_text()
    return tuple(filter(None, yaml.safe_load_all(text)))


def of_kind(values: str, *kinds: str) -> dict[str, KubeObject]:
    return {name_of(obj): obj for obj in objects(values) if obj["kind"] in kinds}


def pod(values: str, component: str) -> KubeObject:
    spec: KubeObject = of_kind(values, "Deployment")[component]["spec"]["template"]["spec"]
    return spec


def container(values: str, component: str = CATALOGS) -> KubeObject:
    [only] = pod(values, component)["containers"]
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
    assert read.catalogd_ca_secret == ("olmv1-system", "catalogd-service-cert")
    assert read.bundle_unpack is BundleUnpack.JOB
    assert read.dialect is Dialect.UPSTREAM
    assert read.install_plan_retry_seconds == 300.0
    assert read.global_pull_secret == ("shared", "pull-secret")
    assert read.pods.images.opm == "registry.example.com/opm:v1"
    assert read.default_catalogs == Path("/etc/olm/default-catalogs")
    assert "HTTPS_PROXY" in {each["name"] for each in container("everything")["env"]}


def test_olm_operator_takes_its_arguments() -> None:
    read = parse_olm_operator(container("everything", OPERATOR)["args"])
    assert read.leader_elect
    assert read.system_namespace == "olm"
    assert read.resync_seconds == 600.0
    assert read.protected_namespaces == {"console", "openshift"}
    assert read.metrics is not None
    assert read.metrics.tls_cert == Path("/var/certs/tls.crt")
    openshift = parse_olm_operator(container("openshift", OPERATOR)["args"])
    assert openshift.status_name == "operator-lifecycle-manager"
    assert openshift.package_server_name == "operator-lifecycle-manager-packageserver"


def test_package_server_takes_its_arguments() -> None:
    read = parse_package_server(container("everything", SERVER)["args"])
    assert (read.system_namespace, read.global_namespace) == ("olm", "catalogs")
    assert read.sync_seconds == 3600.0
    assert read.address == ("", 5443)
    assert isinstance(read.certificate, OwnCertificate)
    [service] = [s for n, s in of_kind("everything", "APIService").items()
                 if n == read.certificate.api_service]  # fmt: skip
    assert service["spec"]["service"]["name"] == read.certificate.service


@pods
def test_pods_are_restricted_and_write_only_to_their_volumes(values: str, component: str) -> None:
    assert pod(values, component)["securityContext"] == {
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    only = container(values, component)
    assert only["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    volumes = {volume["name"]: volume for volume in pod(values, component)["volumes"]}
    assert volumes.keys() == {mount["name"] for mount in only["volumeMounts"]}
    for mount in only["volumeMounts"]:
        assert ("emptyDir" in volumes[mount["name"]]) is not mount.get("readOnly", False)


@pods
def test_paths_of_arguments_are_mounted(values: str, component: str) -> None:
    only = container(values, component)
    mounts = [Path(mount["mountPath"]) for mount in only["volumeMounts"]]
    given = (argument.partition("=")[2] for argument in only["args"])
    for path in (Path(value) for value in given if value.startswith("/")):
        assert any(path.is_relative_to(mount) for mount in mounts), path


@pods
def test_selectors_choose_their_pods_and_ports_exist(values: str, component: str) -> None:
    deployment = of_kind(values, "Deployment")[component]
    labels = deployment["spec"]["template"]["metadata"]["labels"].items()
    ports = {port["name"] for port in container(values, component)["ports"]}
    [service] = [s for n, s in of_kind(values, "Service").items() if n.startswith(component)]
    assert service["spec"]["selector"].items() <= labels
    assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports
    policy = of_kind(values, "NetworkPolicy")[component]["spec"]
    assert policy["podSelector"]["matchLabels"].items() <= labels
    named = {each["port"] for rule in policy["ingress"] for each in rule["ports"]}
    assert {port for port in named if isinstance(port, str)} <= ports
    assert {} not in [*policy["ingress"], *policy["egress"]]


@sets
def test_rights_are_those_that_tests_run_with(values: str) -> None:
    """And no more, but for those of users and of who reads metrics."""
    known = {
        (obj["kind"], name_of(obj)): obj.get("rules") or obj["roleRef"]
        for component in chart.CLASSIC.components
        for obj in yaml.safe_load_all((chart.CLASSIC.rbac / f"{component}.yaml").read_text())
        if obj["kind"] in ROLES
    }
    rendered = {
        (obj["kind"], name_of(obj)): obj.get("rules") or obj["roleRef"]
        for obj in objects(values)
        if obj["kind"] in ROLES
    }
    assert known.items() <= rendered.items()
    readers = {f"{program}-metrics-readers" for program in (CATALOGS, OPERATOR)}
    readers = set() if values == "default" else readers
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


def test_the_namespace_of_operators_is_held_to_the_baseline() -> None:
    labels = of_kind("default", "Namespace")["operators"]["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "baseline"


def test_default_catalogs_are_manifests_and_operator_hub_is_left_to_catalog_operator() -> None:
    data = of_kind("everything", "ConfigMap")["olm-default-catalogs"]["data"]
    [catalog] = (yaml.safe_load(text) for text in data.values())
    assert name_of(catalog) == "community"
    assert catalog["spec"]["updateStrategy"] == {"registryPoll": {"interval": "10m"}}
    assert not of_kind("everything", "OperatorHub")


@sets
def test_a_single_pod_has_no_budget(values: str) -> None:
    several = {n for n, d in of_kind(values, "Deployment").items() if d["spec"]["replicas"] > 1}
    assert set(of_kind(values, "PodDisruptionBudget")) == several


def test_alerts_are_about_metrics_that_there_are() -> None:
    [rules] = of_kind("everything", "PrometheusRule").values()
    expressions = [rule["expr"] for group in rules["spec"]["groups"] for rule in group["rules"]]
    for name, expression in zip(
        ("installplan_warnings_total", "csv_abnormal", "csv_abnormal", "catalogsource_ready"),
        expressions,
        strict=True,
    ):
        assert name in expression
