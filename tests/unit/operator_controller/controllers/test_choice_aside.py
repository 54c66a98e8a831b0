"""The choice of a bundle leaves the event loop alone: leases are renewed there."""

import asyncio
import threading
from types import SimpleNamespace
from typing import Any, cast

import pytest

from api.olm.v1.clusterextension import ClusterExtension
from operator_controller.apply.revisions import BundleIdentity, Revisions
from operator_controller.controllers import extension_steps
from operator_controller.controllers.choice import Choice
from operator_controller.controllers.context import Context
from operator_controller.controllers.extension_steps import ExtensionSteps

PATIENCE = 60.0
RAW = {
    "apiVersion": "olm.operatorframework.io/v1",
    "kind": "ClusterExtension",
    "metadata": {"name": "ext"},
    "spec": {
        "namespace": "ns",
        "source": {"sourceType": "Catalog", "catalog": {"packageName": "p"}},
    },
}
BUNDLE = BundleIdentity(name="p.v1", version="1.0.0", package="p", image="i")


class NoCatalogs:
    """What a cluster without catalogs answers."""

    def list_catalogs(self) -> list[Any]:
        return []

    async def contents(self, raws: list[Any], package: str) -> list[Any]:
        return []


async def test_the_loop_goes_on_while_a_bundle_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    turned, loop = threading.Event(), asyncio.get_running_loop()

    def choose(*_: object) -> Choice:
        loop.call_soon_threadsafe(turned.set)
        assert turned.wait(PATIENCE), "the loop waits for the choice"
        return Choice(BUNDLE)

    monkeypatch.setattr(extension_steps, "choose", choose)
    steps = cast("ExtensionSteps", SimpleNamespace(catalogs=NoCatalogs()))
    context = Context(RAW, ClusterExtension.from_object(RAW), revisions=Revisions(()))
    assert (await ExtensionSteps.resolve(steps, context)).bundle == BUNDLE
