"""Whatever happens to a namespace of OLM Classic, its Subscriptions come to the heads of channels.

Plans are carried out, fail, wait for approval and are deleted; catalogs get new versions; the
process is killed after any write. Then everybody goes on undisturbed.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from api.objects import KubeObject, gvk_of, name_of
from olm_classic.controllers.catalog_contents import CatalogContents
from olm_classic.controllers.namespace import NamespaceReconciler, Parts, Steps
from olm_classic.kinds import (
    CATALOG_SOURCE,
    CLUSTER_SERVICE_VERSION,
    INSTALL_PLAN,
    OPERATOR_GROUP,
    SUBSCRIPTION,
)
from olm_classic.metrics import Metrics
from olm_classic.resolve import (
    Catalog,
    Deprecations,
    Entry,
    Limit,
    MemoryReader,
    Namespace,
    Resolution,
    SourceKey,
    resolve,
)
from olm_classic.resolve.entries import tolerant_version
from olm_runtime.controller.events import EventBroadcaster
from olm_runtime.controller.manager import Manager
from olm_runtime.kube.client import KubeClient
from tests.property.classic_cluster import (
    KINDS,
    NAMESPACE,
    KilledError,
    MemoryServer,
    install,
    operate,
)
from tests.property.scale import cases

pytestmark = pytest.mark.property

NOW = datetime(2026, 1, 1, tzinfo=UTC)
KEY = SourceKey("catalog", "olm")
PACKAGES = st.sampled_from(["a", "b"])
KILLED_AFTER = st.one_of(st.none(), st.integers(min_value=1, max_value=6))
ENOUGH = 60
"""Turns after which everybody has done what is to be done."""


class Content:
    """A catalog with a channel a package, whose versions replace one another."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def publish(self, package: str, *, skips: bool) -> None:
        """A new head; one that skips replaces every older version, too."""
        older = [each.name for each in self.entries if each.package == package]
        version = f"{len(older) + 1}.0.0"
        entry = Entry(
            f"{package}.v{len(older) + 1}",
            KEY,
            package,
            "stable",
            older[-1] if older else "",
            tuple(older) if skips else (),
            version=tolerant_version(version),
            image="image",
            default_channel="stable",
            properties=(
                {"type": "olm.package", "value": {"packageName": package, "version": version}},
            ),
        )
        self.entries.append(entry)

    def head(self, package: str) -> str:
        return [each.name for each in self.entries if each.package == package][-1]

    def catalogs(self, _: Iterable[KubeObject]) -> tuple[Catalog, ...]:
        return (Catalog(KEY, content=MemoryReader(self.entries)),)

    def deprecations(self, _: object) -> dict[str, Deprecations]:
        return {}


class Work:
    """Resolves in this process, and makes steps without pulling anything."""

    def __init__(self) -> None:
        self.replaces: dict[str, str] = {}

    async def resolve_namespace(self, namespace: Namespace) -> Resolution:
        return resolve(namespace, Limit(asyncio.get_running_loop().time))

    async def steps(self, _: str, resolution: Resolution, __: object) -> Steps:
        self.replaces |= {each.entry.name: each.replaces for each in resolution.planned}
        names = tuple(each.entry.name for each in resolution.planned)
        return Steps(names, {"catalogSources": [], "plan": [_step(name) for name in names]})


def _step(name: str) -> dict[str, Any]:
    described = dict.fromkeys(("group", "version", "kind", "sourceName", "sourceNamespace"), "")
    return {"resolving": name, "status": "Unknown", "resource": described | {"name": name}}


