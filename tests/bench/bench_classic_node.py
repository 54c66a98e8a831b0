"""Measures how long OLM Classic takes in a cluster from a Subscription to an operator that runs.

Chart, pods and images are real; so it runs in a box:
`python -m e2e.node run -- python -m tests.bench.bench_classic_node`. The catalog is READY and the
operator's image is on the node. Seconds, and processor seconds of both programs, of each.
"""

import json
import os
import time
from pathlib import Path
from statistics import median

from api.operators.names import V1ALPHA1
from e2e.harness.images import catalog_image
from e2e.node.cluster import Node
from e2e.node.kills import processes
from e2e.node.pause import pause_image
from e2e.node.product import product_image
from e2e.node.release import Release
from e2e.node.sandbox import in_box, work_folder
from e2e.olm.bundles import BundleSpec
from e2e.olm.chart import CLASSIC
from e2e.olm.classic import Classic, Place
from e2e.olm.fbc import catalog_files, package_blobs
from tests.bench.catalogd.usage import processor

PROGRAMS = ("catalog-operator", "olm-operator")
SHARED = {"catalogOperator": {"catalogServing": "shared"}}
ROUNDS = 8


def main() -> None:
    """Measures, prints."""
    if not in_box():
        raise SystemExit("error: pods run in a box only\nhint: python -m e2e.node run -- ...")
    load = os.getloadavg()[0]
    with Node(work_folder()) as node:
        Release(node, product_image(), CLASSIC).install(SHARED)
        users = Classic(Path(work_folder(), "users"), node.control_plane, node.registry)
        specs = offered(users)
        installed(users, specs[0])  # brings the image to the node
        before = used(users)
        seconds = [installed(users, spec) for spec in specs[1:]]
        spent = used(users) - before
    figures = {
        "median": round(median(seconds), 2),
        "all": [round(each, 2) for each in seconds],
        "processor seconds of both programs, each": round(spent / len(seconds), 2),
        "load average before": round(load, 1),
    }
    print(json.dumps(figures, indent=2))


def offered(users: Classic) -> list[BundleSpec]:
    """Packages of one Deployment in a catalog for all namespaces that is READY."""
    image = users.registry.push(pause_image(), "operator", tag="1").tag_reference
    specs = [
        BundleSpec(
            package=f"operator-{n}", version="1.0.0", modes=("OwnNamespace",), operator=image
        )
        for n in range(ROUNDS + 1)
    ]
    files = catalog_files([package_blobs([spec.publish(users.registry)]) for spec in specs])
    pushed = users.registry.push(catalog_image(files), "catalogs/operators", tag="v1")
    source = {"sourceType": "grpc", "image": pushed.tag_reference}
    catalogs = Place(users, CLASSIC.namespace)
    catalogs.create(V1ALPHA1, "CatalogSource", "operators", source)
    catalogs.wait_catalog("operators")
    return specs


def installed(users: Classic, spec: BundleSpec) -> float:
    """Seconds from a created Subscription until the operator has succeeded."""
    place = users.place(own=True)
    begun = time.monotonic()
    place.subscribe(spec.package, source="operators", namespace=CLASSIC.namespace)
    place.wait_csv(spec.name)
    return time.monotonic() - begun


def used(users: Classic) -> float:
    """Processor seconds of all pods of both programs."""
    path = f"/api/v1/namespaces/{CLASSIC.namespace}/pods"
    return sum(
        processor(pid)
        for program in PROGRAMS
        for pod in users.api.list(path, f"app.kubernetes.io/name={program}")
        for pid in processes(pod["metadata"]["uid"])
    )


if __name__ == "__main__":
    main()
