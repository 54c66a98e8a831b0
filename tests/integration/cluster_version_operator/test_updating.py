"""A cluster is updated from one release to another."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from api.objects import KubeObject
from cluster_version.status.levels import CONFIG_MAP_NAME, Level, levels_of
from e2e.harness.controlplane import wait_until
from e2e.harness.images import build_image
from e2e.harness.registry import Registry
from e2e.olm.cluster_updates import CLUSTER_VERSION, ClusterUpdates
from e2e.olm.cluster_updates import NAMESPACE as OPERATOR
from e2e.olm.graph_server import GraphServer, graph_of, risk
from e2e.olm.releases import NAMESPACE, PROFILE, ReleaseSpec, config_map
from tests.integration.cluster_version_operator.signing import KEYS, sign
from tests.openpgp import Signer

pytestmark = pytest.mark.integration

CONFIG_MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
SECOND = ReleaseSpec("1.0.1")


@pytest.fixture
def trusting(cluster: ClusterUpdates, keys: KubeObject) -> ClusterUpdates:
    """A cluster with a release that trusts the signer."""
    cluster.begin(ReleaseSpec("1.0.0", {KEYS: keys}))
    return cluster


def versions(cluster: ClusterUpdates) -> dict[str, str]:
    """The release that each ConfigMap of the product is of."""
    found = cluster.api.list(CONFIG_MAPS)
    return {
        each["metadata"]["name"]: each["data"]["version"]
        for each in found
        if "version" in (each.get("data") or {})
    }


def history(cluster: ClusterUpdates) -> list[tuple[str, str, bool]]:
    entries = cluster.version["status"]["history"]
    return [(each["version"], each["state"], each["verified"]) for each in entries]


def levels(cluster: ClusterUpdates) -> Sequence[Level]:
    """How far the last update is, as the operator writes it."""
    found = cluster.api.get(f"/api/v1/namespaces/{OPERATOR}/configmaps/{CONFIG_MAP_NAME}")
    assert found is not None
    return levels_of(found, cluster.version["status"]["desired"]["image"])


def at_work(cluster: ClusterUpdates) -> list[str]:
    return [component for each in levels(cluster) for component in each.components]


def test_runlevels_wait_for_the_components_before_them(level: ClusterUpdates) -> None:
    """Scenarios 29, 30, 33, 34, 41, 43 and 44, in one update."""
    image = SECOND.publish(level.registry)
    level.ask(image=image)
    message = level.wait_condition("ReleaseAccepted", "False", "cannot be verified")
    assert image in message
    assert history(level) == [("1.0.0", "Completed", False)]
    assert set(versions(level).values()) == {"1.0.0"}
    level.ask(image=image, force=True)
    level.wait_condition("ReleaseAccepted", "True", "1.0.1")
    message = level.wait_condition("Progressing", "True", "waiting on alpha, beta")
    assert message.startswith("Working towards 1.0.1: ")
    found = versions(level)
    assert (found["alpha-before"], found["alpha-after"]) == ("1.0.1", "1.0.0")
    assert found["gamma-before"] == "1.0.0"
    wait_until(lambda: at_work(level) == ["alpha", "beta"], what="the runlevel in the progress")
    assert level.version["status"]["desired"]["version"] == "1.0.1"
    level.kill()
    level.start(SECOND, image=image)
    level.report("1.0.1", ["alpha"], Progressing="True")
    level.wait_condition("Progressing", "True", "waiting on beta")
    assert versions(level)["alpha-after"] == "1.0.1"
    assert versions(level)["gamma-before"] == "1.0.0"
    level.report("1.0.1", ["beta"])
    level.wait_condition("Progressing", "True", "waiting on gamma")
    level.report("1.0.1", ["gamma"])
    level.wait_level("1.0.1")
    assert set(versions(level).values()) == {"1.0.1"}
    wait_until(lambda: not at_work(level), what="the end in the progress")
    assert all(each.done == each.total for each in levels(level))
    newest, first = level.version["status"]["history"]
    assert (newest["version"], newest["state"], newest["verified"]) == ("1.0.1", "Completed", False)
    assert "cannot be verified" in newest["acceptedRisks"]
    assert first["version"] == "1.0.0"


def test_a_signed_release_is_verified(
    trusting: ClusterUpdates, store: Path, signer: Signer, keys: KubeObject
) -> None:
    """Scenarios 27, 28, 45 in part, and 48."""
    image = ReleaseSpec("1.0.1", {KEYS: keys}).publish(trusting.registry)
    trusting.ask(image=image)
    trusting.wait_condition("ReleaseAccepted", "False", "cannot be verified")
    trusting.ask()
    message = trusting.wait_condition("ReleaseAccepted", "True")
    assert message.startswith('Payload loaded version="1.0.0"')
    sign(store, signer, image)
    trusting.ask(image=image)
    trusting.wait_condition("ReleaseAccepted", "True", "1.0.1")
    trusting.report("1.0.1")
    trusting.wait_level("1.0.1")
    assert history(trusting)[0] == ("1.0.1", "Completed", True)


def test_an_update_with_a_risk_and_the_way_back_by_version(
    trusting: ClusterUpdates, store: Path, signer: Signer, keys: KubeObject
) -> None:
    """Scenarios 27, 52 and 53."""
    second = ReleaseSpec("1.0.1", {KEYS: keys})
    image, first = second.publish(trusting.registry), trusting.version["status"]["desired"]["image"]
    sign(store, signer, image)
    sign(store, signer, first)
    with GraphServer() as service:
        back, on = ("1.0.1", "1.0.0"), ("1.0.0", "1.0.1", [risk("Slow")])
        service.graph = graph_of(["1.0.0", "1.0.1"], [back], [on])
        for node, payload in zip(service.graph["nodes"], (first, image), strict=True):
            node["payload"] = payload
        followed = {"upstream": service.upstream, "channel": "stable"}
        trusting.api.patch(CLUSTER_VERSION, {"spec": followed})
        wait_until(lambda: listed(trusting, "conditionalUpdates"), what="the update")
        trusting.ask(version="1.0.1")
        trusting.wait_condition("Invalid", "True")
        trusting.ask(version="1.0.1", image=image)
        trusting.wait_condition("ReleaseAccepted", "True", "1.0.1")
        trusting.report("1.0.1")
        trusting.wait_level("1.0.1")
        newest = trusting.version["status"]["history"][0]
        assert newest["verified"] is True
        assert "Slow may happen. https://example.com/Slow" in newest["acceptedRisks"]

        trusting.stop()
        trusting.start(second, image=image)
        wait_until(lambda: listed(trusting, "availableUpdates"), what="the way back")
        trusting.ask(version="1.0.0", image=None)
        trusting.wait_condition("ReleaseAccepted", "True", "1.0.0")
    trusting.report("1.0.0")
    trusting.wait_level("1.0.0")
    older = ReleaseSpec("0.9.9").publish(trusting.registry)
    sign(store, signer, older)
    trusting.ask(version="0.9.9", image=older)
    message = trusting.wait_condition(
        "ReleaseAccepted", "False", "0.9.9 is less than the current target"
    )
    assert (
        f"only supported rollback is to the cluster's previous version 1.0.1 ({image})" in message
    )
    entries = [entry[:2] for entry in history(trusting)]
    assert entries == [(version, "Completed") for version in ("1.0.0", "1.0.1", "1.0.0")]


def listed(cluster: ClusterUpdates, updates: str) -> bool:
    """Whether there are updates of a kind."""
    return bool(cluster.version["status"].get(updates))


def test_versions_that_cannot_be_reached_are_refused(
    trusting: ClusterUpdates, store: Path, signer: Signer
) -> None:
    """Scenarios 49 and 54; and 53 where there is no release before."""
    trusting.ask(version="1.0.1")
    trusting.wait_condition(
        "Progressing", "False", "Stopped at 1.0.0: the cluster version is invalid"
    )
    assert trusting.condition("Invalid")[0] == "True"
    for version, message in {
        "1.2.0": "1.2.0 is more than one minor version beyond the current target 1.0.0",
        "2.0.0": "2.0.0 has a larger major version than the current target 1.0.0",
        "0.9.9": "0.9.9 is less than the current target 1.0.0",
    }.items():
        image = ReleaseSpec(version).publish(trusting.registry)
        sign(store, signer, image)
        trusting.ask(image=image, version=version)
        trusting.wait_condition("ReleaseAccepted", "False", message)
        assert trusting.condition("ReleaseAccepted")[1] == "PreconditionChecks"
    assert [entry[0] for entry in history(trusting)] == ["1.0.0"]


def test_minor_updates_wait_for_components_and_for_the_administrator(
    cluster: ClusterUpdates,
    store: Path,
    signer: Signer,
    keys: KubeObject,
    gates: dict[str, str],
) -> None:
    """Scenarios 50 and 51."""
    cluster.begin(ReleaseSpec("4.1.0", {KEYS: keys}))
    images = {}
    for version in ("4.1.1", "4.2.0"):
        images[version] = ReleaseSpec(version, {KEYS: keys}).publish(cluster.registry)
        sign(store, signer, images[version])
    cluster.report("4.1.0", ["gamma"], message="Gamma is old.", Upgradeable="False")
    cluster.wait_condition("Upgradeable", "False", "* Read first.\n* Gamma is old.")
    cluster.ask(image=images["4.2.0"])
    message = cluster.wait_condition("ReleaseAccepted", "False", "Gamma is old.")
    assert 'Precondition "ClusterVersionUpgradeable" failed because of "MultipleReasons"' in message
    cluster.ask(image=images["4.1.1"])
    cluster.wait_condition("ReleaseAccepted", "True", "4.1.1")
    cluster.wait_condition("Upgradeable", "False", "An update is already in progress")
    cluster.report("4.1.1")
    cluster.wait_level("4.1.1")
    cluster.wait_condition("Upgradeable", "False", "Read first.")
    cluster.ask(image=images["4.2.0"])
    cluster.wait_condition("ReleaseAccepted", "False", ": Read first.")
    cluster.api.patch(gates["admin-acks"], {"data": {"ack-4.1-apis": "true"}})
    cluster.wait_condition("ReleaseAccepted", "True", "4.2.0")


def test_a_component_that_fails_holds_the_update(level: ClusterUpdates) -> None:
    """Scenarios 31 and 32."""
    level.ask(image=SECOND.publish(level.registry), force=True)
    level.wait_condition("Progressing", "True", "waiting on alpha, beta")
    level.report("1.0.1", ["beta"])
    level.report("1.0.1", ["alpha"], Degraded="True")
    level.wait_condition("Progressing", "True", "waiting up to 40 minutes on alpha")
    assert level.condition("Failing")[0] == "False"
    assert versions(level)["gamma-before"] == "1.0.0"
    level.report("1.0.1", ["alpha"], Available="False")
    level.wait_condition("Failing", "True", "Cluster operator alpha is not available")
    assert level.condition("Failing")[1] == "ClusterOperatorNotAvailable"
    message = level.condition("Progressing")[2]
    assert message == "Unable to apply 1.0.1: the cluster operator alpha is not available"


def test_a_manifest_that_is_refused_is_named_until_the_cause_is_gone(
    level: ClusterUpdates,
) -> None:
    """Scenarios 39 and 40."""
    one = config_map("one", {}) | {"metadata": {"name": "one", "namespace": "later"}}
    one["metadata"]["annotations"] = dict(PROFILE)
    release = ReleaseSpec("1.0.1", {"0000_20_beta_02_one.yaml": one})
    level.report("1.0.1")
    level.ask(image=release.publish(level.registry), force=True)
    message = level.wait_condition("Failing", "True", 'Could not update configmap "later/one"')
    assert message.endswith("(9 of 14): resource may have been deleted")
    assert versions(level)["alpha-after"] == "1.0.1"
    assert versions(level)["gamma-after"] == "1.0.0"
    level.control_plane.apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: later}")
    level.wait_level("1.0.1")


def test_a_deployment_that_is_not_available_holds_the_update(level: ClusterUpdates) -> None:
    """Row 32 of what the documents ask for: applied is not enough."""
    path = f"/apis/apps/v1/namespaces/{OPERATOR}/deployments/cluster-version-operator"

    def set_available(available: str) -> None:
        statuses = {"Available": available, "Progressing": available}
        conditions = [
            {"type": kind, "status": status, "reason": "Told"} for kind, status in statuses.items()
        ]
        level.api.patch(f"{path}/status", {"status": {"conditions": conditions}})

    level.report("1.0.1")
    set_available("False")
    level.ask(image=SECOND.publish(level.registry), force=True)
    level.wait_condition("Failing", "True", f"{OPERATOR}/cluster-version-operator")
    assert set(versions(level).values()) == {"1.0.0"}
    set_available("True")
    level.wait_level("1.0.1")
    assert set(versions(level).values()) == {"1.0.1"}


def test_what_the_next_release_drops_is_deleted(level: ClusterUpdates) -> None:
    """Scenario 55: what a finalizer holds speaks against minor updates."""
    level.api.patch(f"{CONFIG_MAPS}/beta-after", {"metadata": {"finalizers": ["example.com/x"]}})
    gone = config_map("beta-after", {}, **{"release.openshift.io/delete": "true"})
    release = ReleaseSpec("1.0.1", {"0000_20_beta_09_after.yaml": gone})
    level.report("1.0.1")
    level.ask(image=release.publish(level.registry), force=True)
    level.wait_level("1.0.1")
    held = f'resources=ConfigMap "{NAMESPACE}/beta-after"'
    level.wait_condition("Upgradeable", "False", held)
    level.api.patch(f"{CONFIG_MAPS}/beta-after", {"metadata": {"finalizers": None}})
    wait_until(lambda: level.api.get(f"{CONFIG_MAPS}/beta-after") is None, what="it is deleted")
    wait_until(
        lambda: held not in level.condition("Upgradeable")[2], what="nothing is being deleted"
    )


def test_a_broken_release_is_not_applied(level: ClusterUpdates, registry: Registry) -> None:
    """Scenario 46 in part."""
    broken = {"a: [": "Loading payload failed", "kind: A": "must contain kubernetes required"}
    for manifest, message in broken.items():
        release = ReleaseSpec("1.0.1", {"0000_99_x_y.yaml": manifest})
        image = release.publish(registry)
        level.ask(image=image, force=True)
        level.wait_condition("ReleaseAccepted", "False", image)
        level.wait_condition("ReleaseAccepted", "False", message)
        assert level.condition("ReleaseAccepted")[1] == "LoadPayload"
        assert set(versions(level).values()) == {"1.0.0"}


def test_a_release_that_was_not_there_is_tried_again(
    level: ClusterUpdates, registry: Registry
) -> None:
    """Scenario 47 with the registry: nobody has to ask again."""
    image = build_image([SECOND.files()])
    digest = registry.push(image, "releases/elsewhere").reference.partition("@")[2]
    late = f"{registry.address}/releases/late@{digest}"
    level.ask(image=late, force=True)
    message = level.wait_condition(
        "ReleaseAccepted", "False", "Unable to download and prepare the update"
    )
    assert message.startswith(f'Retrieving payload failed version="" image="{late}" failure=')
    assert level.condition("ReleaseAccepted")[1] == "RetrievePayload"
    assert level.version["status"]["desired"]["version"] == "1.0.0"
    assert registry.push(image, "releases/late").reference == late
    level.wait_condition("ReleaseAccepted", "True", late, timeout=180.0)
    level.report("1.0.1")
    level.wait_level("1.0.1")


def test_an_image_of_another_version_is_not_applied(level: ClusterUpdates) -> None:
    """Scenario 46 in part: not even by force, nor where it is the release that is applied."""
    images = {"1.0.1": SECOND.publish(level.registry)}
    images["1.0.0"] = level.version["status"]["desired"]["image"]
    for version, image in images.items():
        level.ask(image=image, version="1.0.2", force=version != "1.0.0")
        message = level.wait_condition(
            "ReleaseAccepted", "False", f"release image version {version} "
        )
        assert message == (
            f'Verifying payload failed version="1.0.2" image="{image}" failure=release image '
            f"version {version} does not match the expected upstream version 1.0.2"
        )
        assert level.condition("ReleaseAccepted")[1] == "VerifyPayloadVersion"
    assert history(level) == [("1.0.0", "Completed", False)]
    assert set(versions(level).values()) == {"1.0.0"}
    level.ask(image=images["1.0.0"], version="1.0.0")
    level.wait_condition("ReleaseAccepted", "True", 'version="1.0.0"')
