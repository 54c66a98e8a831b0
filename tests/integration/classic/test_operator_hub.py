"""OperatorHub by the commands of the documents: default catalogs go, come back and stay as is."""

import shlex
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from api.objects import KubeObject
from e2e.olm.classic import Classic
from e2e.olm.pages import steps
from e2e.olm.programs import CONFIG

pytestmark = pytest.mark.integration

PAGE = CONFIG.parent / "docs" / "classic" / "README.md"
"""It disables all default catalogs, by the command of the documents."""
HUB = "/apis/config.openshift.io/v1/operatorhubs/cluster"
CATALOGS = "/apis/operators.coreos.com/v1alpha1/namespaces/olm/catalogsources"
NAMES = ["certified-operators", "community-operators"]
ADDRESS = "127.0.0.1:9"
"""Where nothing listens: this is about the objects."""


def manifest(name: str) -> KubeObject:
    spec = {"sourceType": "grpc", "address": ADDRESS, "displayName": name, "priority": -200}
    meta = {"name": name}
    kind = {"apiVersion": "operators.coreos.com/v1alpha1", "kind": "CatalogSource"}
    return {**kind, "metadata": meta, "spec": spec}


@pytest.fixture(scope="module", autouse=True)
def _defaults(classic: Classic) -> Iterator[None]:
    """A program with default catalogs; it makes OperatorHub, which leaves them as they are."""
    manifests = [manifest(name) for name in NAMES]
    file = classic.default_catalogs / "defaults.yaml"
    file.write_text(yaml.safe_dump_all(manifests))
    classic.restart()
    yield
    file.unlink()
    classic.restart()
    classic.control_plane.kubectl("delete", "operatorhub", "cluster")
    classic.control_plane.kubectl(
        "delete", "catalogsource", "-n", "olm", "--ignore-not-found", *NAMES
    )


def patch(classic: Classic, *arguments: str) -> None:
    classic.control_plane.kubectl("patch", "operatorhub", "cluster", *arguments)


def wait(classic: Classic, *expected: str) -> None:
    """Waits until these defaults are there, and OperatorHub says so."""

    def holds(hub: KubeObject | None) -> bool:
        there = {found["metadata"]["name"] for found in classic.api.list(CATALOGS)} & {*NAMES}
        sources: list[Any] = ((hub or {}).get("status") or {}).get("sources") or []
        listed = [source["name"] for source in sources if not source["disabled"]]
        return sorted(there) == sorted(listed) == sorted(expected)

    classic.api.wait(HUB, holds, what=f"default catalogs {expected}")


def test_defaults_are_disabled_and_enabled(classic: Classic) -> None:
    wait(classic, *NAMES)
    for step in steps(PAGE):
        for line in step.command.replace("\\\n", "").splitlines():
            program, *arguments = shlex.split(line)
            assert program == "kubectl"
            classic.control_plane.kubectl(*arguments)
    wait(classic)
    patch(classic, "--type=merge", "-p", '{"spec": {"sources": [{"name": "community-operators", '
          '"disabled": false}]}}')  # fmt: skip
    wait(classic, "community-operators")
    back = '{"spec": {"disableAllDefaultSources": false, "sources": null}}'
    patch(classic, "--type=merge", "-p", back)
    wait(classic, *NAMES)


def test_a_default_that_is_deleted_or_edited_is_as_it_was(classic: Classic) -> None:
    wait(classic, *NAMES)
    path = f"{CATALOGS}/community-operators"
    before = classic.api.get(path)
    assert before is not None
    edit = {"spec": {"grpcPodConfig": {"nodeSelector": {"a": "b"}}, "priority": 7}}
    classic.api.patch(path, edit)

    def is_reverted(found: KubeObject | None) -> bool:
        return found is not None and found["spec"] == before["spec"]

    classic.api.wait(path, is_reverted, what="the edit reverted")
    classic.api.delete(path)

    def is_back(found: KubeObject | None) -> bool:
        uid = before["metadata"]["uid"]
        return found is not None and found["metadata"]["uid"] != uid and is_reverted(found)

    classic.api.wait(path, is_back, what="the deleted default back")


def test_a_catalog_of_a_users_own_may_have_the_name_of_a_disabled_default(
    classic: Classic,
) -> None:
    source = '{"spec": {"sources": [{"name": "community-operators", "disabled": true}]}}'
    patch(classic, "--type=merge", "-p", source)
    wait(classic, "certified-operators")
    own = manifest("community-operators")
    own["metadata"]["namespace"] = "olm"
    own["spec"]["displayName"] = "Mine"
    classic.control_plane.apply(yaml.safe_dump(own))
    classic.restart(kill=True)
    patch(classic, "--type=merge", "-p", '{"spec": {"disableAllDefaultSources": true}}')
    classic.api.wait_gone(f"{CATALOGS}/certified-operators")
    found = classic.api.get(f"{CATALOGS}/community-operators")
    assert found is not None
    assert found["spec"]["displayName"] == "Mine"
