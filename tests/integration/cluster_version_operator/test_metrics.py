"""What the metrics say of an update, while it runs and once it has ended."""

from datetime import datetime

import pytest
from prometheus_client.parser import text_string_to_metric_families

from api.objects import KubeObject, condition
from e2e.harness.controlplane import wait_until
from e2e.olm.cluster_updates import ClusterUpdates
from e2e.olm.releases import ReleaseSpec

pytestmark = pytest.mark.integration

MADE = 1767225600.0
"""When the first of January 2026 began, at which releases of tests were made."""
CONFIGURATION = """
apiVersion: v1
kind: Namespace
metadata: {name: openshift-config}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: openshift-install-manifests, namespace: openshift-config}
data: {version: v1.0.0, invoker: somebody}
"""


class Metrics:
    """The samples of a page, by their name and the values of their labels."""

    def __init__(self, cluster: ClusterUpdates) -> None:
        self.samples = {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(cluster.metrics())
            for sample in family.samples
        }

    def of(self, name: str, /, **labels: str) -> float | None:
        """A sample."""
        return self.samples.get((name, frozenset(labels.items())))

    def version(self, kind: str) -> dict[str, str]:
        """The labels of the sample of a type of `cluster_version`; empty if there is none."""
        found = (
            dict(labels)
            for name, labels in self.samples
            if name == "cluster_version" and ("type", kind) in labels
        )
        return next(found, {})


def wait_failure(cluster: ClusterUpdates) -> tuple[Metrics, KubeObject]:
    """The metrics once they say of the failure what its condition says, and that."""
    seen: list[tuple[Metrics, KubeObject]] = []

    def agree() -> bool:
        failing = condition(cluster.version, "Failing") or {}
        metrics = Metrics(cluster)
        seen.append((metrics, failing))
        since = datetime.fromisoformat(failing["lastTransitionTime"]).timestamp()
        return metrics.of("cluster_version", **metrics.version("failure")) == since

    wait_until(agree, what="metrics and status say the same of the failure")
    return seen[-1]


def test_an_update_is_reported_by_metrics(level: ClusterUpdates) -> None:
    """Scenario 62."""
    level.control_plane.apply(CONFIGURATION)
    before = Metrics(level)
    assert not before.version("updating")
    assert before.version("completed")["version"] == "1.0.0"
    image = ReleaseSpec("1.0.1").publish(level.registry)
    level.ask(image=image, force=True)
    level.wait_condition("Progressing", "True", "waiting on alpha, beta")
    level.report("1.0.1", ["alpha"], Available="False")
    level.wait_condition("Failing", "True", "alpha is not available")

    during, failing = wait_failure(level)
    own = level.version["status"]["history"][-1]
    current = {"version": "1.0.0", "image": own["image"], "from_version": "1.0.0"}
    assert during.of("cluster_version", type="current", **current) == MADE
    update = {"version": "1.0.1", "image": image, "from_version": "1.0.0"}
    [entry, _] = level.version["status"]["history"]
    begun = datetime.fromisoformat(entry["startedTime"]).timestamp()
    assert during.of("cluster_version", type="updating", **update) == begun
    pending, applied = (
        during.of("cluster_version_payload", version="1.0.1", type=kind)
        for kind in ("pending", "applied")
    )
    assert pending
    assert applied
    assert during.of("cluster_operator_payload_errors", version="1.0.1")
    assert during.of("cluster_operator_up", name="alpha", version="1.0.1", reason="") == 0
    assert during.of("cluster_operator_up", name="beta", version="1.0.0", reason="") == 1
    unwell = {"name": "version", "condition": "Failing", "reason": failing["reason"]}
    assert during.of("cluster_operator_conditions", **unwell) == 1
    assert during.of("cluster_operator_condition_transitions", name="alpha", condition="Available")

    level.report("1.0.1")
    level.wait_level("1.0.1")

    def installer_is_shown() -> bool:
        labels = {"type": "other", "version": "v1.0.0", "invoker": "somebody"}
        return Metrics(level).of("cluster_installer", **labels) == 1

    wait_until(installer_is_shown, what="the installer is shown")
    waits = {"version": "1.0.1", "type": "pending"}  # none between two rounds
    nothing = "nothing is pending"
    wait_until(lambda: Metrics(level).of("cluster_version_payload", **waits) == 0, what=nothing)
    after = Metrics(level)
    assert after.version("completed") == {"type": "completed", **update}
    assert not after.version("updating")
    assert not after.version("failure")
    assert after.of("cluster_operator_up", name="version", version="1.0.1", reason="") == 1
    assert after.of("cluster_operator_up", name="alpha", version="1.0.1", reason="") == 1