class Lives(RuleBasedStateMachine):
    """A namespace in which anything may happen."""

    fail_forward = False

    def __init__(self) -> None:
        super().__init__()
        self.server, self.content, self.work = MemoryServer(), Content(), Work()
        strategy = "TechPreviewUnsafeFailForward" if self.fail_forward else "Default"
        self.put(OPERATOR_GROUP, "group", {"upgradeStrategy": strategy})
        self.put(CATALOG_SOURCE, "catalog", {"sourceType": "grpc"}, namespace="olm")
        for package in ("a", "b"):
            self.content.publish(package, skips=False)
        self.start()

    def put(self, kind: Any, name: str, spec: dict[str, Any], namespace: str = NAMESPACE) -> None:
        meta = {"name": name, "namespace": namespace}
        raw = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, "spec": spec}
        self.server.put(raw)

    def start(self) -> None:
        """A new process, that knows what it lists."""
        client = cast("KubeClient", self.server)
        events = EventBroadcaster(client, controller="test", instance="test")
        manager = Manager(client, events=events, clock=lambda: NOW, jitter=lambda: 0.0)
        for kind in KINDS:
            manager.store(kind).replace(self.server.of(kind), "0")

        def feed(event: str, obj: KubeObject) -> None:
            store = manager.store(gvk_of(obj))
            (store.delete if event == "DELETED" else store.update)(obj)

        self.server.feed, self.server.left = feed, None
        self.reconciler = NamespaceReconciler(
            manager,
            Parts(cast("CatalogContents", self.content), self.work, self.work, Metrics()),
            global_namespace="olm",
            clock=lambda: NOW,
        )

    @rule(after=KILLED_AFTER)
    def reconcile(self, after: int | None) -> None:
        self.server.left = after
        try:
            asyncio.run(self.reconciler.reconcile(NAMESPACE))
        except KilledError:
            self.start()
        self.server.left = None

    @rule(package=PACKAGES, manual=st.booleans())
    def subscribe(self, package: str, manual: bool) -> None:
        if (SUBSCRIPTION, package) not in self.server.objects:
            approval = "Manual" if manual else "Automatic"
            spec = {"source": "catalog", "sourceNamespace": "olm", "name": package}
            self.put(SUBSCRIPTION, package, spec | {"installPlanApproval": approval})

    @rule(package=PACKAGES)
    def unsubscribe(self, package: str) -> None:
        self.server.remove(SUBSCRIPTION, package)

    @rule(package=PACKAGES, skips=st.booleans())
    def publish(self, package: str, skips: bool) -> None:
        self.content.publish(package, skips=skips)

    @rule()
    def install_something(self) -> None:
        install(self.server, self.work.replaces)

    @rule()
    def fail_before_anything_is_written(self) -> None:
        install(self.server, self.work.replaces, "early")

    @rule()
    def operate_something(self) -> None:
        operate(self.server)

    @rule()
    def approve_something(self) -> None:
        self._approve()

    def _approve(self) -> bool:
        """Approves a plan that a Subscription names: of an older one its catalog thinks no more."""
        statuses = [each.get("status") or {} for each in self.server.of(SUBSCRIPTION)]
        named = {(each.get("installPlanRef") or {}).get("name") for each in statuses}
        plans = [each for each in self.plans() if name_of(each) in named]
        waiting = [each for each in plans if not each["spec"]["approved"]]
        for plan in waiting[:1]:
            self.server.put(plan | {"spec": plan["spec"] | {"approved": True}})
        return bool(waiting)

    @rule()
    def delete_the_newest_plan(self) -> None:
        for plan in self.plans()[-1:]:
            if (plan.get("status") or {}).get("phase") in {"RequiresApproval", "Failed"}:
                self.server.remove(INSTALL_PLAN, name_of(plan))

    def plans(self) -> list[KubeObject]:
        return sorted(self.server.of(INSTALL_PLAN), key=lambda each: each["spec"]["generation"])

    @invariant()
    def generations_are_those_of_one_plan_each(self) -> None:
        counted = Counter(each["spec"]["generation"] for each in self.plans())
        assert not counted or max(counted.values()) == 1

    @invariant()
    def nothing_is_begun_that_no_subscription_refers_to(self) -> None:
        for plan in self.plans():
            if (plan.get("status") or {}).get("phase") == "Installing":
                assert plan["metadata"]["ownerReferences"]

    def teardown(self) -> None:
        """Everybody goes on undisturbed, and a failed plan is deleted, as pages say."""
        for _ in range(ENOUGH):
            before = self.server.writes
            self.reconcile(None)
            moved = operate(self.server) or install(self.server, self.work.replaces)
            moved = moved or self._approve() or self._delete_failed()
            if not moved and self.server.writes == before:
                break
        self._is_as_wanted()

    def _delete_failed(self) -> bool:
        failed = [each for each in self.plans() if each["status"]["phase"] == "Failed"]
        for plan in failed[:1]:
            self.server.remove(INSTALL_PLAN, name_of(plan))
        return bool(failed)

    def _is_as_wanted(self) -> None:
        before = self.server.writes
        self.reconcile(None)
        assert self.server.writes == before, "what is so already is written again"
        assert len(self.plans()) <= 5
        installed = {name_of(each) for each in self.server.of(CLUSTER_SERVICE_VERSION)}
        for subscription in self.server.of(SUBSCRIPTION):
            status = subscription["status"]
            head = self.content.head(name_of(subscription))
            assert (status["state"], status["installedCSV"]) == ("AtLatestKnown", head)
            kinds = {each["type"] for each in status["conditions"]}
            assert kinds - {"InstallPlanMissing"} == {"CatalogSourcesUnhealthy"}
            assert head in installed


class FailForwardLives(Lives):
    """The same where plans may also fail when they are half done."""

    fail_forward = True

    @rule()
    def fail_when_all_is_written(self) -> None:
        install(self.server, self.work.replaces, "late")


Lives.TestCase.settings = settings(max_examples=cases(40), stateful_step_count=20, deadline=None)
FailForwardLives.TestCase.settings = Lives.TestCase.settings
TestLives = Lives.TestCase
TestFailForwardLives = FailForwardLives.TestCase
