"""Revisions behind each other, kills in between, and the quiet when all is done."""

import re
import time
from typing import Any

import pytest

from api.objects import KubeObject, annotations_of, condition, labels_of, metadata
from api.olm.v1 import names
from e2e.harness.controlplane import wait_until
from e2e.olm.api import OLM
from olm_runtime.watch.health import WatchTimes
from tests.integration.object_sets.world import (
    DRIFT_SECONDS,
    WRITES,
    World,
    deployment,
    make_extension,
    quiet,
    revision_of,
    within,
)

pytestmark = pytest.mark.integration


def restart(world: World) -> None:
    """Another process, which has looked at the objects."""
    asked = len(world.audit())
    world.product.kill(world.product.operator_controller)
    world.product.start_operator_controller()

    def looks() -> bool:
        return any(world.namespace in e["requestURI"] for e in world.asked(asked))

    wait_until(looks, what="it looks at the objects")


def of_others(world: World, event: KubeObject) -> bool:
    """Whether a request names what another test left, which may be looked at later."""
    named = re.findall(r"\btest-[0-9a-f]{8}", event["requestURI"])
    return bool(named) and world.namespace not in named


class TestLife:
    def test_archiving_removes_the_objects_and_says_so(self, world: World) -> None:
        world.apply(world.object_set([world.config_map("one")], [world.config_map("two")]))
        world.wait("Succeeded", "True")
        world.api.patch(world.path(), {"spec": {"lifecycleState": "Archived"}})
        found = world.wait("Progressing", "False", message="revision is archived")
        assert (condition(found, "Progressing") or {})["reason"] == "Archived"
        world.wait("Available", "Unknown", message="revision is archived")
        assert world.api.get(world.map_path("one")) is None
        assert world.api.get(world.map_path("two")) is None

    def test_deleting_removes_the_objects(self, world: World) -> None:
        world.apply(world.object_set([world.config_map("one")]))
        world.wait("Succeeded", "True")
        world.api.delete(world.path())
        world.api.wait_gone(world.path())
        world.api.wait_gone(world.map_path("one"))

    def test_a_steady_state_makes_no_requests_but_looks_at_apis(self, world: World) -> None:
        """Each twenty seconds every group and version is seen to be served.

        The server ends watches of our own kinds each minute, all at once.
        """
        world.apply(world.object_set([world.config_map(a="1"), deployment(world, replicas=0)]))
        world.wait("Available", "True")
        restart(world)  # one of some age has watches that are to begin anew, and lists that are due
        quiet(world)
        before = len(world.audit())
        time.sleep(3.0)
        asked = [e for e in world.asked(before) if not of_others(world, e)]
        requests = [(e["verb"], e["requestURI"]) for e in asked]
        ended = f"timeoutSeconds={WatchTimes().reopened}"
        requests = [each for each in requests if not each[1].endswith(ended)]
        looks = {("get", path) for path in ("/api/v1", "/apis/apps/v1", OLM)}
        assert [each for each in requests if each not in looks] == []

    def test_an_object_is_watched_once_however_often_its_set_is_reconciled(
        self, world: World
    ) -> None:
        world.apply(world.object_set([world.config_map()], [deployment(world, replicas=0)]))
        world.wait("Available", "True")

        def watching() -> list[str]:
            asked = world.requests("configmaps")
            opened = [e for e in asked if (e["verb"], e["stage"]) == ("watch", "ResponseStarted")]
            return [e["impersonatedUser"]["username"] for e in opened]

        quiet(world)
        before = watching()  # two, where the first took so long to begin that it was listed instead
        assert set(before) == {world.account}
        for _ in range(2):
            world.api.delete(world.map_path())
            within(DRIFT_SECONDS, lambda: world.api.get(world.map_path()) is not None, "it is back")
        quiet(world)
        assert watching() == before

    def test_a_restart_writes_nothing_to_what_is_as_it_should_be(self, world: World) -> None:
        world.apply(world.object_set([world.config_map(a="1"), deployment(world, replicas=0)]))
        world.wait("Available", "True")
        quiet(world)
        before = world.api.get(world.path())
        asked = len(world.audit())
        restart(world)
        quiet(world)
        ours = (e for e in world.asked(asked) if world.namespace in e["requestURI"])
        written = [e for e in ours if e["verb"] in WRITES]
        assert [(e["verb"], e["requestURI"]) for e in written] == []
        assert world.api.get(world.path()) == before
        world.api.delete(world.map_path())  # it looks after it again
        within(DRIFT_SECONDS, lambda: world.api.get(world.map_path()) is not None, "it is back")

    @pytest.mark.parametrize("harm", ["changed", "changed and back", "deleted"])
    def test_what_others_did_while_it_was_down_is_mended(self, world: World, harm: str) -> None:
        world.apply(world.object_set([world.config_map(a="1"), deployment(world, replicas=0)]))
        world.wait("Succeeded", "True")
        quiet(world)
        world.product.kill(world.product.operator_controller)
        if harm.startswith("changed"):
            world.api.patch(world.map_path(), {"data": {"a": "2"}})
        if harm == "changed and back":
            world.api.patch(world.map_path(), {"data": {"a": "1"}})
        if harm == "deleted":
            world.api.delete(world.map_path())
        world.product.start_operator_controller()

        def is_ours() -> bool:
            found = world.api.get(world.map_path()) or {}
            entries = metadata(found).get("managedFields") or ()
            ours = [e for e in entries if e["manager"] == names.FIELD_MANAGER]
            noted = any("f:a" in (e["fieldsV1"].get("f:data") or {}) for e in ours)
            return found.get("data") == {"a": "1"} and noted

        within(DRIFT_SECONDS, is_ours, "it is as it should be")

    def test_what_somebody_made_in_its_place_with_its_labels_is_his(self, world: World) -> None:
        world.apply(world.object_set([world.config_map(a="1")]))
        world.wait("Succeeded", "True")
        quiet(world)
        world.product.kill(world.product.operator_controller)
        other = world.config_map(a="2")
        metadata(other)["labels"] = labels_of(world.map())
        world.api.delete(world.map_path())
        world.apply(other)
        world.product.start_operator_controller()
        world.wait("Progressing", "True", message="cannot be managed by operator-controller")
        assert world.map()["data"] == {"a": "2"}
        world.api.delete(world.map_path())
        back = {"a": "1"}
        wait_until(lambda: (world.api.get(world.map_path()) or {}).get("data") == back, what="back")


