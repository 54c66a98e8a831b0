"""What is left when the chart of OLM Classic is uninstalled: what its notes say, then nothing."""

from contextlib import suppress

import pytest

from api.operators.names import V1ALPHA1
from e2e.harness.controlplane import wait_until
from e2e.node.cluster import Node
from e2e.node.release import Release
from e2e.olm.api import Api
from e2e.olm.chart import CLASSIC
from tests.node.test_uninstall import objects

pytestmark = pytest.mark.node

GROUP = "operators.coreos.com"
OWN_NAMESPACE, OPERATORS = f"{CLASSIC.namespace}/", "operators/"
WORDS = (GROUP, CLASSIC.name, "catalog-operator", "olm-operator", "package-server", "packageserver")
KINDS = ("CustomResourceDefinition", "Namespace", "OperatorGroup", "OperatorHub", "Lease", "Secret")
"""What stays: definitions, groups and namespaces, and with the namespace what programs wrote."""
ROLES_OF_GROUPS = "/olm.og."
OF_NAMESPACES = ("kube-root-ca.crt", "default")


def ours(node: Node) -> set[str]:
    """Objects that came with the chart, or with what it runs."""
    found = (each.partition(" ") for each in objects(node))
    return {
        f"{kind} {name}"
        for kind, _, name in found
        if name.startswith((OWN_NAMESPACE, OPERATORS)) or any(word in name for word in WORDS)
    }


def left_by_notes(found: str) -> bool:
    kind, _, name = found.partition(" ")
    if kind == "APIService":
        return name.endswith(f".{GROUP}") and "packages" not in name  # those of definitions
    return kind in KINDS or name.endswith(OF_NAMESPACES) or name.startswith(ROLES_OF_GROUPS)


def unsaid(node: Node) -> list[str]:
    return sorted(found for found in ours(node) if not left_by_notes(found))


def test_it_leaves_what_its_notes_say(node: Node, api: Api, classic: Release) -> None:
    versions = f"/apis/{V1ALPHA1}/clusterserviceversions"
    wait_until(lambda: not api.list(versions), what="operators are gone")
    classic.uninstall()
    with suppress(TimeoutError):  # what it deletes ends in the background
        wait_until(lambda: not unsaid(node), what="all else is gone")
    assert unsaid(node) == []


def test_then_nothing_is_left(node: Node) -> None:
    names = (found.split(" /") for found in ours(node))
    crds = [name for kind, *rest in names for name in rest if kind == "CustomResourceDefinition"]
    node.kubectl("delete", "clusterrole", "--selector=olm.owner.kind=OperatorGroup")
    node.kubectl("delete", "crd", *crds, "operatorhubs.config.openshift.io")
    node.kubectl("delete", "namespace", CLASSIC.namespace, "operators", "--timeout=180s")
    wait_until(lambda: not ours(node), what=f"{ours(node)} is gone")
