"""A limit holds for the Events that are announced."""

from unittest.mock import create_autospec

from olm_runtime.controller.event_limit import BURST, EventLimit
from olm_runtime.controller.events import EventBroadcaster
from olm_runtime.event import Happening
from olm_runtime.kube.client import KubeClient


def test_what_is_beyond_the_limit_is_not_written() -> None:
    client = create_autospec(KubeClient, instance=True)
    broadcaster = EventBroadcaster(client, controller="c", instance="i", limit=EventLimit())
    plan = {"apiVersion": "v1", "kind": "InstallPlan", "metadata": {"name": "one"}}
    for _ in range(2 * BURST):
        broadcaster.announce(plan, [Happening("Install", "Failed", "why")])
    assert broadcaster._pending.qsize() == BURST
