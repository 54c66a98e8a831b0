"""Revisions that are given up: nothing is lost with them, and nothing of them is in the way."""

from collections.abc import Iterator
from typing import Any

import pytest

from api.objects import KubeObject, annotations_of, condition, metadata
from api.olm.v1 import names
from tests.integration.object_sets.test_probes import by_kind, field_value
from tests.integration.object_sets.world import (
    World,
    crd,
    make_extension,
    quiet,
    revision_of,
    within,
)

pytestmark = pytest.mark.integration

ARCHIVED = "revision is archived"
NEVER = by_kind("ConfigMap", field_value("data.ready", "yes"))


@pytest.fixture
def reference(world: World) -> Iterator[dict[str, Any]]:
    yield make_extension(world)
    world.product.control_plane.remove(world.extension_path)


def stuck(
    world: World, reference: dict[str, Any], number: int, *phases: list[KubeObject]
) -> KubeObject:
    """A revision that waits for its last phase, because a probe fails."""
    found = revision_of(world, reference, number, *phases, [world.config_map("last")])
    found["spec"]["progressionProbes"] = [NEVER]
    return found


def ready(world: World, name: str, number: int) -> KubeObject:
    return world.config_map(name, ready="yes", n=str(number))


def active(world: World) -> list[str]:
    found = world.api.get(world.extension_path) or {}
    return [each["name"] for each in (found.get("status") or {}).get("activeRevisions") or ()]


def definition(group: str) -> str:
    return f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.{group}"


def test_what_never_rolled_out_goes_as_soon_as_something_newer_is_to_be_there(
    world: World, reference: dict[str, Any]
) -> None:
    world.apply(revision_of(world, reference, 1, [ready(world, "both", 1)]))
    world.wait("Succeeded", "True", name="1")
    uid = metadata(world.map("both"))["uid"]
    for number in (2, 3, 4):
        own = [ready(world, "both", number), world.config_map(f"only-{number}")]
        world.apply(stuck(world, reference, number, own))
        world.wait("Available", "False", name=str(number), message=f"only-{number}")
    for gone in ("2", "3"):
        world.wait("Progressing", "False", name=gone, message=ARCHIVED)
        assert world.api.get(world.map_path(f"only-{gone}")) is None
    expected = [world.set_name("1"), world.set_name("4")]
    within(60, lambda: active(world) == expected, "the status has one of those on the way")
    assert world.api.get(world.map_path("only-4")) is not None
    assert metadata(world.map("both"))["uid"] == uid


def test_what_a_revision_had_that_was_given_up_goes_with_the_last_that_has_it(
    world: World, reference: dict[str, Any]
) -> None:
    """Though that one never came to it, and so another one applied it last."""
    world.apply(revision_of(world, reference, 1, [ready(world, "both", 1)]))
    world.wait("Succeeded", "True", name="1")
    world.apply(stuck(world, reference, 2, [ready(world, "passing", 2)]))
    world.api.wait(world.map_path("passing"), lambda obj: obj is not None, what="it is there")
    world.apply(
        stuck(world, reference, 3, [world.config_map("gate")], [ready(world, "passing", 3)])
    )
    world.wait("Progressing", "False", name="2", message=ARCHIVED)
    assert annotations_of(world.map("passing"))[names.ANNOTATION_REVISION] == "2"
    world.apply(revision_of(world, reference, 4, [ready(world, "both", 4)]))
    world.wait("Succeeded", "True", name="4")
    world.wait("Progressing", "False", name="3", message=ARCHIVED)
    assert world.api.get(world.map_path("passing")) is None


def test_archiving_the_newest_leaves_what_the_one_in_service_has(
    world: World, reference: dict[str, Any]
) -> None:
    group = f"{world.namespace}.example.com"
    world.apply(revision_of(world, reference, 1, [crd(group)], [ready(world, "both", 1)]))
    world.wait("Succeeded", "True", name="1")
    before = world.api.get(definition(group)) or {}
    changed = crd(group)
    changed["metadata"]["labels"] = {"changed": "yes"}
    own = [ready(world, "both", 2), world.config_map("only-2")]
    world.apply(stuck(world, reference, 2, [changed], own))
    world.wait("Available", "False", name="2", message="only-2")
    assert annotations_of(world.map("both"))[names.ANNOTATION_REVISION] == "2"
    world.api.patch(world.path("2"), {"spec": {"lifecycleState": "Archived"}})
    world.wait("Progressing", "False", name="2", message=ARCHIVED)
    assert world.api.get(world.map_path("only-2")) is None
    after = world.api.get(definition(group)) or {}
    assert metadata(after).get("uid") == metadata(before)["uid"]
    assert not metadata(after).get("deletionTimestamp")
    within(60, lambda: world.map("both")["data"]["n"] == "1", "what is in service is as it was")


