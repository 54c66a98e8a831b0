"""What Subscriptions lead to, from catalogs that are served to what is installed."""

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from api.objects import KubeObject
from api.operators.names import V1, V1ALPHA1
from e2e.harness.registry import Registry
from e2e.olm.bundles import BundleSpec
from e2e.olm.classic import Classic, Place, status
from e2e.olm.fbc import PublishedBundle, package_blobs
from e2e.olm.pages import DOCS, steps
from e2e.olm.reader import Reader

pytestmark = pytest.mark.integration

Blob = dict[str, Any]


class Broken(BundleSpec):
    """One with an object of a kind that nobody serves."""

    def files(self) -> dict[str, bytes]:
        unserved = b"apiVersion: autoscaling.k8s.io/v1\nkind: VerticalPodAutoscaler\n"
        return super().files() | {"manifests/x.yaml": unserved + b"metadata: {name: x}\n"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Permitted(BundleSpec):
    """One whose operator may do these things with ConfigMaps."""

    verbs: tuple[str, ...]

    def _csv(self) -> dict[str, Any]:
        csv = BundleSpec._csv(self)
        [permissions] = csv["spec"]["install"]["spec"]["clusterPermissions"]
        permissions["rules"][0]["verbs"] = list(self.verbs)
        return csv


@pytest.fixture(scope="module")
def bundles(registry: Registry) -> "Bundles":
    return Bundles(registry)


class Bundles:
    """Bundles in the registry, each pushed once."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._pushed: dict[tuple[str, str], PublishedBundle] = {}

    def of(self, package: str, *versions: str) -> list[PublishedBundle]:
        return [self._bundle(package, version) for version in versions]

    def _bundle(self, package: str, version: str) -> PublishedBundle:
        if (package, version) not in self._pushed:
            operator = BundleSpec(package=package, version=version)
            self._pushed[package, version] = operator.publish(self._registry)
        return self._pushed[package, version]


def channel(bundles: Iterable[PublishedBundle]) -> list[Blob]:
    """A package with one channel, in which each version replaces the one before it."""
    return [dict(blob) for blob in package_blobs(bundles)]


def latest(place: Place, package: str, version: str) -> KubeObject:
    """Waits until a Subscription has come to a version, and that is installed."""
    csv = f"{package}.v{version}"
    found = place.wait_subscription(
        package, state="AtLatestKnown", currentCSV=csv, installedCSV=csv
    )
    place.wait_csv(csv)
    return found


def gone(place: Place, plural: str, name: str) -> None:
    """Waits until an object is not there."""
    place.classic.api.wait_gone(place.path(plural, name))


def conditions(obj: KubeObject) -> dict[str, Mapping[str, Any]]:
    return {each["type"]: each for each in status(obj, "conditions") or ()}


def serving(place: Place, address: str, name: str = "operators", **spec: Any) -> None:
    """A CatalogSource of what is served already."""
    given = {"sourceType": "grpc", "address": address, **spec}
    place.create(V1ALPHA1, "CatalogSource", name, given)


def with_properties(blobs: list[Blob], bundle: str, *properties: Mapping[str, Any]) -> list[Blob]:
    """The blobs, where a bundle has more properties."""
    for blob in blobs:
        if blob["name"] == bundle:
            blob["properties"] = [*blob["properties"], *properties]
    return blobs


def api(kind: str, *, required: bool = False) -> dict[str, Any]:
    """The property of a bundle that provides a kind, or requires it."""
    value = {"group": "example.com", "version": "v1", "kind": kind}
    return {"type": "olm.gvk.required" if required else "olm.gvk", "value": value}


@pytest.fixture(scope="module")
def shelf(classic: Classic, bundles: Bundles) -> str:
    """The address of a catalog that never changes, for CatalogSources of many namespaces."""
    needs = channel(bundles.of("needs", "1.0.0"))
    gives = channel(bundles.of("gives", "1.0.0"))
    skipping = channel(bundles.of("skipping", "1.0.0", "1.1.0", "1.2.0"))
    skipping[1]["entries"][2]["skipRange"] = ">=1.0.0 <1.2.0"
    renamed = channel(bundles.of("renamed", "2.0.0"))
    renamed[1]["entries"][0]["replaces"] = "plain.v1.0.0"
    blobs = [
        *channel(bundles.of("plain", "1.0.0")),
        *renamed,
        *channel(bundles.of("walk", "1.0.0", "1.1.0", "1.2.0")),
        *skipping,
        *with_properties(needs, "needs.v1.0.0", api("Thing", required=True)),
        *with_properties(gives, "gives.v1.0.0", api("Thing")),
    ]
    return classic.serve(blobs).address


def test_a_subscription_installs_and_updates_through_every_version(
    place: Place, bundles: Bundles
) -> None:
    versions = bundles.of("walk", "1.0.0", "1.1.0", "1.2.0", "1.3.0")
    server = place.catalog("operators", channel(versions[:1]))
    place.subscribe("walk", source="operators", channel="stable")
    latest(place, "walk", "1.0.0")
    plan = place.wait_plan("Complete")
    assert plan["spec"]["clusterServiceVersionNames"] == ["walk.v1.0.0"]
    assert plan["metadata"]["name"].startswith("install-")
    server.serve(channel(versions))
    found = latest(place, "walk", "1.3.0")
    plan = place.wait_plan("Complete", 4)
    assert status(found, "installPlanRef")["name"] == plan["metadata"]["name"]
    assert status(found, "installPlanGeneration") == 4
    names = [each["spec"]["clusterServiceVersionNames"] for each in place.install_plans()]
    assert names == [[f"walk.v1.{minor}.0"] for minor in range(4)]


def test_a_starting_version_is_where_it_begins(place: Place, shelf: str) -> None:
    serving(place, shelf)
    place.subscribe("walk", source="operators", startingCSV="walk.v1.1.0")
    latest(place, "walk", "1.2.0")
    names = [each["spec"]["clusterServiceVersionNames"] for each in place.install_plans()]
    assert names == [["walk.v1.1.0"], ["walk.v1.2.0"]]


def test_a_range_is_skipped(place: Place, shelf: str) -> None:
    serving(place, shelf)
    place.subscribe("skipping", source="operators", startingCSV="skipping.v1.0.0")
    latest(place, "skipping", "1.2.0")
    names = [each["spec"]["clusterServiceVersionNames"] for each in place.install_plans()]
    assert names == [["skipping.v1.0.0"], ["skipping.v1.2.0"]]


def test_a_manual_plan_waits_and_gives_way_to_newer_content(place: Place, bundles: Bundles) -> None:
    versions = bundles.of("asks", "1.0.0", "1.1.0", "1.2.0")
    server = place.catalog("operators", channel(versions[:2]))
    given = {"startingCSV": "asks.v1.0.0", "installPlanApproval": "Manual"}
    place.subscribe("asks", source="operators", **given)
    waiting = place.wait_plan("RequiresApproval")
    assert waiting["spec"] | {"generation": 0} == {
        "approval": "Manual",
        "approved": False,
        "clusterServiceVersionNames": ["asks.v1.0.0"],
        "generation": 0,
    }
    pending = place.wait_condition("subscriptions", "asks", "InstallPlanPending")
    assert pending["reason"] == "RequiresApproval"
    place.approve(waiting)
    second = place.wait_plan("RequiresApproval", 2)
    place.wait_subscription(
        "asks", state="UpgradePending", currentCSV="asks.v1.1.0", installedCSV="asks.v1.0.0"
    )
    newer = channel(versions)
    newer[1]["entries"][2]["replaces"] = "asks.v1.0.0"
    newer[1]["entries"][2]["skips"] = ["asks.v1.1.0"]
    server.serve(newer)
    third = place.wait_plan("RequiresApproval", 3)
    assert third["spec"]["clusterServiceVersionNames"] == ["asks.v1.2.0"]
    gone(place, "installplans", second["metadata"]["name"])
    place.approve(third)
    latest(place, "asks", "1.2.0")


def test_the_page_of_subscriptions(place: Place, shelf: str, tmp_path: Path) -> None:
    serving(place, shelf)
    names = {"my-team": place.name}
    reader = Reader(tmp_path, place.classic.control_plane, names=names)
    reader.follow(steps(DOCS / "classic" / "subscriptions.md"))
    gone(place, "clusterserviceversions", "walk.v1.2.0")
    place.subscribe("walk", source="operators")
    latest(place, "walk", "1.2.0")


def test_permissions_grow_and_shrink_with_updates(place: Place, registry: Registry) -> None:
    wanted = {"1.0.0": ("get",), "1.1.0": ("get", "delete"), "1.2.0": ("get",)}
    place.catalog(
        "operators",
        channel(
            Permitted(package="rights", version=version, verbs=verbs).publish(registry)
            for version, verbs in wanted.items()
        ),
    )
    place.subscribe(
        "rights", source="operators", installPlanApproval="Manual", startingCSV="rights.v1.0.0"
    )
    for generation, (version, verbs) in enumerate(wanted.items(), 1):
        place.approve(place.wait_plan("RequiresApproval", generation))
        place.wait_plan("Complete", generation)
        place.wait_subscription("rights", installedCSV=f"rights.v{version}")
        place.wait_csv(f"rights.v{version}")
        labels = f"olm.owner=rights.v{version},olm.owner.namespace={place.name}"
        roles = place.classic.api.list("/apis/rbac.authorization.k8s.io/v1/clusterroles", labels)
        assert [role["rules"][0]["verbs"] for role in roles] == [list(verbs)]


def test_what_is_there_already_is_replaced(place: Place, bundles: Bundles) -> None:
    one, two = bundles.of("there", "1.0.0", "1.1.0")
    csv = BundleSpec(package="there", version="1.0.0")._csv()
    place.apply(csv | {"metadata": {"name": one.name, "namespace": place.name}})
    place.wait_csv(one.name)
    place.catalog("operators", channel([one, two]))
    place.subscribe("there", source="operators")
    latest(place, "there", "1.1.0")
    gone(place, "clusterserviceversions", one.name)


def test_what_an_earlier_subscription_left_is_gone_on_from(place: Place, shelf: str) -> None:
    serving(place, shelf)
    place.subscribe("plain", source="operators")
    latest(place, "plain", "1.0.0")
    place.delete("subscriptions", "plain")
    gone(place, "subscriptions", "plain")
    place.subscribe("plain", source="operators")
    found = latest(place, "plain", "1.0.0")
    assert "ResolutionFailed" not in conditions(found)


def test_a_dependency_gets_a_subscription_of_its_own(place: Place, shelf: str) -> None:
    serving(place, shelf)
    place.subscribe("needs", source="operators", channel="stable")
    latest(place, "needs", "1.0.0")
    plan = place.wait_plan("Complete")
    assert set(plan["spec"]["clusterServiceVersionNames"]) == {"needs.v1.0.0", "gives.v1.0.0"}
    generated = f"gives-stable-operators-{place.name}"
    found = place.wait_subscription(generated, state="AtLatestKnown", installedCSV="gives.v1.0.0")
    assert found["metadata"]["annotations"]["olm.generated-by"] == plan["metadata"]["name"]
    assert found["spec"] == {
        "channel": "stable",
        "installPlanApproval": "Automatic",
        "name": "gives",
        "source": "operators",
        "sourceNamespace": place.name,
        "startingCSV": "gives.v1.0.0",
    }


def test_a_requirement_that_nobody_meets_is_reported_until_somebody_does(
    place: Place, bundles: Bundles
) -> None:
    needs = channel(bundles.of("lacks", "1.0.0"))
    with_properties(needs, "lacks.v1.0.0", api("Lacking", required=True))
    server = place.catalog("operators", needs)
    place.subscribe("lacks", source="operators")
    found = place.wait("subscriptions", "lacks", lambda o: "kind: Lacking" in str(conditions(o)))
    failed = conditions(found)["ResolutionFailed"]
    assert failed["reason"] == "ConstraintsNotSatisfiable"
    assert failed["message"].startswith("constraints not satisfiable: ")
    assert (
        "providing an API with group: example.com, version: v1, kind: Lacking"
        in (failed["message"])
    )
    assert "lastTransitionTime" not in failed
    gives = channel(bundles.of("has", "1.0.0"))
    server.serve([*needs, *with_properties(gives, "has.v1.0.0", api("Lacking"))])
    assert "ResolutionFailed" not in conditions(latest(place, "lacks", "1.0.0"))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (None, "missing"),
        ({"sourceType": "unknown"}, "unhealthy"),
        ({"sourceType": "grpc"}, "unhealthy"),
        ({"sourceType": "internal"}, "unhealthy"),
        ({"sourceType": "configmap"}, "unhealthy"),
    ],
)
def test_a_catalog_that_is_unwell_is_named(
    place: Place, spec: dict[str, str] | None, message: str
) -> None:
    if spec is not None:
        place.create(V1ALPHA1, "CatalogSource", "sick", spec)
    else:
        place.create(V1ALPHA1, "CatalogSource", "other", {"sourceType": "unknown"})
    place.subscribe("plain", source="sick")

    def is_unhealthy(obj: KubeObject) -> bool:
        found = conditions(obj).get("CatalogSourcesUnhealthy") or {}
        said = f"targeted catalogsource {place.name}/sick {message}"
        wanted = ("True", "UnhealthyCatalogSourceFound", said)
        return tuple(found.get(key) for key in ("status", "reason", "message")) == wanted

    place.wait("subscriptions", "plain", is_unhealthy)


def test_a_dead_catalog_holds_up_who_sees_it(place: Place, shelf: str) -> None:
    serving(place, shelf)
    serving(place, "127.0.0.1:1", "dead")
    place.wait_catalog("dead", "TRANSIENT_FAILURE")
    place.subscribe("plain", source="operators")
    failed = place.wait_condition("subscriptions", "plain", "ResolutionFailed")
    assert failed["reason"] == "ErrorPreventedResolution"
    where = f"{place.name}/dead"
    assert failed["message"].startswith(f"error using catalogsource {where}: ")
    place.delete("catalogsources", "dead")
    assert "ResolutionFailed" not in conditions(latest(place, "plain", "1.0.0"))


def test_the_conditions_follow_the_plan(place: Place, shelf: str) -> None:
    serving(place, shelf)
    place.subscribe("plain", source="operators")
    latest(place, "plain", "1.0.0")
    plan = place.wait_plan("Complete")
    name = plan["metadata"]["name"]

    def puppet(phase: str, *said: Mapping[str, str]) -> None:
        written = {"phase": phase, "conditions": list(said)}
        place.classic.api.patch(f"{place.path('installplans', name)}/status", {"status": written})

    def wait_reason(kind: str, reason: str, message: str = "") -> KubeObject:
        def holds(obj: KubeObject) -> bool:
            found = conditions(obj).get(kind) or {}
            return found.get("reason") == reason and message in found.get("message", "")

        return place.wait("subscriptions", "plain", holds, what=f"{kind} {reason} {message}")

    place.patch("installplans", name, {"spec": {"approved": False, "approval": "Manual"}})
    puppet("RequiresApproval")
    wait_reason("InstallPlanPending", "RequiresApproval")
    puppet("Failed")
    wait_reason("InstallPlanFailed", "InstallPlanFailed")
    why = {"type": "Installed", "status": "False", "reason": "InstallComponentFailed"}
    puppet("Failed", why | {"message": "it broke"})
    found = wait_reason("InstallPlanFailed", "InstallComponentFailed", "it broke")
    assert set(conditions(found)) == {"CatalogSourcesUnhealthy", "InstallPlanFailed"}
    place.delete("installplans", name)
    missing = place.wait_condition("subscriptions", "plain", "InstallPlanMissing")
    assert missing["reason"] == "ReferencedInstallPlanNotFound"


def test_what_goes_away_is_said_while_it_is_installed(place: Place, bundles: Bundles) -> None:
    versions = bundles.of("aged", "1.0.0", "1.1.0")
    marks = [
        ({"schema": "olm.package"}, "the package ends"),
        ({"schema": "olm.channel", "name": "stable"}, "the channel ends"),
        ({"schema": "olm.bundle", "name": "aged.v1.0.0"}, "take 1.1.0"),
    ]
    entries = [{"reference": where, "message": message} for where, message in marks]
    deprecations: Blob = {"schema": "olm.deprecations", "package": "aged", "entries": entries}
    server = place.catalog("operators", channel(versions[:1]))
    place.subscribe("aged", source="operators", channel="stable")
    latest(place, "aged", "1.0.0")
    server.serve([*channel(versions[:1]), deprecations])
    sub = place.wait("subscriptions", "aged", lambda sub: "BundleDeprecated" in conditions(sub))
    found = conditions(sub)
    assert found["PackageDeprecated"]["message"] == "olm.package/aged: the package ends"
    assert found["ChannelDeprecated"]["message"] == "olm.channel/stable: the channel ends"
    assert found["BundleDeprecated"]["message"] == "olm.bundle/aged.v1.0.0: take 1.1.0"
    server.serve([*channel(versions), deprecations])
    latest(place, "aged", "1.1.0")
    place.wait("subscriptions", "aged", lambda sub: "BundleDeprecated" not in conditions(sub))


def test_a_bundle_that_cannot_be_pulled_is_reported_until_the_catalog_has_another(
    classic: Classic, place: Place, bundles: Bundles
) -> None:
    group = place.path("operatorgroups", "group", version=V1)
    soon = {"operatorframework.io/bundle-unpack-timeout": "1s"}
    classic.api.patch(group, {"metadata": {"annotations": soon}})
    (good,) = bundles.of("pulled", "1.0.0")
    server = place.catalog("operators", channel([replace(good, image=f"{good.image}-lost")]))
    place.subscribe("pulled", source="operators")
    failed = place.wait_condition("subscriptions", "pulled", "BundleUnpackFailed")
    assert failed["reason"] == "BundleUnpackFailed"
    assert failed["message"].startswith("Bundle unpacking failed - DeadlineExceeded: ")
    assert place.install_plans() == []
    server.serve(channel([good]))
    assert not {"BundleUnpackFailed", "BundleUnpacking"} & set(
        conditions(latest(place, "pulled", "1.0.0"))
    )


def test_a_bundle_that_stands_in_the_catalog_is_installed_if_it_is_whole(place: Place) -> None:
    operator = BundleSpec(package="inside", version="1.0.0")
    csv = operator._csv()
    config_map = yaml.safe_load(operator.files()["manifests/settings.yaml"])

    def blobs(*objects: KubeObject) -> list[Blob]:
        found = channel([operator.as_published("")])
        data = [{"data": base64.b64encode(orjson.dumps(each)).decode()} for each in objects]
        held = ({"type": "olm.bundle.object", "value": each} for each in data)
        return with_properties(found, operator.name, *held)

    without = {key: value for key, value in csv.items() if key != "apiVersion"}
    server = place.catalog("operators", blobs(without, config_map))
    place.subscribe("inside", source="operators")
    failed = place.wait_condition("subscriptions", "inside", "BundleUnpackFailed")
    assert failed["reason"] == "ErrorPreventedUnpacking"
    assert failed["message"] == "bundle CSV inside.v1.0.0 missing APIVersion"
    server.serve(blobs(csv, config_map))
    latest(place, "inside", "1.0.0")
    manifests = [each["resource"]["manifest"] for each in status(place.install_plans()[0], "plan")]
    assert not any("catalogSourceName" in each for each in manifests)


def test_a_subscription_may_name_another_package(place: Place, shelf: str) -> None:
    serving(place, shelf)
    place.subscribe("plain", source="operators")
    latest(place, "plain", "1.0.0")
    place.patch("subscriptions", "plain", {"spec": {"name": "renamed"}})
    place.wait_subscription("plain", state="AtLatestKnown", installedCSV="renamed.v2.0.0")
    gone(place, "clusterserviceversions", "plain.v1.0.0")


def test_nothing_is_resolved_without_one_operator_group(place: Place, shelf: str) -> None:
    serving(place, shelf)
    place.create(V1, "OperatorGroup", "second", {})
    place.subscribe("plain", source="operators")
    place.wait_condition("subscriptions", "plain", "CatalogSourcesUnhealthy", "False")
    assert place.install_plans() == []
    place.classic.api.delete(place.path("operatorgroups", "second", version=V1))
    latest(place, "plain", "1.0.0")


def test_a_dependency_comes_from_the_catalog_of_higher_priority(
    place: Place, bundles: Bundles, shelf: str
) -> None:
    asking = channel(bundles.of("asking", "1.0.0"))
    with_properties(asking, "asking.v1.0.0", api("Thing", required=True))
    serving(place, shelf, "a")
    serving(place, shelf, "b", priority=10)
    place.catalog("own", asking)
    place.subscribe("asking", source="own")
    place.wait_subscription(f"gives-stable-b-{place.name}", installedCSV="gives.v1.0.0")


def test_a_dead_global_catalog_may_be_left_out(classic: Classic, place: Place, shelf: str) -> None:
    dead = Place(classic, "olm")
    serving(dead, "127.0.0.1:1", "dead")
    try:
        serving(place, shelf)
        dead.wait_catalog("dead", "TRANSIENT_FAILURE")
        place.subscribe("plain", source="operators")
        failed = place.wait_condition("subscriptions", "plain", "ResolutionFailed")
        assert failed["message"].startswith("error using catalogsource olm/dead: ")
        group = place.path("operatorgroups", "group", version=V1)
        excluded = {"olm.operatorframework.io/exclude-global-namespace-resolution": "true"}
        classic.api.patch(group, {"metadata": {"annotations": excluded}})
        latest(place, "plain", "1.0.0")
    finally:
        dead.delete("catalogsources", "dead")


def test_namespaces_may_wait_for_the_same_bundle(classic: Classic, bundles: Bundles) -> None:
    everywhere = Place(classic, "olm")
    everywhere.catalog("everywhere", channel(bundles.of("everywhere", "1.0.0")))
    everywhere.wait_catalog("everywhere")
    try:
        places = [classic.place() for _ in range(3)]
        for place in places:
            place.subscribe("everywhere", source="everywhere", namespace="olm")
        for place in places:
            latest(place, "everywhere", "1.0.0")
    finally:
        everywhere.delete("catalogsources", "everywhere")
    log = (classic.work_dir / "logs" / "catalog-operator.log").read_text()
    assert "unexpected failure" not in log


def test_a_plan_that_fails_is_left_behind_where_that_is_asked_for(
    classic: Classic, registry: Registry, bundles: Bundles
) -> None:
    place = classic.place(group={"upgradeStrategy": "TechPreviewUnsafeFailForward"})
    good, best = bundles.of("forward", "1.0.0", "1.2.0")
    bad = Broken(package="forward", version="1.1.0").publish(registry)
    classic.stand_ins.operator.phases[bad.name] = ""
    server = place.catalog("operators", channel([good]))
    place.subscribe("forward", source="operators")
    latest(place, "forward", "1.0.0")
    server.serve(channel([good, bad]))

    def is_tried(sub: KubeObject) -> bool:
        messages = [status(plan, "message") or "" for plan in place.install_plans()]
        return any("GroupVersionKind autoscaling.k8s.io/v1" in each for each in messages)

    place.wait("subscriptions", "forward", is_tried)
    plan = place.install_plans()[-1]
    path = f"{place.path('installplans', plan['metadata']['name'])}/status"
    classic.api.patch(path, {"status": {"phase": "Failed"}})
    place.wait_condition("subscriptions", "forward", "InstallPlanFailed")
    server.serve(channel([good, bad, best]))
    place.wait_csv("forward.v1.2.0")
