"""What the chart renders, read from its snapshots (tests/integration/test_chart.py renders them).

Each rule is asked of every set of values.
"""

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

import catalogd.http.exposition
import operator_controller.exposition
from api.objects import KubeObject
from catalogd.metrics import Metrics as CatalogdMetrics
from catalogd.settings import parse_settings as parse_catalogd
from config.chart import OLM_V1, value_rows
from console.flags import parse_settings as parse_console
from e2e.olm.chart import CHART, SNAPSHOTS, VALUE_SETS
from olm_catalogs.io.processes import PARSING_AT_ONCE, PROCESSES_AT_ONCE
from olm_catalogs.job import Job
from olm_runtime.cli.values import parse_size
from olm_runtime.images.limits import MIB
from olm_runtime.metrics.exposition import written
from olm_runtime.registry.cluster_pulls import INJECTED
from operator_controller.io.bundles import READING_AT_ONCE
from operator_controller.metrics import Metrics, Readings
from operator_controller.settings import parse_settings as parse_operator_controller

RBAC = Path(__file__).parents[3] / "config" / "rbac"
PARSERS: dict[str, Callable[[list[str]], Any]] = {
    "catalogd": parse_catalogd,
    "operator-controller": parse_operator_controller,
}
ROLES = ("Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding")

sets = pytest.mark.parametrize("values", VALUE_SETS)
pods = pytest.mark.parametrize(
    ("values", "component"), [(v, c) for v in VALUE_SETS for c in OLM_V1.components]
)


@cache
def objects(values: str) -> tuple[KubeObject, ...]:
    text = (SNAPSHOTS / f"{values}.yaml").read_text()
    return tuple(filter(None, yaml.safe_load_all(text)))


def of_kind(values: str, *kinds: str) -> list[KubeObject]:
    return [obj for obj in objects(values) if obj["kind"] in kinds]


def deployment(values: str, component: str) -> KubeObject:
    name = f"{component}-controller-manager"
    [found] = [d for d in of_kind(values, "Deployment") if d["metadata"]["name"] == name]
    return found


def container(values: str, component: str) -> KubeObject:
    [only] = deployment(values, component)["spec"]["template"]["spec"]["containers"]
    return dict(only)


@sets
def test_every_set_has_a_snapshot_and_no_object_twice(values: str) -> None:
    named = [
        (o["kind"], o["metadata"].get("namespace"), o["metadata"]["name"]) for o in objects(values)
    ]
    assert len(named) == len(set(named)) > 20


@pods
def test_the_programs_take_their_arguments(values: str, component: str) -> None:
    settings = PARSERS[component](container(values, component)["args"])
    assert settings.leader_elect
    namespace = deployment(values, component)["metadata"]["namespace"]
    assert settings.system_namespace == namespace


def test_values_reach_the_programs() -> None:
    controller = parse_operator_controller(container("everything", "operator-controller")["args"])
    assert controller.allow_controller_identity
    assert (controller.gates["BoxcutterRuntime"], controller.gates["PreflightPermissions"]) == (
        True,
        False,
    )
    assert controller.limits.layers == 128
    assert controller.global_pull_secret == ("shared", "pull-secret")
    assert controller.certificate_lifetime.days == 30
    catalogs = parse_catalogd(container("everything", "catalogd")["args"])
    assert (catalogs.gc_interval, catalogs.pull_cas_dir) == (3600.0, Path("/var/ca-certs"))
    environment = {e["name"]: e["value"] for e in container("everything", "catalogd")["env"]}
    assert environment["HTTPS_PROXY"] == "http://proxy.example.com:3128"
    assert ".svc" in environment["NO_PROXY"].split(",")


