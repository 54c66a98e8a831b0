"""What the chart of update-service renders, read from its snapshots."""

from functools import cache
from pathlib import Path

import pytest
import yaml

from api.objects import KubeObject, name_of
from cluster_version.update_service.counts import Counts, Looks
from cluster_version.update_service.exposition import families
from cluster_version.update_service.settings import parse_settings
from e2e.olm.chart import UPDATE_SERVICE
from olm_runtime.metrics.exposition import written

sets = pytest.mark.parametrize("values", UPDATE_SERVICE.sets)


@cache
def objects(values: str) -> tuple[KubeObject, ...]:
    text = (UPDATE_SERVICE.snapshots / f"{values}.yaml").read_text()
    return tuple(filter(None, yaml.safe_load_all(text)))


def the(values: str, kind: str) -> KubeObject:
    [only] = [obj for obj in objects(values) if obj["kind"] == kind]
    return only


def container(values: str) -> KubeObject:
    [only] = the(values, "Deployment")["spec"]["template"]["spec"]["containers"]
    return dict(only)


def test_the_program_takes_its_arguments() -> None:
    read = parse_settings(container("image")["args"])
    assert str(read.graph_data) == "registry.example.com/graph-data:latest"
    assert [each.name for each in read.releases] == [
        "registry.example.com/openshift/release-images"
    ]
    assert read.tls_cert is None


def test_values_reach_the_program() -> None:
    read = parse_settings(container("everything")["args"])
    assert read.graph_data == Path("/var/graph-data/current")
    assert len(read.releases) == 2
    assert read.poll_seconds == 60.0
    assert read.auth_file == Path("/var/pull-secret/.dockerconfigjson")
    assert read.cas_dir == Path("/var/ca-certs")
    assert read.tls_cert == Path("/var/certs/tls.crt")
    assert "HTTPS_PROXY" in {each["name"] for each in container("everything")["env"]}


@sets
def test_it_has_no_rights_and_writes_only_to_its_volumes(values: str) -> None:
    assert {"Role", "ClusterRole"}.isdisjoint(obj["kind"] for obj in objects(values))
    pod, only = the(values, "Deployment")["spec"]["template"]["spec"], container(values)
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"]
    assert only["securityContext"]["readOnlyRootFilesystem"]
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    assert volumes.keys() == {mount["name"] for mount in only["volumeMounts"]}
    for mount in only["volumeMounts"]:
        assert ("emptyDir" in volumes[mount["name"]]) is not mount.get("readOnly", False)


@sets
def test_paths_of_arguments_are_mounted(values: str) -> None:
    only = container(values)
    mounts = [Path(mount["mountPath"]) for mount in only["volumeMounts"]]
    read = parse_settings(only["args"])
    paths = (read.graph_data, read.cache_dir, read.auth_file, read.cas_dir, read.tls_cert)
    for path in paths:
        if isinstance(path, Path):
            assert any(path.is_relative_to(mount) for mount in mounts), path


@sets
def test_selectors_choose_their_pods_and_ports_exist(values: str) -> None:
    labels = the(values, "Deployment")["spec"]["template"]["metadata"]["labels"].items()
    ports = {port["name"] for port in container(values)["ports"]}
    service = the(values, "Service")["spec"]
    assert service["selector"].items() <= labels
    assert {port["targetPort"] for port in service["ports"]} <= ports
    policy = the(values, "NetworkPolicy")["spec"]
    assert policy["podSelector"]["matchLabels"].items() <= labels
    assert {each["port"] for rule in policy["ingress"] for each in rule["ports"]} <= ports


@sets
def test_a_single_pod_has_no_budget(values: str) -> None:
    budgets = [name_of(obj) for obj in objects(values) if obj["kind"] == "PodDisruptionBudget"]
    assert len(budgets) == (the(values, "Deployment")["spec"]["replicas"] > 1)


def test_clusters_outside_reach_the_prefix() -> None:
    [rule] = the("everything", "Ingress")["spec"]["rules"]
    read = parse_settings(container("everything")["args"])
    assert [path["path"] for path in rule["http"]["paths"]] == [read.prefix]


def test_alerts_are_about_metrics_that_there_are() -> None:
    metrics = written(families(Counts(), Looks(), 0)).decode()
    groups = the("everything", "PrometheusRule")["spec"]["groups"]
    [rule] = [rule for group in groups for rule in group["rules"]]
    assert rule["expr"].split()[2] in metrics
