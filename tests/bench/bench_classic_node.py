"""Measures OLM Classic in a cluster: how long an install takes, and what its programs take at rest.

Image, chart and pods are real; so it runs in a box:

    make bench-node, or python -m e2e.node run -- python -m tests.bench.bench_classic_node

Each operator has one Deployment, whose image the node has, and a namespace of its own. The catalog
is served without a pod, as its own start is not of the install.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from api.objects import name_of
from api.operators.names import V1ALPHA1
from e2e.harness.images import catalog_image
from e2e.node.cluster import Node
from e2e.node.pause import pause_image
from e2e.node.product import product_image
from e2e.node.release import Release
from e2e.node.sandbox import in_box, work_folder
from e2e.olm.bundles import BundleSpec
from e2e.olm.chart import CLASSIC
from e2e.olm.classic import CATALOG_OPERATOR, OLM_OPERATOR, Classic, Place
from e2e.olm.fbc import catalog_files, package_blobs
from tests.bench.bench_node import main_process
from tests.bench.catalogd.usage import memory, processor

CATALOG = "operators"
SETTLE_SECONDS, REST_SECONDS = 90.0, 60.0
"""A process that resolved is replaced by one that waits after a minute."""


def main() -> None:
    """Measures and prints a table, then the same as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--installs", type=int, default=10)
    count = parser.parse_args().installs
    if not in_box():
        raise SystemExit("error: pods run in a box only\nhint: make bench-node")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="olmv1-bench-")))
        node = stack.enter_context(Node(work_folder()))
        release = Release(node, product_image(), CLASSIC)
        release.install({"catalogOperator": {"catalogServing": "shared"}})
        users = Classic(folder, node.control_plane, node.registry)
        stack.enter_context(users.api)
        figures = measure(node, users, count)
    figures["load average after"] = os.getloadavg()[0]
    for key, value in figures.items():
        print(f"{key:64} {value:8.2f}")
    print(json.dumps(figures))


def measure(node: Node, users: Classic, count: int) -> dict[str, float]:
    packages = [f"operator-{number}" for number in range(count)]
    source = offer(node, users, packages)
    before = dict(used(users))
    took = sorted(install(users, each, source) for each in packages)
    after = dict(used(users))
    figures = {"an install, median, s": median(took), "quickest": took[0], "slowest": took[-1]}
    for pod, (seconds, _) in after.items():
        figures[f"processor time of {pod}, an install, s"] = (seconds - before[pod][0]) / count
    time.sleep(SETTLE_SECONDS)
    before = dict(used(users))
    time.sleep(REST_SECONDS)
    for pod, (seconds, resident) in used(users):
        share = (seconds - before[pod][0]) / REST_SECONDS
        figures |= {f"{pod} at rest, % of a core": 100 * share, f"{pod}, MiB": resident}
    return figures


def offer(node: Node, users: Classic, packages: list[str]) -> Place:
    """Serves the operators, and has the node pull their image; where the catalog is."""
    image = node.registry.push(pause_image(), "operator", tag="1").tag_reference
    specs = [
        BundleSpec(
            package=each,
            version="1.0.0",
            crd_group=f"{each}.example.com",
            modes=("OwnNamespace",),
            operator=image,
        )
        for each in packages
    ]
    blobs = [package_blobs([spec.publish(node.registry)]) for spec in specs]
    pushed = node.registry.push(catalog_image(catalog_files(blobs)), f"catalogs/{CATALOG}")
    source = Place(users, CLASSIC.namespace)
    spec = {"sourceType": "grpc", "image": pushed.reference}
    source.create(V1ALPHA1, "CatalogSource", CATALOG, spec)
    source.wait_catalog(CATALOG)
    node.kubectl("create", "deployment", "first", f"--image={image}")
    node.kubectl("rollout", "status", "deployment/first", "--timeout=120s")
    return source


def install(users: Classic, package: str, source: Place) -> float:
    """Seconds from the creation of a Subscription until its operator is Succeeded."""
    place = users.place(own=True)
    time.sleep(2.0)  # the namespace is not of the install
    named = {"name": package, "source": CATALOG, "sourceNamespace": source.name}
    meta = {"name": package}
    kind = {"apiVersion": V1ALPHA1, "kind": "Subscription", "metadata": meta}
    began = time.monotonic()
    users.api.create(place.path("subscriptions"), {**kind, "spec": named})
    place.wait_csv(f"{package}.v1.0.0")
    return time.monotonic() - began


def used(users: Classic) -> Iterator[tuple[str, tuple[float, float]]]:
    """Of each pod, as "PROGRAM, leader" or "PROGRAM, other": seconds of processor time, and MiB."""
    for program in (CATALOG_OPERATOR, OLM_OPERATOR):
        lease = f"/apis/coordination.k8s.io/v1/namespaces/{CLASSIC.namespace}/leases/{program}"
        held = users.api.get(f"{lease}.operators.coreos.com") or {"spec": {}}
        holder = str(held["spec"].get("holderIdentity", "")).rpartition("_")[0]
        pods = f"/api/v1/namespaces/{CLASSIC.namespace}/pods"
        for pod in users.api.list(pods, f"app.kubernetes.io/name={program}"):
            role = "leader" if name_of(pod) == holder else "other"
            pid = main_process(pod)
            yield f"{program}, {role}", (processor(pid), memory(pid))


if __name__ == "__main__":
    main()
