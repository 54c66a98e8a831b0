"""A cluster is installed by its first release, and restored as that has it."""

from pathlib import Path
from typing import Any

import pytest

from api.objects import KubeObject
from cluster_version.names import FEATURE_GATE, FEATURE_SET
from e2e.harness.controlplane import wait_until
from e2e.harness.errors import ProcessFailed
from e2e.olm.cluster_updates import CLUSTER_VERSION, OPERATORS, ClusterUpdates
from e2e.olm.feature_gates import FeatureGates
from e2e.olm.releases import COMPONENTS, NAMESPACE, PROFILE, ReleaseSpec, config_map

pytestmark = pytest.mark.integration

FIRST = ReleaseSpec("1.0.0")
CONFIG_MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
DEPLOYMENT = (
    "/apis/apps/v1/namespaces/openshift-cluster-version/deployments/cluster-version-operator"
)
TOUCHED = "gamma-before"
"""What tests delete to see that there was a round."""
CREATE_ONLY = {"release.openshift.io/create-only": "true"}


def test_everything_is_made_and_then_level(cluster: ClusterUpdates) -> None:
    """Scenarios 1, 2 and 4: operators are seen early, and each must be available."""
    cluster.api.delete(CLUSTER_VERSION)
    cluster.start(FIRST)
    missed = "waiting for the ClusterVersion version"
    wait_until(lambda: missed in cluster.log.read_text(), what="it is said what is missed")
    cluster.install()
    wait_until(lambda: len(cluster.api.list(OPERATORS)) == len(COMPONENTS), what="the operators")
    missing = "Cluster operators alpha, beta, gamma are not available"
    # A definition that is not served yet may be reported, too, until the next round.
    wait_until(lambda: cluster.condition("Failing")[::2] == ("True", missing), what=missing)
    names = {each["metadata"]["name"] for each in cluster.api.list(CONFIG_MAPS)}
    assert {f"{component}-before" for component in COMPONENTS} <= names
    [entry] = cluster.version["status"]["history"]
    assert (entry["state"], entry["version"]) == ("Partial", "1.0.0")
    cluster.report("1.0.0")
    cluster.wait_level("1.0.0")
    assert cluster.condition("Available") == ("True", "", "Done applying 1.0.0")
    [entry] = cluster.version["status"]["history"]
    assert entry["state"] == "Completed"


def test_an_own_release_that_cannot_be_read_ends_the_operator(
    cluster: ClusterUpdates, tmp_path: Path
) -> None:
    def start() -> None:
        """It may end before it is ready, or just afterwards."""
        cluster.start(FIRST, f"--payload-override={tmp_path}")
        assert cluster.program is not None
        cluster.program.wait_ready(lambda: False)

    with pytest.raises(ProcessFailed, match="ended with code 1"):
        start()
    text = cluster.log.read_text()
    assert f"error: stat {tmp_path}/manifests: no such file or directory\nhint: --payload" in text


def test_what_a_release_waits_for_is_seen_at_once(cluster: ClusterUpdates) -> None:
    """After a failure the next round would be more than a minute away."""
    cluster.start(FIRST, "--round-interval=10m")
    cluster.wait_condition("Failing", "True", "not available")
    cluster.report("1.0.0")
    cluster.wait_level("1.0.0")


def test_a_degraded_component_is_reported_once_all_is_installed(cluster: ClusterUpdates) -> None:
    """Scenario 3."""
    cluster.start(FIRST)
    cluster.report("1.0.0", ["beta", "gamma"])
    cluster.report("1.0.0", ["alpha"], Degraded="True")
    cluster.wait_condition("Available", "True", "Done applying 1.0.0")
    cluster.wait_condition("Failing", "True", "Cluster operator alpha is degraded")