class TestRevisions:
    """Two sets of one extension, as the extension's controller makes them."""

    @pytest.fixture
    def reference(self, world: World) -> dict[str, Any]:
        return make_extension(world)

    def revision(
        self, world: World, reference: dict[str, Any], number: int, *maps: str
    ) -> KubeObject:
        phase = [world.config_map(name, n=str(number)) for name in maps]
        return revision_of(world, reference, number, phase)

    def test_a_newer_one_takes_over_and_the_older_removes_only_what_is_left(
        self, world: World, reference: dict[str, Any]
    ) -> None:
        world.apply(self.revision(world, reference, 1, "old", "both"))
        world.wait("Succeeded", "True", name="1")
        uid = metadata(world.map("both"))["uid"]
        world.apply(self.revision(world, reference, 2, "both", "new"))
        world.wait("Succeeded", "True", name="2")
        world.wait("Progressing", "False", name="1", message="revision is archived")
        assert world.api.get(world.map_path("old")) is None
        assert world.map("new")["data"] == {"n": "2"}
        live = world.map("both")
        assert metadata(live)["uid"] == uid
        assert live["data"] == {"n": "2"}
        assert labels_of(live)[names.LABEL_OWNER_KIND] == names.CLUSTER_EXTENSION
        world.product.control_plane.end(world.extension_path)

    def test_what_a_slow_older_one_wrote_last_is_not_removed_with_it(
        self, world: World, reference: dict[str, Any]
    ) -> None:
        world.apply(self.revision(world, reference, 1, "both"))
        world.wait("Succeeded", "True", name="1")
        uid = metadata(world.map("both"))["uid"]
        world.product.kill(world.product.operator_controller)
        archived = self.revision(world, reference, 1, "both")
        archived["spec"]["lifecycleState"] = "Archived"
        world.apply(archived, self.revision(world, reference, 2, "both"))
        assert annotations_of(world.map("both"))[names.ANNOTATION_REVISION] == "1"
        world.product.start_operator_controller()
        world.wait("Progressing", "False", name="1", message="revision is archived")
        world.wait("Succeeded", "True", name="2")
        assert metadata(world.map("both"))["uid"] == uid
        assert world.map("both")["data"] == {"n": "2"}
        world.product.control_plane.end(world.extension_path)