def webhook(world: World, name: str, number: int) -> KubeObject:
    """A configuration of a webhook for ConfigMaps that nobody answers."""
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE", "UPDATE"],
        "resources": ["configmaps"],
    }
    home = {"matchLabels": {"kubernetes.io/metadata.name": world.namespace}}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": f"{world.namespace}-{name}", "labels": {"n": str(number)}},
        "webhooks": [
            {
                "name": f"{name}.example.com",
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
                "failurePolicy": "Fail",
                "timeoutSeconds": 1,
                "clientConfig": {"url": "https://127.0.0.1:1/validate"},
                "namespaceSelector": home,
                "rules": [rule],
            }
        ],
    }


def webhook_path(world: World, name: str) -> str:
    collection = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    return f"{collection}/{world.namespace}-{name}"


def test_broken_webhooks_of_the_version_before_do_not_hold_up_the_good_one(
    world: World, reference: dict[str, Any]
) -> None:
    """Also where the good one has the same webhook, and where the bad one had rolled out."""
    world.apply(revision_of(world, reference, 1, [ready(world, "settings", 1)]))
    world.wait("Succeeded", "True", name="1")
    bad = [webhook(world, name, 2) for name in ("shared", "only-2")]
    world.apply(revision_of(world, reference, 2, [ready(world, "settings", 2)], bad))
    world.wait("Succeeded", "True", name="2")
    good = [ready(world, "settings", 3)], [webhook(world, "shared", 3)]
    world.apply(revision_of(world, reference, 3, *good))
    world.wait("Succeeded", "True", name="3")
    assert world.map("settings")["data"]["n"] == "3"
    assert metadata(world.api.get(webhook_path(world, "shared")) or {})["labels"]["n"] == "3"
    world.wait("Progressing", "False", name="2", message=ARCHIVED)
    assert world.api.get(webhook_path(world, "only-2")) is None


def test_a_broken_webhook_of_a_version_that_never_rolled_out_goes_with_it(
    world: World, reference: dict[str, Any]
) -> None:
    world.apply(revision_of(world, reference, 1, [ready(world, "settings", 1)]))
    world.wait("Succeeded", "True", name="1")
    bad = [webhook(world, "only-2", 2)], [world.config_map("refused")]
    world.apply(revision_of(world, reference, 2, *bad))
    world.wait("Progressing", "True", name="2", message="only-2.example.com")
    world.apply(revision_of(world, reference, 3, [ready(world, "settings", 3)]))
    world.wait("Succeeded", "True", name="3")
    assert world.map("settings")["data"]["n"] == "3"
    assert world.api.get(webhook_path(world, "only-2")) is None


def test_what_may_not_be_removed_is_reported_on_the_extension_and_not_forgotten(
    world: World, reference: dict[str, Any]
) -> None:
    world.apply(revision_of(world, reference, 1, [world.config_map("old")]))
    world.wait("Succeeded", "True", name="1")
    restrict(world, "get", "list", "watch", "create", "update", "patch")
    for number in range(2, 9):
        world.apply(revision_of(world, reference, number, [world.config_map("new", n=str(number))]))
        world.wait("Succeeded", "True", name=str(number))
    message = (
        f"what only revision {world.set_name('1')} had is not removed: "
        f'ConfigMap {world.namespace}/old: configmaps "old" is forbidden: '
        f'User "{world.account}" cannot delete'
    )

    def reported() -> bool:
        found = condition(world.api.get(world.extension_path) or {}, "Progressing") or {}
        return message in found.get("message", "")

    within(60, reported, "the extension reports it")
    quiet(world)
    assert world.api.get(world.path("1")) is not None
    restrict(world, "*")
    world.wait("Progressing", "False", name="1", message=ARCHIVED)
    assert world.api.get(world.map_path("old")) is None


def restrict(world: World, *verbs: str) -> None:
    """Lets the account do that much with ConfigMaps, and nothing with anything else."""
    world.revoke()
    name = f"{world.namespace}-installer"
    rules = [
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": list(verbs)},
        {"apiGroups": [names.GROUP], "resources": ["*"], "verbs": ["*"]},
    ]
    group = "rbac.authorization.k8s.io"
    role = {"kind": "ClusterRole", "metadata": {"name": name}, "rules": rules}
    binding = {
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": "installer", "namespace": world.namespace}],
    }
    for obj in (role, binding):
        world.apply({"apiVersion": f"{group}/v1", **obj})