def test_what_is_changed_by_hand_returns(level: ClusterUpdates) -> None:
    """Scenarios 5 to 8."""
    changed = f"{CONFIG_MAPS}/alpha-before"
    level.api.patch(changed, {"data": {"version": "x", "more": "y"}})
    level.api.patch(DEPLOYMENT, {"spec": {"replicas": 3}})
    level.api.delete(f"{CONFIG_MAPS}/beta-after")

    def returned() -> bool:
        found = level.api.get(changed) or {}
        deployment: Any = level.api.get(DEPLOYMENT)
        return (
            found["data"] == {"version": "1.0.0", "more": "y"}
            and deployment["spec"]["replicas"] == 1
            and level.api.get(f"{CONFIG_MAPS}/beta-after") is not None
        )

    wait_until(returned, what="everything is as the release has it")
    before: Any = level.api.get(DEPLOYMENT)
    level.api.delete(DEPLOYMENT)

    def is_made_anew() -> bool:
        found: Any = level.api.get(DEPLOYMENT)
        return found is not None and found["metadata"]["uid"] != before["metadata"]["uid"]

    wait_until(is_made_anew, what="the Deployment that was deleted")
    made: Any = level.api.get(DEPLOYMENT)
    assert made["spec"]["template"] == before["spec"]["template"]


def test_a_level_cluster_is_not_written(level: ClusterUpdates) -> None:
    """Scenario 58: neither rounds nor edits without effect nor a restart write anything."""

    def versions() -> list[str]:
        listed = (CONFIG_MAPS, OPERATORS, DEPLOYMENT.rpartition("/")[0])
        found = (each["metadata"] for path in listed for each in level.api.list(path))
        return [meta["resourceVersion"] for meta in found if meta["name"] != TOUCHED]

    before, entries = versions(), level.version["status"]["history"]
    level.api.patch(CLUSTER_VERSION, {"metadata": {"labels": {"a": "b"}}})
    level.api.patch(CLUSTER_VERSION, {"spec": {"channel": ""}})
    generation = level.version["metadata"]["generation"]
    wait_until(
        lambda: level.version["status"]["observedGeneration"] == generation, what="it is seen"
    )
    level.kill()
    level.restart()
    level.wait_level("1.0.0")
    pause_of_rounds(level)
    assert versions() == before
    assert level.version["status"]["history"] == entries


def pause_of_rounds(cluster: ClusterUpdates) -> None:
    """Until two more rounds were run: what is gone since has come back."""
    path = f"{CONFIG_MAPS}/{TOUCHED}"
    for _ in range(2):
        cluster.api.delete(path)
        wait_until(lambda: cluster.api.get(path) is not None, what="a round")


def test_what_is_only_created_is_left_alone(cluster: ClusterUpdates) -> None:
    """Scenario 10."""
    once = config_map("once", {"a": "1"}, **CREATE_ONLY)
    cluster.begin(ReleaseSpec("1.0.0", {"0000_20_alpha_02_once.yaml": once}))
    path = f"{CONFIG_MAPS}/once"
    cluster.api.patch(path, {"data": {"a": "2"}})
    pause_of_rounds(cluster)
    assert (cluster.api.get(path) or {})["data"] == {"a": "2"}
    cluster.api.delete(path)
    wait_until(lambda: cluster.api.get(path) is not None, what="it is made again")
    assert (cluster.api.get(path) or {})["data"] == {"a": "1"}


