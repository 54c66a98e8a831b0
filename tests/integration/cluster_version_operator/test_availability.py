"""Which updates a cluster is offered: by an update service, and by a metrics store of risks."""

import time
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Any

import pytest

from e2e.harness.controlplane import wait_until
from e2e.olm.cluster_updates import CLUSTER_ID, CLUSTER_VERSION, ClusterUpdates
from e2e.olm.feature_gates import FeatureGates
from e2e.olm.graph_server import GraphServer, graph_of, risk
from e2e.olm.releases import ReleaseSpec
from olm_runtime.registry.settings import this_platform

pytestmark = pytest.mark.integration

FIRST = ReleaseSpec("1.0.0")
OFTEN = ("--update-check-interval=500ms", "--risk-check-interval=1s")
ONCE = ("--update-check-interval=1h", "--risk-check-interval=1s")
RETRIEVED = "RetrievedUpdates"


@pytest.fixture
def service() -> Iterator[GraphServer]:
    with GraphServer() as server:
        server.graph = graph_of(["1.0.0", "1.0.1"], [("1.0.0", "1.0.1")])
        yield server


@pytest.fixture
def start(cluster: ClusterUpdates, service: GraphServer) -> Callable[..., None]:
    """Starts the operator of a cluster that follows the service's channel `stable`."""

    def begin(*flags: str) -> None:
        change(cluster, upstream=f"{service.upstream}?z=1&b=2", channel="stable")
        cluster.start(FIRST, f"--metrics-url={service.address}", *flags)

    return begin


def change(cluster: ClusterUpdates, **spec: Any) -> None:
    cluster.api.patch(CLUSTER_VERSION, {"spec": spec})


def available(cluster: ClusterUpdates) -> list[str]:
    status = cluster.version.get("status") or {}
    return [each["version"] for each in status.get("availableUpdates") or ()]


def recommended(cluster: ClusterUpdates) -> dict[str, tuple[str, str, str]]:
    """Status, reason and message of the condition of each conditional update, by version."""
    conditions = {}
    status = cluster.version.get("status") or {}
    for update in status.get("conditionalUpdates") or ():
        [found] = update["conditions"]
        assert found["type"] == "Recommended"
        conditions[update["release"]["version"]] = (
            found["status"],
            found["reason"],
            found["message"],
        )
    return conditions


def wait_available(cluster: ClusterUpdates, *versions: str) -> None:
    wait_until(lambda: available(cluster) == [*versions], what=f"{versions} are available")


def wait_recommended(cluster: ClusterUpdates, version: str, *expected: str) -> str:
    """Wait until an update is recommended or not, for a reason; the message."""
    wait_until(
        lambda: recommended(cluster).get(version, ())[:2] == expected,
        what=f"{version} is {expected}",
    )
    return recommended(cluster)[version][2]


def test_updates_are_those_of_the_service(
    cluster: ClusterUpdates, service: GraphServer, start: Callable[..., None]
) -> None:
    """Scenarios 14, 16, 18 and 19."""
    start(*OFTEN)
    cluster.wait_condition(RETRIEVED, "True")
    assert cluster.version["status"]["availableUpdates"] == [
        {
            "version": "1.0.1",
            "image": "example.com/release@sha256:1.0.1",
            "url": "https://example.com/1.0.1",
            "channels": ["fast", "stable"],
        }
    ]
    asked = service.asked[0]
    assert asked.path == "/graph"
    own = f"channel=stable&id={CLUSTER_ID}&version=1.0.0"
    assert asked.query == f"arch={this_platform().architecture}&b=2&{own}&z=1"
    assert asked.headers["Accept"] == "application/json"
    assert asked.headers["User-Agent"].startswith("ClusterVersionOperator/")

    service.status = HTTPStatus.SERVICE_UNAVAILABLE
    message = cluster.wait_condition(RETRIEVED, "False")
    failure = "unexpected HTTP status: 503 Service Unavailable"
    assert message == f"Unable to retrieve available updates: {failure}"
    assert cluster.condition(RETRIEVED)[1] == "ResponseFailed"
    assert available(cluster) == ["1.0.1"]

    service.status = HTTPStatus.OK
    edges = [("1.0.0", "1.0.1"), ("1.0.0", "1.1.0")]
    service.graph = graph_of(["1.0.0", "1.0.1", "1.1.0"], edges)
    wait_available(cluster, "1.1.0", "1.0.1")
    assert cluster.condition(RETRIEVED) == ("True", "", "")


