"""Installing and uninstalling by OLM Classic, as data."""

from typing import Any

import pytest

from api.objects import GVK
from olm_client.classic.installing import Offer, Wanted, installing
from olm_client.classic.removal import Removal, owned_definitions, removal_lines
from olm_runtime.errors import TerminalError

MODES = [
    {"type": "AllNamespaces", "supported": True},
    {"type": "OwnNamespace", "supported": False},
]
MANIFEST: dict[str, Any] = {
    "metadata": {"name": "hello", "namespace": "olm"},
    "status": {
        "packageName": "hello",
        "catalogSource": "community",
        "catalogSourceNamespace": "olm",
        "defaultChannel": "stable",
        "channels": [
            {"name": "stable", "currentCSV": "hello.v2", "currentCSVDesc": {"installModes": MODES}},
            {"name": "own", "currentCSV": "hello.v1"},
        ],
    },
}
OFFER = Offer.of(MANIFEST)
GROUP = {"metadata": {"name": "team", "namespace": "team"}}
TWO = "with 2 custom resources, which nobody looks after then"
SUBSCRIPTION: dict[str, Any] = {"metadata": {"name": "hello", "namespace": "team"}}


def test_a_subscription_and_what_it_needs_around_it() -> None:
    namespace, group, subscription = installing(OFFER, Wanted("team"), [])
    assert (namespace["kind"], namespace["metadata"]) == ("Namespace", {"name": "team"})
    assert (group["kind"], group["spec"]) == ("OperatorGroup", {})
    assert subscription["metadata"] == {"name": "hello", "namespace": "team"}
    assert subscription["spec"] == {
        "name": "hello",
        "channel": "stable",
        "source": "community",
        "sourceNamespace": "olm",
        "installPlanApproval": "Automatic",
    }


def test_a_group_that_is_there_is_left() -> None:
    elsewhere = {"metadata": {"name": "a", "namespace": "other"}}
    wanted = Wanted("team", channel="own", approval="Manual", everywhere=False)
    (subscription,) = installing(OFFER, wanted, [elsewhere, GROUP])
    assert subscription["spec"]["channel"] == "own"
    assert subscription["spec"]["installPlanApproval"] == "Manual"


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        (Wanted("team", everywhere=False), "hello.v2 does not support the install mode Own"),
        (Wanted("team", channel="own"), "hello.v1 does not support the install mode All"),
        (Wanted("team", channel="nightly"), 'has no channel "nightly"'),
        (Wanted(""), "is no name of a namespace"),
        (Wanted("Team"), "is no name of a namespace"),
        (Wanted("team\n"), "is no name of a namespace"),
        (Wanted("team", approval="never"), "neither Automatic nor Manual"),
    ],
)
def test_what_would_not_be_installed_is_refused(wanted: Wanted, why: str) -> None:
    with pytest.raises(TerminalError, match=why):
        list(installing(OFFER, wanted, []))


def test_a_manifest_may_say_nothing() -> None:
    offer = Offer.of({"metadata": {"name": "hello"}})
    assert (offer.package, offer.channels) == ("hello", ())


def test_a_preview_says_what_goes_and_what_stays() -> None:
    owned = {"name": "things.example.com", "version": "v1", "kind": "Thing"}
    account = {"serviceAccountName": "worker"}
    operator: dict[str, Any] = {
        "metadata": {"name": "hello.v2", "namespace": "team"},
        "spec": {
            "customresourcedefinitions": {"owned": [owned]},
            "install": {"spec": {"deployments": [{"name": "d"}], "clusterPermissions": [account]}},
        },
    }
    assert owned_definitions(operator) == {"things.example.com": GVK("example.com", "v1", "Thing")}
    removal = Removal(SUBSCRIPTION, operator, {"things.example.com": 2, "more.example.com": None})
    assert [each["metadata"]["name"] for each in removal.objects] == ["hello", "hello.v2"]
    assert removal_lines(removal) == [
        "Deleted:",
        "  Subscription hello in namespace team",
        "  ClusterServiceVersion hello.v2, and with it",
        "    Deployment d",
        "    the cluster-wide rights of ServiceAccount worker",
        "",
        "Stays:",
        f"  CustomResourceDefinition things.example.com, {TWO}",
        "  CustomResourceDefinition more.example.com, with custom resources that you may not count",
        "  OperatorGroups, and operators that were installed because this one needs them",
    ]


def test_a_subscription_that_has_installed_nothing_goes_alone() -> None:
    removal = Removal(SUBSCRIPTION, None, {})
    assert removal.objects == [SUBSCRIPTION]
    assert removal_lines(removal)[-1] == "Nothing is installed by it."
