"""Whatever write fails or ends the operator, an installation and an update go on and complete.

`make faults` has every write meet every fault; the integration tests run a sample, whose seed is
printed and may be given as OLMV1_FAULT_SEED.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.harness.api_proxy import ApiProxy
from e2e.harness.controlplane import wait_until
from e2e.harness.faults import KILLS, MACHINE, Case, Fault, FaultPlan
from e2e.olm.cluster_updates import NAMESPACE as OPERATOR
from e2e.olm.cluster_updates import OPERATORS, ClusterUpdates
from e2e.olm.releases import COMPONENTS, NAMESPACE, ReleaseSpec
from tests.integration.faults.matrix import SLOW, seeded

KEY = "/api"
"""In the path of every write: all of them are counted."""
FAULTS = [fault for fault in Fault if fault not in MACHINE]
QUICK = [fault for fault in FAULTS if fault not in SLOW | KILLS]
DEPLOYMENT = f"/apis/apps/v1/namespaces/{OPERATOR}/deployments/cluster-version-operator"
CONFIG_MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
ACCOUNT = f"""
apiVersion: v1
kind: Namespace
metadata: {{name: {OPERATOR}}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {{name: behind-a-proxy, namespace: {OPERATOR}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {{name: behind-a-proxy}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}}
subjects: [{{kind: ServiceAccount, name: behind-a-proxy, namespace: {OPERATOR}}}]
"""


class Lives:
    """A cluster that is installed and updated again and again, by an operator behind a proxy."""

    def __init__(self, cluster: ClusterUpdates, folder: Path) -> None:
        self._cluster = cluster
        self._plan = FaultPlan(KEY)
        self._releases: dict[str, ReleaseSpec] = {}
        """By image, in the order in which the cluster got them."""
        cluster.control_plane.apply(ACCOUNT)
        endpoint = cluster.control_plane.endpoint
        self.proxy = ApiProxy(endpoint, folder, self._plan, self._kill)

    def _kill(self, _: Fault) -> None:
        """It may write before it is known to be ready."""
        wait_until(self._runs, what="the operator runs")
        self._cluster.kill()

    def _runs(self) -> bool:
        program = self._cluster.program
        return program is not None and program.pid is not None

    def install(self, fault: Fault | None = None, number: int = 0) -> Case:
        """By a first release; the write of that number meets the fault."""
        self._cluster.clear()
        self._releases.clear()
        release, image = self._publish()
        self._plan.begin(KEY, fault, number)
        self._start(image)
        wait_until(self._has_operators, what="the operators", timeout=180)
        self._cluster.report(release.version)
        return self._completed(image)

    def update(self, fault: Fault | None = None, number: int = 0) -> Case:
        """To the next release; the write of that number meets the fault."""
        release, image = self._publish()
        self._cluster.report(release.version)
        self._plan.begin(KEY, fault, number)
        self._cluster.ask(image=image, force=True)
        return self._completed(image)

    def _publish(self) -> tuple[ReleaseSpec, str]:
        release = ReleaseSpec(f"1.0.{len(self._releases)}")
        image = release.publish(self._cluster.registry)
        self._releases[image] = release
        return release, image

    def _start(self, image: str) -> None:
        kubeconfig = self._cluster.control_plane.kubeconfig_for_service_account(
            OPERATOR, "behind-a-proxy", via=self.proxy.endpoint
        )
        flags = f"--kubeconfig={kubeconfig}", "--no-leader-elect"
        self._cluster.start(self._releases[image], *flags, image=image)

    def _has_operators(self) -> bool:
        self._keep_running()
        return len(self._cluster.api.list(OPERATORS)) == len(COMPONENTS)

    def _keep_running(self) -> None:
        """As a node does; started is the operator of the release that has come so far."""
        if not self._runs():
            found = self._cluster.api.get(DEPLOYMENT)
            containers = found["spec"]["template"]["spec"]["containers"] if found else ()
            first = next(iter(self._releases))
            self._start(next((each["image"] for each in containers), first))

    def _completed(self, image: str) -> Case:
        version = self._releases[image].version

        def is_level() -> bool:
            self._keep_running()
            found = self._cluster.condition("Progressing")
            return found[0] == "False" and found[2].startswith(f"Cluster version is {version}")

        wait_until(is_level, what=f"the cluster is at {version}", timeout=180)
        case = self._plan.case(KEY)
        self._plan.begin(KEY)
        self._check(version)
        return case

    def _check(self, version: str) -> None:
        made = {
            each["data"]["version"]
            for each in self._cluster.api.list(CONFIG_MAPS)
            if "version" in (each.get("data") or {})
        }
        assert made == {version}
        history = self._cluster.version["status"]["history"]
        assert (history[0]["version"], history[0]["state"]) == (version, "Completed")
        # The operator of the release before, started again by a node, reports that once more.
        completed = [each["version"] for each in history if each["state"] == "Completed"]
        expected = [each.version for each in self._releases.values()]
        assert completed == expected[::-1]


@pytest.fixture
def lives(cluster: ClusterUpdates, tmp_path: Path) -> Iterator[Lives]:
    """The cluster, not installed yet."""
    found = Lives(cluster, tmp_path / "proxy")
    with found.proxy:
        yield found
        cluster.stop()


@pytest.mark.faults
@pytest.mark.parametrize("fault", FAULTS)
def test_every_write_of_an_installation_may_fail(fault: Fault, lives: Lives) -> None:
    writes = len(lives.install().writes)
    met = [lives.install(fault, number).met for number in range(1, writes + 1)]
    assert sum(map(bool, met)) > 0.8 * writes


@pytest.mark.faults
@pytest.mark.parametrize("fault", FAULTS)
def test_every_write_of_an_update_may_fail(fault: Fault, lives: Lives) -> None:
    lives.install()
    writes = len(lives.update().writes)
    met = [lives.update(fault, number).met for number in range(1, writes + 1)]
    assert sum(map(bool, met)) > 0.8 * writes


@pytest.mark.integration
def test_a_sample_of_faults(lives: Lives) -> None:
    chance = seeded()
    lives.install(chance.choice(sorted(KILLS)), chance.randint(1, 10))
    writes = len(lives.update().writes)
    for fault in (*sorted(KILLS), chance.choice(QUICK)):
        lives.update(fault, chance.randint(1, writes))
