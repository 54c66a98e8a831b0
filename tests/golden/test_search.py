"""What people type, and the package that they expect first, in a real catalog."""

import json
from pathlib import Path

import pytest

from olm_client.catalogs.ranking import ranked
from olm_client.catalogs.summarising import csv_metadata, summary_of
from olm_client.catalogs.summary import Summary
from olm_content.fbc.documents import parse

pytestmark = pytest.mark.corpus

EXPECTED = {
    "quay": "project-quay",
    "quay operator": "project-quay",
    "container registry": "project-quay",
    "schema registry": "apicurio-registry-3",
    "istio": "sailoperator",
    "service mesh": "sailoperator",
    "rabbitmq": "rabbitmq-cluster-operator",
    "message queue": "rabbitmq-cluster-operator",
    "messaging topology": "rabbitmq-messaging-topology-operator",
    "postgres": "alloydb-omni-operator",
    "sql editor": "libredb-studio-operator",
    "key value store": "infinispan",
    "data grid": "infinispan",
    "nfs": "nfs-provisioner-operator",
    "netapp": "trident-operator",
    "dell storage": "dell-csm-operator",
    "jupyter notebooks": "opendatahub-operator",
    "cost management": "koku-metrics-operator",
    "energy": "kepler-operator",
    "power consumption": "kepler-operator",
    "downscale": "kube-green",
    "wake on lan": "kubevirt-wol",
    "prometheus": "victoriametrics-operator",
    "monitoring": "victoriametrics-operator",
    "slurm": "slurm-operator",
    "api gateway": "layer7-operator",
    "apache camel": "openshift-integration-operator",
    "ecr": "ecr-secret-operator",
    "pull secrets": "ecr-secret-operator",
    "container security": "visionone-containersecurity",
    "network interface": "multi-nic-cni-operator",
    "cluster provisioning": "hive-operator",
    "ai remediation": "kubernaut-operator",
    "browser": "kubebrowser",
}


@pytest.fixture(scope="module")
def packages(corpus: Path) -> list[Summary]:
    found = []
    for folder in sorted((corpus / "catalog").iterdir()):
        blobs = parse((folder / "catalog.yaml").read_bytes(), path=folder.name)
        found.append(summary_of(folder.name, [json.loads(blob.raw) for blob in blobs]))
    return found


@pytest.mark.parametrize(("words", "expected"), EXPECTED.items())
def test_what_a_person_expects_comes_first(
    packages: list[Summary], words: str, expected: str
) -> None:
    found = ranked(((None, package) for package in packages), words.split())
    assert [package.name for _, package in found][:1] == [expected]


def test_bundles_that_hold_their_objects_say_the_same(corpus: Path) -> None:
    compared = 0
    for newer in sorted((corpus / "goldens" / "opm-render").glob("*.csv-metadata.json")):
        older = newer.with_name(newer.name.replace(".csv-metadata", ""))
        before, after = (csv_metadata(json.loads(file.read_text())) for file in (older, newer))
        for field in ("displayName", "description", "keywords", "provider", "annotations"):
            assert before.get(field) == after.get(field), (older.name, field)
        assert after.get("displayName")
        compared += 1
    assert compared >= 8