def test_another_channel_is_asked_for_at_once(
    cluster: ClusterUpdates, service: GraphServer, start: Callable[..., None]
) -> None:
    """Scenarios 15 and 17, and a restart in between."""
    start(*ONCE)
    wait_available(cluster, "1.0.1")
    before = cluster.version["status"]["conditions"]
    cluster.kill()
    cluster.restart()
    wait_until(lambda: len(service.asked) > 1, what="the new process asks, too")
    cluster.wait_condition(RETRIEVED, "True")
    after = cluster.version["status"]["conditions"]
    assert [each for each in before if each["type"] == RETRIEVED] == [
        each for each in after if each["type"] == RETRIEVED
    ]

    service.graph = graph_of(["2.0.0"])
    change(cluster, channel="next")
    message = cluster.wait_condition(RETRIEVED, "False", "not found")
    assert message.endswith(
        'currently reconciling cluster version 1.0.0 not found in the "next" channel'
    )
    assert cluster.condition(RETRIEVED)[1] == "VersionNotFound"
    assert cluster.version["status"]["availableUpdates"] is None

    count = len(service.asked)
    change(cluster, channel="")
    cluster.wait_condition(RETRIEVED, "False", "The update channel has not been configured.")
    assert cluster.condition(RETRIEVED)[1] == "NoChannel"
    assert cluster.version["status"]["availableUpdates"] is None
    assert len(service.asked) == count


def test_updates_with_risks_are_conditional(
    cluster: ClusterUpdates, service: GraphServer, start: Callable[..., None]
) -> None:
    """Scenarios 20, 21, 24 and 25."""
    versions = [f"1.0.{patch}" for patch in range(7)]
    service.values = {"no": "0"}
    always, other, never = risk("Always"), risk("Other"), risk("Never", "no")
    strange = risk("Strange", "x", kind="Unheard")
    service.graph = graph_of(
        versions,
        [("1.0.0", version) for version in versions[1:]],
        [
            ("1.0.0", "1.0.1", [always]),
            ("1.0.0", "1.0.2", [never]),
            ("1.0.0", "1.0.3", [always, other]),
            ("1.0.0", "1.0.4", [always]),
            ("1.0.0", "1.0.4", [never]),
            ("1.0.0", "1.0.5", [strange]),
        ],
    )
    start(*OFTEN)
    wait_available(cluster, "1.0.6", "1.0.2")
    text = "The update is recommended, because none of the conditional update risks apply"
    multiple = "\n\n".join(
        f"{name} may happen. https://example.com/{name}" for name in ("Always", "Other")
    )
    assert recommended(cluster) == {
        "1.0.3": ("False", "MultipleReasons", multiple),
        "1.0.2": ("True", "NotExposedToRisks", f"{text} to this cluster."),
        "1.0.1": ("False", "Always", "Always may happen. https://example.com/Always"),
    }
    found = next(
        each
        for each in cluster.version["status"]["conditionalUpdates"]
        if each["release"]["version"] == "1.0.2"
    )
    assert found["risks"] == [never]


def test_updates_move_between_the_lists_without_new_data(
    cluster: ClusterUpdates, service: GraphServer, start: Callable[..., None]
) -> None:
    """Scenarios 22 and 23."""
    service.values = {"broken": None}
    service.graph = graph_of(
        ["1.0.0", "1.0.1"], conditional=[("1.0.0", "1.0.1", [risk("Broken", "broken")])]
    )
    start(*ONCE)
    message = wait_recommended(cluster, "1.0.1", "Unknown", "EvaluationFailed")
    assert message.startswith("Could not evaluate exposure to update risk Broken (")
    assert available(cluster) == []
    assert len(service.asked) == 1

    service.values = {"broken": "0"}
    wait_available(cluster, "1.0.1")
    assert recommended(cluster)["1.0.1"][:2] == ("True", "NotExposedToRisks")
    assert len(service.asked) == 1

    cluster.stop()
    start(*OFTEN)
    wait_until(lambda: len(service.asked) > 1, what="the service is asked again")
    wait_available(cluster, "1.0.1")
    service.status = HTTPStatus.BAD_GATEWAY
    cluster.wait_condition(RETRIEVED, "False", "502 Bad Gateway")
    service.values = {"broken": "1"}
    wait_recommended(cluster, "1.0.1", "False", "Broken")
    assert available(cluster) == []


def test_a_metrics_store_is_asked_a_query_a_second(
    cluster: ClusterUpdates, service: GraphServer, start: Callable[..., None]
) -> None:
    """Scenario 26, with fewer queries; all their turns are tried in unit tests."""
    queries = [f"query_{number}" for number in range(5)]
    service.values = dict.fromkeys(queries, "0")
    risks = [risk(f"Risk{number}", query) for number, query in enumerate(queries)]
    service.graph = graph_of(["1.0.0", "1.0.1"], conditional=[("1.0.0", "1.0.1", risks)])
    began = time.monotonic()
    start("--update-check-interval=1h")
    wait_available(cluster, "1.0.1")
    assert time.monotonic() - began > len(queries) - 1
    assert sorted(service.queries) == queries