def test_what_is_not_for_the_cluster_is_not_made(cluster: ClusterUpdates) -> None:
    """Scenario 13."""

    def of(name: str, annotations: dict[str, str] | None) -> KubeObject:
        made = config_map(name, {})
        made["metadata"]["annotations"] = annotations
        return made

    others = {
        "profile": of("profile", {"include.release.openshift.io/other": "true"}),
        "set": of("set", {**PROFILE, "release.openshift.io/feature-set": "TechPreviewNoUpgrade"}),
        "bare": of("bare", None),
        "capability": of("capability", {**PROFILE, "capability.openshift.io/name": "Console"}),
    }
    extra = {f"0000_20_alpha_02_{name}.yaml": obj for name, obj in others.items()}
    cluster.api.patch(
        CLUSTER_VERSION, {"spec": {"capabilities": {"baselineCapabilitySet": "None"}}}
    )
    cluster.begin(ReleaseSpec("1.0.0", extra))
    names = {each["metadata"]["name"] for each in cluster.api.list(CONFIG_MAPS)}
    assert not names & {*others}
    wanted = {"spec": {"capabilities": {"additionalEnabledCapabilities": ["Console"]}}}
    cluster.api.patch(CLUSTER_VERSION, wanted)
    path = f"{CONFIG_MAPS}/capability"
    wait_until(lambda: cluster.api.get(path) is not None, what="the capability")
    cluster.api.patch(
        CLUSTER_VERSION, {"spec": {"capabilities": {"additionalEnabledCapabilities": []}}}
    )
    cluster.wait_condition("ImplicitlyEnabledCapabilities", "True", "Console")
    assert cluster.api.get(path) is not None


def test_features_of_the_cluster_say_which_manifests_are_for_it(
    cluster: ClusterUpdates, feature_gates: FeatureGates
) -> None:
    """Scenario 13: they are followed while the operator runs, and need not be there."""
    wanted = {
        "with": {FEATURE_GATE: "Alpha"},
        "without": {FEATURE_GATE: "-Alpha"},
        "default": {FEATURE_SET: "Default"},
        "preview": {FEATURE_SET: "TechPreviewNoUpgrade"},
    }
    gated = {
        f"0000_20_alpha_02_{name}.yaml": config_map(name, {}, **annotations)
        for name, annotations in wanted.items()
    }

    def made() -> set[str]:
        return {each["metadata"]["name"] for each in cluster.api.list(CONFIG_MAPS)} & {*wanted}

    def version_hash() -> str:
        return str(cluster.version["status"]["versionHash"])

    cluster.begin(ReleaseSpec("1.0.0", gated))
    assert made() == {"without", "default"}
    first = version_hash()
    feature_gates.set("TechPreviewNoUpgrade", {"1.0.0": ["Alpha"], "1.0.1": []})
    wait_until(lambda: made() == {*wanted}, what="what is for other features")
    wait_until(lambda: version_hash() != first, what="the features are seen")
    cluster.wait_level("1.0.0")
    feature_gates.set("", {"1.0.0": [], "1.0.1": ["Alpha"]})
    wait_until(lambda: version_hash() == first, what="the features are seen")
    for name in wanted:
        cluster.api.delete(f"{CONFIG_MAPS}/{name}")
    wait_until(lambda: made() == {"without", "default"}, what="what is for these features")
    cluster.wait_level("1.0.0")
    assert made() == {"without", "default"}


def test_an_override_leaves_an_object_to_somebody_else(level: ClusterUpdates) -> None:
    """Scenarios 11 and 12."""
    path = f"{CONFIG_MAPS}/alpha-before"
    override = {
        "kind": "ConfigMap",
        "group": "",
        "namespace": NAMESPACE,
        "name": "alpha-before",
        "unmanaged": True,
    }
    level.api.patch(CLUSTER_VERSION, {"spec": {"overrides": [override]}})
    wait_until(lambda: level.condition("Progressing")[0] == "False", what="the override is seen")
    overridden = "Disabling ownership via cluster version overrides prevents updates"
    level.wait_condition("Upgradeable", "False", overridden)
    level.api.patch(path, {"data": {"version": "x"}})
    pause_of_rounds(level)
    assert (level.api.get(path) or {})["data"]["version"] == "x"
    level.api.patch(CLUSTER_VERSION, {"spec": {"overrides": None}})
    wait_until(
        lambda: (level.api.get(path) or {})["data"]["version"] == "1.0.0", what="it is undone"
    )
    # Nor is anything said of gates: the release has no ConfigMap of them that could be missing.
    wait_until(
        lambda: level.condition("Upgradeable") == ("", "", ""), what="nothing speaks against it"
    )
