"""Figures of OLM Classic from Subscriptions to plans that are complete.

Run: PYTHONPATH=. python tests/bench/bench_classic_install.py [--subscriptions 100] [--shared]

A global catalog has one operator. With --shared there are four catalogs of 330 packages beside it,
as generated for catalogd, and catalog-operator serves them itself. Namespaces and OperatorGroups
are there; then a Subscription is created in each of them, at once. Real API server, registry and
catalog server on this machine.
"""

import argparse
import json
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from api.objects import KubeObject
from api.operators.names import V1ALPHA1
from e2e.harness.images import catalog_image
from e2e.harness.metrics import requests_by_method
from e2e.olm.bundles import BundleSpec
from e2e.olm.classic import Classic, Place, status
from e2e.olm.fbc import package_blobs
from tests.bench.bench_catalogd import generate
from tests.bench.bench_shared_serving import CATALOGS, MEGABYTES
from tests.bench.catalogd.usage import memory, processor
from tests.bench.processes import pid_of
from tests.bench.worlds import classic_world

CREATORS = 8
LOOK_SECONDS = 0.2
PATIENCE_SECONDS = 600.0
QUIET_SECONDS = 60.0
PLANS = f"/apis/{V1ALPHA1}/installplans"
CATALOG_SOURCES = f"/apis/{V1ALPHA1}/catalogsources"
SUBSCRIPTIONS = f"/apis/{V1ALPHA1}/subscriptions"


def main() -> None:
    """Measures and prints a table, then the same as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--subscriptions", type=int, default=100)
    parser.add_argument("--shared", action="store_true")
    given = parser.parse_args()
    with classic_world() as classic:
        if given.shared:
            serve_catalogs(classic)
        figures = measure(classic, given.subscriptions)
    for key, value in figures.items():
        print(f"{key:64} {value:8.1f}")
    print(json.dumps(figures))


def serve_catalogs(classic: Classic) -> None:
    """Has catalog-operator serve the generated catalogs itself, and waits until it does."""
    classic.stop()
    classic.start("--catalog-serving=shared")
    image = catalog_image({"catalog.json": b"".join(generate(MEGABYTES))})
    olm, names = Place(classic, "olm"), [f"generated-{number}" for number in range(CATALOGS)]
    for name in names:
        reference = classic.registry.push(image, name, tag="v1").tag_reference
        olm.create(V1ALPHA1, "CatalogSource", name, {"sourceType": "grpc", "image": reference})
    wait(classic, CATALOG_SOURCES, is_ready, len(names))


def is_ready(catalog: KubeObject) -> bool:
    return (status(catalog, "connectionState") or {}).get("lastObservedState") == "READY"


def measure(classic: Classic, count: int) -> dict[str, float]:
    olm = Place(classic, "olm")
    bundle = BundleSpec(package="many", version="1.0.0").publish(classic.registry)
    olm.catalog("operators", package_blobs([bundle]))
    olm.wait_catalog("operators")
    with ThreadPoolExecutor(CREATORS) as pool:
        places = list(pool.map(lambda number: classic.place(name=f"team-{number}"), range(count)))
        pid = pid_of(classic.program)
        used, began = processor(pid), time.monotonic()
        list(pool.map(subscribe, places))
        created = time.monotonic() - began
    wait(classic, PLANS, lambda each: status(each, "phase") == "Complete", count)
    complete = time.monotonic() - began
    wait(classic, SUBSCRIPTIONS, lambda each: status(each, "state") == "AtLatestKnown", count)
    settled = time.monotonic() - began
    time.sleep(5.0)
    used = processor(pid) - used
    before, rest = requests_by_method(classic.metrics()), processor(pid)
    time.sleep(QUIET_SECONDS)
    quiet = requests_by_method(classic.metrics()) - before
    rest = processor(pid) - rest
    writes = quiet.total() - quiet["GET"] - quiet["LIST"]
    return {
        "Subscriptions created, s": created,
        "all plans complete, s": complete,
        "all Subscriptions AtLatestKnown, s": settled,
        "processor time of catalog-operator, s": used,
        "resident, catalog-operator and what it started, MiB": memory(pid),
        "requests until then, but for the lease": before.total(),
        "requests of a quiet minute, but for the lease": quiet.total(),
        "of these writes": writes,
        "processor time of a quiet minute, %": rest / QUIET_SECONDS * 100,
    }


def subscribe(place: Place) -> None:
    place.subscribe("many", source="operators", namespace="olm")


def wait(classic: Classic, path: str, holds: Any, count: int) -> None:
    """Waits until so many objects are as they shall be. Raises TimeoutError."""
    until = time.monotonic() + PATIENCE_SECONDS
    while sum(map(holds, classic.api.list(path))) < count:
        if time.monotonic() > until:
            raise TimeoutError(path)
        time.sleep(LOOK_SECONDS)


if __name__ == "__main__":
    main()
