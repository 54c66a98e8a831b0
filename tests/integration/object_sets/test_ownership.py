"""An object has one owner: every row of the ownership table on a real API server."""

import pytest

from api.objects import condition, metadata
from e2e.olm.programs import DEFINITIONS
from tests.integration.health import CURRENT, IN_PROGRESS, judged
from tests.integration.object_sets.world import (
    World,
    crd,
    within,
)

pytestmark = pytest.mark.integration


class TestOwnership:
    def test_a_foreign_object_is_refused_and_the_set_heals_when_it_goes(self, world: World) -> None:
        world.apply(world.config_map(a="theirs"))
        world.apply(world.object_set([world.config_map(a="ours")]))
        message = (
            f"ConfigMap 'settings' already exists in namespace '{world.namespace}' "
            "and cannot be managed by operator-controller"
        )
        refused = world.wait("Progressing", "True", message=message)
        assert world.map()["data"] == {"a": "theirs"}
        world.api.delete(world.map_path())
        rolled_out = world.wait("Succeeded", "True")
        assert world.map()["data"] == {"a": "ours"}
        assert judged([refused, rolled_out]) == [IN_PROGRESS, CURRENT]

    def test_whose_it_is_counts_more_than_what_is_wrong_with_it(self, world: World) -> None:
        world.apply(world.config_map(a="theirs"))
        world.apply(world.object_set([world.config_map(**{"no key!": "ours"})]))
        world.wait("Progressing", "True", message="ConfigMap 'settings' already exists")
        world.api.delete(world.map_path())
        world.wait("Progressing", "True", message="a valid config key must consist of")

    @pytest.mark.parametrize("policy", ["IfNoController", "None"])
    def test_a_foreign_object_is_adopted_where_the_policy_says_so(
        self, world: World, policy: str
    ) -> None:
        world.apply(world.config_map(a="theirs", b="theirs"))
        world.apply(world.object_set([world.config_map(a="ours")], collisionProtection=policy))
        world.wait("Succeeded", "True")
        assert world.map()["data"] == {"a": "ours", "b": "theirs"}

    def test_a_controlled_object_is_taken_over_only_with_policy_none(self, world: World) -> None:
        root = world.config_map("root")
        world.apply(root)
        reference = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": "root",
            "uid": metadata(world.map("root"))["uid"],
            "controller": True,
        }
        theirs = world.config_map(a="theirs")
        theirs["metadata"]["ownerReferences"] = [reference]
        world.apply(theirs)
        careful = world.object_set(
            [world.config_map(a="ours")], name="careful", collisionProtection="IfNoController"
        )
        world.apply(careful)
        world.wait("Progressing", "True", name="careful", message="controlled by ConfigMap 'root'")
        world.product.control_plane.end(world.path("careful"))
        world.apply(world.object_set([world.config_map(a="ours")], collisionProtection="None"))
        world.wait("Succeeded", "True")
        live = world.map()
        assert live["data"] == {"a": "ours"}
        controllers = {r["name"]: r["controller"] for r in metadata(live)["ownerReferences"]}
        assert controllers == {"root": False, world.set_name(): True}

    def test_of_two_sets_that_claim_an_object_exactly_one_has_it(self, world: World) -> None:
        pair = ("left", "right")
        world.apply(*(world.object_set([world.config_map(a=name)], name=name) for name in pair))

        def verdicts() -> dict[str, str]:
            found = {name: world.api.get(world.path(name)) for name in pair}
            return {
                name: (condition(obj, "Progressing") or {}).get("reason", "") if obj else ""
                for name, obj in found.items()
            }

        within(60, lambda: sorted(verdicts().values()) == ["Retrying", "Succeeded"], "one has it")
        winner = next(name for name, reason in verdicts().items() if reason == "Succeeded")
        loser = next(name for name in pair if name != winner)
        assert world.map()["data"] == {"a": winner}
        owner = f"it belongs to ClusterObjectSet '{world.set_name(winner)}'"
        world.wait("Progressing", "True", name=loser, message=owner)
        world.product.control_plane.end(world.path(winner))
        world.wait("Succeeded", "True", name=loser)
        within(60, lambda: world.map()["data"] == {"a": loser}, "the other has it now")

    @pytest.mark.parametrize(
        ("policy", "taken"), [("Prevent", False), ("IfNoController", False), ("None", True)]
    )
    def test_an_object_of_a_helm_release_is_named_with_its_release(
        self, world: World, policy: str, taken: bool
    ) -> None:
        theirs = world.config_map(a="theirs")
        theirs["metadata"]["annotations"] = {"meta.helm.sh/release-name": "shop"}
        world.apply(theirs)
        world.apply(world.object_set([world.config_map(a="ours")], collisionProtection=policy))
        if taken:
            world.wait("Succeeded", "True")
        else:
            world.wait("Progressing", "True", message="it belongs to the Helm release 'shop'")
        assert world.map()["data"] == {"a": "ours" if taken else "theirs"}

    def test_what_a_cluster_service_version_owns_is_refused_whatever_the_policy(
        self, world: World
    ) -> None:
        theirs = world.config_map(a="theirs")
        theirs["metadata"]["ownerReferences"] = [
            {
                "apiVersion": "operators.coreos.com/v1alpha1",
                "kind": "ClusterServiceVersion",
                "name": "shop.v1.0.0",
                "uid": "uid-of-shop",
            }
        ]
        world.apply(theirs)
        world.apply(world.object_set([world.config_map(a="ours")], collisionProtection="None"))
        named = f"ClusterServiceVersion 'shop.v1.0.0' in namespace '{world.namespace}'"
        world.wait("Progressing", "True", message=f"it belongs to {named} of OLM Classic")
        assert world.map()["data"] == {"a": "theirs"}
        world.api.patch(world.map_path(), {"metadata": {"ownerReferences": None}})
        world.wait("Succeeded", "True")
        assert world.map()["data"] == {"a": "ours"}

    def test_a_definition_of_a_cluster_service_version_is_refused(self, world: World) -> None:
        definition = crd(group := f"{world.namespace}.example.com")
        noted = {"operatorframework.io/installed-alongside-1": "team/shop.v1.0.0"}
        theirs = {"name": f"things.{group}", "annotations": noted}
        world.apply({**definition, "metadata": theirs})
        world.apply(world.object_set([definition], collisionProtection="None"))
        named = "ClusterServiceVersion 'shop.v1.0.0' in namespace 'team'"
        world.wait("Progressing", "True", message=f"it belongs to {named} of OLM Classic")
        world.api.delete(f"{DEFINITIONS}/things.{group}")
        world.wait("Succeeded", "True")

    def test_what_an_orphaned_set_left_is_taken_over_by_its_successor(self, world: World) -> None:
        world.apply(world.object_set([world.config_map(a="1")]))
        world.wait("Succeeded", "True")
        uid = metadata(world.map())["uid"]
        world.api.delete(world.path(), propagation="Orphan")
        world.api.wait_gone(world.path())
        world.apply(world.object_set([world.config_map(a="2")]))
        found = world.wait("Succeeded", "True")
        live = world.map()
        assert (metadata(live)["uid"], live["data"]) == (uid, {"a": "2"})
        [reference] = metadata(live)["ownerReferences"]
        assert reference["uid"] == metadata(found)["uid"]