def test_an_update_is_asked_for_by_its_version(level: ClusterUpdates, service: GraphServer) -> None:
    """Scenarios 27, 49 and 53: the version of the running release is in no list afterwards."""
    second = ReleaseSpec("1.0.1")
    images = {"1.0.1": second.publish(level.registry)}
    edges = [("1.0.0", "1.0.1"), ("1.0.1", "1.1.0")]
    service.graph = graph_of(["1.0.0", "1.0.1", "1.1.0"], edges, images=images)
    change(level, upstream=service.upstream, channel="stable")
    wait_available(level, "1.0.1")
    level.ask(version="1.0.1", force=True)
    level.wait_condition("ReleaseAccepted", "True", "1.0.1")
    level.report("1.0.1")
    level.wait_level("1.0.1")
    wait_available(level, "1.1.0")

    def entries() -> list[tuple[str, str]]:
        return [(each["version"], each["state"]) for each in level.version["status"]["history"]]

    after = [("1.0.1", "Completed"), ("1.0.0", "Completed")]
    assert entries() == after
    level.ask(version="1.0.7")
    level.wait_condition("Invalid", "True", "the update must be an available update")
    level.ask()
    wait_until(lambda: level.condition("Invalid")[0] == "", what="the ClusterVersion is valid")
    level.wait_level("1.0.1")
    assert level.condition("ReleaseAccepted")[0] == "True"
    assert entries() == after


def test_an_update_that_is_not_recommended_is_remembered_with_its_risk(
    level: ClusterUpdates, service: GraphServer
) -> None:
    """Scenario 52."""
    image = ReleaseSpec("1.0.1").publish(level.registry)
    edge = ("1.0.0", "1.0.1", [risk("Always")])
    service.graph = graph_of(["1.0.0", "1.0.1"], conditional=[edge], images={"1.0.1": image})
    change(level, upstream=service.upstream, channel="stable")
    wait_recommended(level, "1.0.1", "False", "Always")
    level.ask(version="1.0.1", force=True)
    level.wait_condition("Invalid", "True", "the update must be an available update")
    level.ask(version="1.0.1", image=image, force=True)
    level.wait_condition("ReleaseAccepted", "True", "1.0.1")
    wait_until(lambda: len(level.version["status"]["history"]) == 2, what="the update begins")
    accepted = level.version["status"]["history"][0]["acceptedRisks"]
    assert "Update from 1.0.0 to 1.0.1 is not recommended:" in accepted
    assert "Always may happen. https://example.com/Always" in accepted


UPDATING = "ClusterVersionUpdating"


def risk_names(cluster: ClusterUpdates) -> list[list[str]]:
    """Those of each conditional update."""
    return [each["riskNames"] for each in cluster.version["status"]["conditionalUpdates"]]


def test_risks_are_accepted_by_name_where_the_gate_for_that_is_on(
    cluster: ClusterUpdates,
    service: GraphServer,
    start: Callable[..., None],
    feature_gates: FeatureGates,
) -> None:
    """Risks of the cluster's own are added, for minor updates only, and may be accepted, too."""
    plain, risky = ("1.0.0", "1.1.0"), ("1.0.0", "1.0.1", [risk("Slow")])
    service.graph = graph_of(["1.0.0", "1.0.1", "1.1.0"], [plain], [risky])
    labels = {"alertname": "Fires", "severity": "critical"}
    service.alerts = [{"labels": labels, "state": "firing"}]
    feature_gates.set("CustomNoUpgrade", {"1.0.0": ["ClusterUpdateAcceptRisks"]})
    start(*ONCE)
    cluster.report("1.0.0")
    cluster.report("1.0.0", ["gamma"], message="Gamma is old.", Upgradeable="False")
    cluster.wait_level("1.0.0")
    own = "ClusterOperatorUpgradeable-gamma"
    wait_recommended(cluster, "1.1.0", "False", "MultipleReasons")
    wait_until(lambda: "Gamma is old. https://" in recommended(cluster)["1.1.0"][2], what="gamma")
    wait_recommended(cluster, "1.0.1", "False", "MultipleReasons")
    wait_available(cluster)
    # That the cluster was updating is a risk of its own until that is evaluated anew.
    wait_until(lambda: UPDATING not in str(risk_names(cluster)), what="only lasting risks")
    status = cluster.version["status"]
    assert risk_names(cluster) == [["Fires", own], ["Slow", "Fires"]]
    verdicts = {each["name"]: each["conditions"][0] for each in status["conditionalUpdateRisks"]}
    assert {name: (each["status"], each["reason"]) for name, each in verdicts.items()} == {
        own: ("True", "Match"),
        "Fires": ("True", "Alert:firing"),
        "Slow": ("True", "Match"),
    }
    risks = [{"name": "Slow"}, {"name": "Fires"}]
    cluster.ask(acceptRisks=risks[:1])
    wait_recommended(cluster, "1.0.1", "False", "Fires")
    cluster.ask(acceptRisks=risks)
    wait_recommended(cluster, "1.0.1", "True", "AllExposedRisksAccepted")
    wait_available(cluster, "1.0.1")
    cluster.ask(acceptRisks=[*risks, {"name": own}])
    wait_available(cluster, "1.1.0", "1.0.1")
    assert cluster.condition("Invalid") == ("", "", "")
    assert len(service.asked) == 1
    feature_gates.set("", {"1.0.0": []})
    cluster.wait_condition("Invalid", "True", "acceptRisks must not be specified")
    wait_recommended(cluster, "1.0.1", "False", "Slow")
    wait_available(cluster, "1.1.0")
    assert "conditionalUpdateRisks" not in cluster.version["status"]
