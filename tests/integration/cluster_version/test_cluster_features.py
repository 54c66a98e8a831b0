"""The FeatureGate of a real API server, followed."""

import asyncio
from collections.abc import Iterator

import pytest

from cluster_version.controllers.cluster_features import ClusterFeatures
from cluster_version.payload.features import Features
from e2e.harness.controlplane import ControlPlane
from e2e.olm.api import Api
from e2e.olm.feature_gates import FeatureGates
from olm_runtime.kube.access import load_access
from olm_runtime.kube.client import KubeClient
from olm_runtime.watch.store import NotSyncedError

pytestmark = pytest.mark.integration


@pytest.fixture
def feature_gates(served: ControlPlane) -> Iterator[FeatureGates]:
    with Api(served) as api:
        found = FeatureGates(served, api)
        yield found
        found.clear()


async def test_changes_are_notified_and_that_there_is_none_is_no_change(
    client: KubeClient, feature_gates: FeatureGates
) -> None:
    notified = asyncio.Event()
    features = ClusterFeatures(client, notified.set)

    async def wait_for(expected: Features) -> None:
        async with asyncio.timeout(60):
            while features.of("1.0.0") != expected:
                await notified.wait()
                notified.clear()

    for _ in range(3):
        await features.read()
    assert features.of("1.0.0") == Features()
    assert not notified.is_set(), "whoever is notified reads again, and would be notified again"
    await asyncio.to_thread(feature_gates.set, "OKD", {"1.0.0": ["A"]})
    await features.read()
    await wait_for(Features("OKD", frozenset("A")))
    await asyncio.to_thread(feature_gates.set, "", {"1.0.0": ["B"]})
    await wait_for(Features("", frozenset("B")))
    await asyncio.to_thread(feature_gates.clear)
    async with asyncio.timeout(60):
        while features.of("1.0.0") != Features():
            await features.read()
            await asyncio.sleep(0.1)
    await features.aclose()


async def test_what_cannot_be_read_is_not_taken_for_the_default(
    served: ControlPlane, feature_gates: FeatureGates
) -> None:
    await asyncio.to_thread(feature_gates.set, "OKD", {})
    access = load_access(str(served.kubeconfig_for("nobody-in-particular")))
    async with KubeClient.connect(access) as client:
        features = ClusterFeatures(client, lambda: None)
        with pytest.raises(NotSyncedError, match="the FeatureGate cannot be read"):
            await features.read()
        await features.aclose()