@pods
def test_pods_are_restricted_and_write_only_to_their_volumes(values: str, component: str) -> None:
    pod = deployment(values, component)["spec"]["template"]["spec"]
    assert pod["securityContext"] == {
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    manager = container(values, component)
    assert manager["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    assert volumes.keys() == {mount["name"] for mount in manager["volumeMounts"]}
    for mount in manager["volumeMounts"]:
        assert ("emptyDir" in volumes[mount["name"]]) is not mount.get("readOnly", False)


SERVING, WAITING = 256 * MIB, 32 * MIB
"""What a program takes at work, and a process of catalogd that waits for a registry."""


@sets
def test_what_catalogd_may_take_to_unpack_fits_into_its_memory(values: str) -> None:
    limits = container(values, "catalogd")["resources"]["limits"]
    settings = parse_catalogd(container(values, "catalogd")["args"])
    job = Job(
        catalog="c",
        reference="r",
        cache_dir="",
        limits=settings.limits,
        document_bytes=settings.document_bytes,
    )
    waiting = (PROCESSES_AT_ONCE - PARSING_AT_ONCE) * WAITING
    assert parse_size(limits["memory"]) >= SERVING + waiting + PARSING_AT_ONCE * job.memory


def test_the_largest_bundle_fits_into_operator_controllers_memory() -> None:
    manager = container("default", "operator-controller")
    room = parse_size(manager["resources"]["limits"]["memory"]) - SERVING
    bundle = parse_operator_controller(manager["args"]).limits.total_bytes
    assert room >= READING_AT_ONCE * 40 * bundle


@pods
def test_credentials_are_written_to_memory_only(values: str, component: str) -> None:
    """Pull credentials are a file below /tmp (olm_runtime/registry/pull_secrets.py)."""
    volumes = deployment(values, component)["spec"]["template"]["spec"]["volumes"]
    [mount] = [m for m in container(values, component)["volumeMounts"] if m["mountPath"] == "/tmp"]
    [volume] = [v for v in volumes if v["name"] == mount["name"]]
    assert volume["emptyDir"]["medium"] == "Memory"
    assert volume["emptyDir"]["sizeLimit"]


@pods
def test_paths_of_arguments_are_mounted(values: str, component: str) -> None:
    manager = container(values, component)
    mounts = [Path(mount["mountPath"]) for mount in manager["volumeMounts"]]
    values_given = (argument.partition("=")[2] for argument in manager["args"])
    paths = [Path(value) for value in values_given if value.startswith("/")]
    assert paths
    for path in paths:
        assert any(path.is_relative_to(mount) for mount in mounts), path


@sets
def test_selectors_choose_their_pods_and_ports_exist(values: str) -> None:
    for component in OLM_V1.components:
        spec = deployment(values, component)["spec"]
        labels = spec["template"]["metadata"]["labels"].items()
        assert spec["selector"]["matchLabels"].items() <= labels
        ports = {port["containerPort"] for port in container(values, component)["ports"]}
        [service] = [s for s in of_kind(values, "Service") if component in s["metadata"]["name"]]
        assert service["spec"]["selector"].items() <= labels
        served = {port["targetPort"] for port in service["spec"]["ports"]}
        assert served == ports - {8081}
        for policy in of_kind(values, "NetworkPolicy"):
            if policy["metadata"]["name"].startswith(component):
                allowed = {p["port"] for rule in policy["spec"]["ingress"] for p in rule["ports"]}
                assert allowed == served


UPSTREAM_NAMES = {
    "Deployment": {"catalogd-controller-manager", "operator-controller-controller-manager"},
    "ServiceAccount": {"catalogd-controller-manager", "operator-controller-controller-manager"},
    "Service": {"catalogd-service", "operator-controller-service"},
    "NetworkPolicy": {
        "default-deny-all-traffic",
        "catalogd-controller-manager",
        "operator-controller-controller-manager",
    },
    "PodDisruptionBudget": {
        "catalogd-controller-manager",
        "operator-controller-controller-manager",
    },
    "MutatingWebhookConfiguration": {"catalogd-mutating-webhook-configuration"},
}


@pytest.mark.parametrize(("kind", "wanted"), UPSTREAM_NAMES.items())
def test_names_are_those_of_upstreams_manifests(kind: str, wanted: set[str]) -> None:
    assert {obj["metadata"]["name"] for obj in of_kind("default", kind)} == wanted


@sets
def test_rights_are_those_that_demo_and_tests_run_with(values: str) -> None:
    """And no more, but for what a value asks for by name."""
    known = {
        (obj["kind"], obj["metadata"]["name"]): obj.get("rules") or obj["roleRef"]
        for component in OLM_V1.components
        for obj in yaml.safe_load_all((RBAC / f"{component}.yaml").read_text())
        if obj["kind"] in ROLES
    }
    rendered = {
        (obj["kind"], obj["metadata"]["name"]): obj.get("rules") or obj["roleRef"]
        for obj in of_kind(values, *ROLES)
    }
    assert known.items() <= rendered.items()
    extra = {name for _, name in rendered.keys() - known.keys()}
    assert extra == EXTRA_RIGHTS[values]


WEBHOOK_CA, PULL_SECRET = "operator-controller-webhook-ca", "olmv1-global-pull-secret"
CATALOGD_SECRETS = "catalogd-pull-secrets"
READERS = {f"{component}-metrics-readers" for component in OLM_V1.components}
EXTRA_RIGHTS = {
    "default": {WEBHOOK_CA},
    "openshift": {PULL_SECRET, CATALOGD_SECRETS, *READERS},
    "release": set(),
    "cert-manager": set(),
    "given-certificates": set(),
    "everything": {
        WEBHOOK_CA,
        PULL_SECRET,
        CATALOGD_SECRETS,
        "operator-controller-cluster-admin-rolebinding",
        *READERS,
    },
}


@sets
def test_catalogd_reads_no_secret_of_operator_controllers_namespace_but_those_named(
    values: str,
) -> None:
    namespaces = {c: deployment(values, c)["metadata"]["namespace"] for c in OLM_V1.components}
    named = set(yaml.safe_load((CHART / "values.yaml").read_text())["imagePullSecrets"])
    for file in VALUE_SETS[values]:
        named |= set(yaml.safe_load((CHART / file).read_text()).get("imagePullSecrets") or ())
    for role in of_kind(values, "Role"):
        if role["metadata"]["namespace"] != namespaces[
            "operator-controller"
        ] or "catalogd-controller-manager" not in subjects_of(values, role):
            continue
        for rule in role["rules"]:
            if "secrets" in rule["resources"]:
                assert rule["verbs"] == ["get"]
                assert set(rule["resourceNames"]) == named
    cluster_wide = [
        r for r in of_kind(values, "ClusterRole") if "catalogd" in r["metadata"]["name"]
    ]
    assert not [
        rule for r in cluster_wide for rule in r["rules"] if "secrets" in rule.get("resources", ())
    ]


def subjects_of(values: str, role: KubeObject) -> set[str]:
    """The accounts that have a role."""
    return {
        subject["name"]
        for binding in of_kind(values, "RoleBinding")
        if binding["metadata"]["namespace"] == role["metadata"]["namespace"]
        and binding["roleRef"]["name"] == role["metadata"]["name"]
        for subject in binding["subjects"]
    }


@sets
def test_nobody_is_given_everything_unasked(values: str) -> None:
    admins = [
        obj["metadata"]["name"]
        for obj in of_kind(values, "ClusterRoleBinding")
        if obj["roleRef"]["name"] == "cluster-admin"
    ]
    asked = values == "everything"
    assert admins == (["operator-controller-cluster-admin-rolebinding"] if asked else [])
    for role in of_kind(values, "Role", "ClusterRole"):
        for rule in role["rules"]:
            assert "*" not in [*rule["verbs"], *rule.get("resources", ())]


@sets
def test_no_single_pod_has_a_budget(values: str) -> None:
    """It would hold up every drain of its node."""
    several = {
        d["metadata"]["name"] for d in of_kind(values, "Deployment") if d["spec"]["replicas"] > 1
    }
    assert {b["metadata"]["name"] for b in of_kind(values, "PodDisruptionBudget")} == several


@sets
def test_traffic_is_denied_but_for_what_is_named(values: str) -> None:
    """To the pods of the release; those of others in its namespace are not its business."""
    policies = of_kind(values, "NetworkPolicy")
    for policy in policies:
        assert policy["spec"]["podSelector"]
    denying = [p for p in policies if not {"ingress", "egress"} & p["spec"].keys()]
    for component in OLM_V1.components:
        found = deployment(values, component)
        labels = found["spec"]["template"]["metadata"]["labels"]
        denied = [
            p
            for p in denying
            if p["metadata"]["namespace"] == found["metadata"]["namespace"]
            and selects(p["spec"]["podSelector"], labels)
        ]
        assert len(denied) == (0 if values == "given-certificates" else 1)
    for policy in policies:
        assert {} not in [*policy["spec"].get("ingress", ()), *policy["spec"].get("egress", ())]


def selects(selector: KubeObject, labels: dict[str, str]) -> bool:
    """Whether a label selector of equalities and `In` chooses these labels."""
    exact = selector.get("matchLabels", {}).items() <= labels.items()
    return exact and all(
        labels.get(each["key"]) in each["values"] for each in selector.get("matchExpressions", ())
    )


def test_openshift_injects_cas_where_both_programs_read_them() -> None:
    made = [o["metadata"] for o in of_kind("openshift", "ConfigMap")]
    key, _, value = INJECTED.partition("=")
    asked = {m["namespace"] for m in made if m["labels"].get(key) == value}
    assert asked == {deployment("openshift", c)["metadata"]["namespace"] for c in OLM_V1.components}


def test_openshift_has_its_own_namespaces_and_catalogs() -> None:
    assert deployment("openshift", "catalogd")["metadata"]["namespace"] == "openshift-catalogd"
    address = parse_catalogd(container("openshift", "catalogd")["args"]).external_address
    assert address == "catalogd-service.openshift-catalogd.svc"
    catalogs = {
        c["metadata"]["name"]: c["spec"]["priority"] for c in of_kind("openshift", "ClusterCatalog")
    }
    assert catalogs == {
        "openshift-redhat-operators": -100,
        "openshift-certified-operators": -200,
        "openshift-redhat-marketplace": -300,
        "openshift-community-operators": -400,
    }


def test_alerts_and_dashboard_use_metrics_that_there_are() -> None:
    reported = written(
        [
            *catalogd.http.exposition.families(CatalogdMetrics()),
            *operator_controller.exposition.families(Metrics(), Readings()),
        ]
    )
    families = set(re.findall(r"# TYPE (\S+)", reported.decode()))
    expressions = [*alert_expressions(), *dashboard_expressions()]
    assert len(expressions) > 20
    for expression in expressions:
        named = re.findall(r"\b((?:catalogd|operator_controller|controller_runtime|workqueue"
                           r"|rest_client|leader_election)_\w+)", expression)  # fmt: skip
        assert named, expression
        for name in named:
            assert re.sub(r"_(bucket|count|sum)$", "", name) in families, expression


def alert_expressions() -> Iterator[str]:
    [rules] = of_kind("everything", "PrometheusRule")
    for group in rules["spec"]["groups"]:
        yield from (rule["expr"] for rule in group["rules"])


def dashboard_expressions() -> Iterator[str]:
    dashboard = json.loads((CHART / "dashboards" / "olmv1.json").read_text())
    for panel in dashboard["panels"]:
        yield from (target["expr"] for target in panel["targets"])


VALUES = (CHART / "values.yaml").read_text()
SCHEMA = json.loads((CHART / "values.schema.json").read_text())


def leaves(values: Any, schema: Any, path: str = "") -> Iterator[tuple[str, bool]]:
    """Paths of values, and whether the schema knows them; a map of any keys is one value."""
    for key, value in values.items():
        properties = schema.get("properties", {})
        here = f"{path}.{key}".removeprefix(".")
        if isinstance(value, dict) and properties.get(key, {}).get("properties") and value:
            yield from leaves(value, properties[key], here)
        else:
            yield here, key in properties


def test_every_value_is_described_and_checked() -> None:
    found = dict(leaves(yaml.safe_load(VALUES), SCHEMA))
    described = {path for path, _, _ in value_rows(VALUES)}
    assert described == set(found)
    assert all(found.values())


def open_objects(schema: Any) -> Iterator[Any]:
    if isinstance(schema, dict):
        if "properties" in schema and schema.get("additionalProperties") is not False:
            yield schema
        for part in schema.values():
            yield from open_objects(part)


def test_misspelt_values_are_refused_at_every_depth() -> None:
    assert list(open_objects(SCHEMA)) == []


def test_the_console_is_off_by_default() -> None:
    assert [d for d in of_kind("default", "Deployment") if d["metadata"]["name"] == "console"] == []


def test_the_console_has_no_right_and_no_token() -> None:
    [found] = [d for d in of_kind("everything", "Deployment") if d["metadata"]["name"] == "console"]
    pod = found["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is False
    projected = [each["projected"]["sources"] for each in pod["volumes"] if "projected" in each]
    assert not [source for each in projected for source in each if "serviceAccountToken" in source]
    subjects = [
        subject["name"]
        for binding in of_kind("everything", "RoleBinding", "ClusterRoleBinding")
        for subject in binding["subjects"]
    ]
    assert pod["serviceAccountName"] == "console"
    assert "console" not in subjects
    [container] = pod["containers"]
    settings = parse_console([*container["args"], "--server=https://api"])
    assert settings.hosts == {"console.example.com:8443"}
    assert settings.oidc is not None
    assert settings.oidc.issuer == "https://login.example.com"
    mounts = {each["mountPath"] for each in container["volumeMounts"]}
    trusted = {each["name"]: each.get("value", "") for each in container["env"]}["SSL_CERT_DIR"]
    assert {trusted.rpartition(":")[2], "/etc/containers"} <= mounts
    for file in (settings.oidc.secret_file, settings.oidc.ca_file):
        assert str(file.parent if file else None) in mounts
    assert settings.oidc.scopes == ("openid", "offline_access")
    mounted = {mount["mountPath"] for mount in container["volumeMounts"]}
    assert {str(settings.tls_cert.parent), str(settings.tls_key.parent)} <= mounted
