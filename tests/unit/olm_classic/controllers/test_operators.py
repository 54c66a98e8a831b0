"""When Operators show what happened to their components."""

import pytest

from api.objects import GVK, KubeObject
from olm_classic.controllers.operator import SETTLE_SECONDS, on_component
from olm_classic.kinds import CLUSTER_SERVICE_VERSION
from olm_runtime.controller.requests import Request
from olm_runtime.lanes import Priority
from olm_runtime.watch.store import Event

CONFIG_MAP = GVK("", "v1", "ConfigMap")
LABELS = {"operators.coreos.com/hello.here": ""}
SHOWN: KubeObject = {"metadata": {"name": "a", "namespace": "here", "labels": LABELS}}


@pytest.mark.parametrize(
    ("kind", "old", "new", "after"),
    [
        (CLUSTER_SERVICE_VERSION, SHOWN, None, 0.0),
        (CLUSTER_SERVICE_VERSION, None, SHOWN, SETTLE_SECONDS),
        (CONFIG_MAP, SHOWN, None, SETTLE_SECONDS),
    ],
)
def test_a_version_that_is_gone_is_not_shown_for_longer(
    kind: GVK, old: KubeObject | None, new: KubeObject | None, after: float
) -> None:
    enqueued: list[tuple[Request, float]] = []

    def enqueue(
        request: Request, /, *, priority: Priority = Priority.NORMAL, after: float = 0.0
    ) -> None:
        enqueued.append((request, after))

    on_component(kind, Event(("here", "a"), old, new), enqueue)
    assert enqueued == [("hello.here", after)]
