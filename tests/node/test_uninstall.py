"""What is left when the chart is uninstalled: what its notes say, and in the end nothing."""

from collections.abc import Iterator
from contextlib import suppress

import pytest

from e2e.harness.controlplane import wait_until
from e2e.node.cluster import Node
from e2e.node.release import Release
from e2e.olm.chart import NAMESPACE

pytestmark = pytest.mark.node

CRDS = [
    f"{plural}.olm.operatorframework.io"
    for plural in ("clusterextensions", "clusterobjectsets", "clustercatalogs")
]
COMES_AND_GOES = ("events", "events.events.k8s.io", "endpointslices.discovery.k8s.io")


def objects(node: Node) -> Iterator[str]:
    """Every object of the cluster: kind, namespace, name."""
    kinds = node.kubectl("api-resources", "--verbs=list", "--output=name").split()
    wanted = ",".join(sorted(set(kinds) - set(COMES_AND_GOES)))
    form = r'jsonpath={range .items[*]}{.kind} {.metadata.namespace}/{.metadata.name}{"\n"}{end}'
    yield from node.kubectl("get", wanted, "--all-namespaces", "-o", form).splitlines()


def ours(node: Node) -> set[str]:
    """Objects that came with the chart or with what it runs."""
    words = (NAMESPACE, "catalogd", "operator-controller", "olmv1", "operatorframework")
    return {found for found in objects(node) if any(word in found for word in words)}


def left_by_notes(found: str) -> bool:
    kind, _, name = found.partition(" ")
    if kind == "CustomResourceDefinition":
        return name.removeprefix("/") in CRDS
    if kind == "APIService":
        return name == "/v1.olm.operatorframework.io"  # comes and goes with the definitions
    if kind == "Namespace":
        return True
    in_ours = name.startswith(f"{NAMESPACE}/")
    own = ("kube-root-ca.crt", "default")  # of every namespace
    return in_ours and (kind in ("Secret", "Lease") or name.endswith(own))


def unsaid(node: Node) -> list[str]:
    return [found for found in sorted(ours(node)) if not left_by_notes(found)]


def test_it_leaves_what_its_notes_say(node: Node, product: Release) -> None:
    node.kubectl("delete", "clusterextension,clustercatalog", "--all", "--timeout=180s")
    product.uninstall()
    with suppress(TimeoutError):  # what it deletes ends in the background
        wait_until(lambda: not unsaid(node), what="all else is gone")
    assert unsaid(node) == []
    assert {f"CustomResourceDefinition /{name}" for name in CRDS} <= ours(node)


def test_then_nothing_is_left(node: Node) -> None:
    node.kubectl("delete", "crd", *CRDS)
    node.kubectl("delete", "namespace", NAMESPACE, "--timeout=180s")
    with suppress(TimeoutError):
        wait_until(lambda: not ours(node), what="all is gone")
    assert sorted(ours(node)) == []
