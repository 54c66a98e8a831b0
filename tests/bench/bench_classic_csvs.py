"""Figures of olm-operator with many ClusterServiceVersions, made by hand.

Run: PYTHONPATH=. python tests/bench/bench_classic_csvs.py [--csvs 100]

Each is in a namespace of its own, with an OperatorGroup for it alone. Real API server and
deployment controller on this machine; pods are ready at once.
"""

import argparse
import json
import time
from concurrent.futures import ThreadPoolExecutor

import yaml

from api.operators.names import V1, V1ALPHA1
from e2e.olm.classic import Classic, status
from e2e.olm.csvs import cluster_service_version
from tests.bench.classic_requests import requests, wait_calm
from tests.bench.processes import cpu_seconds
from tests.bench.worlds import classic_world

CREATORS = 4
LOOK_SECONDS = 0.2
PATIENCE_SECONDS = 600.0
QUIET_SECONDS = 60.0
CSVS = f"/apis/{V1ALPHA1}/clusterserviceversions"


def main() -> None:
    """Measures and prints a table, then the same as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--csvs", type=int, default=100)
    given = parser.parse_args()
    with classic_world(whole=True) as classic:
        figures = measure(classic, given.csvs)
    for key, value in figures.items():
        print(f"{key:64} {value:8.1f}")
    print(json.dumps(figures))


def measure(classic: Classic, count: int) -> dict[str, float]:
    names = [f"team-{number}" for number in range(count)]
    classic.control_plane.apply(yaml.safe_dump_all(map(namespace, names)))
    classic.control_plane.apply(yaml.safe_dump_all(map(group, names)))
    made = [cluster_service_version(name, f"{name}.v1.0.0") for name in names]
    assert classic.operator
    used, began = cpu_seconds(classic.operator), time.monotonic()
    with ThreadPoolExecutor(CREATORS) as pool:
        parts = (yaml.safe_dump_all(made[start::CREATORS]) for start in range(CREATORS))
        list(pool.map(classic.control_plane.apply, parts))
        created = time.monotonic() - began
    wait(classic, count)
    succeeded = time.monotonic() - began
    time.sleep(5.0)
    used = cpu_seconds(classic.operator) - used
    began = time.monotonic()
    classic.restart_operator(kill=True)
    restarted = time.monotonic() - began
    quiet = wait_calm(classic, calm=2.0, pause=LOOK_SECONDS)
    before, rest = requests(classic), cpu_seconds(classic.operator)
    time.sleep(QUIET_SECONDS)
    return {
        "ClusterServiceVersions created, s": created,
        "all Succeeded, s": succeeded,
        "processor time of olm-operator until then, s": used,
        "restart until it is ready, s": restarted,
        "until it asks for nothing more, s": quiet,
        "requests of the restart": before,
        "requests of a quiet minute": requests(classic) - before,
        "processor time of a quiet minute, s": cpu_seconds(classic.operator) - rest,
    }


def namespace(name: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def group(name: str) -> dict[str, object]:
    meta = {"namespace": name, "name": "group"}
    spec = {"targetNamespaces": [name]}
    return {"apiVersion": V1, "kind": "OperatorGroup", "metadata": meta, "spec": spec}


def wait(classic: Classic, count: int) -> None:
    """Waits until so many are Succeeded. Raises TimeoutError."""
    until = time.monotonic() + PATIENCE_SECONDS
    while sum(status(each, "phase") == "Succeeded" for each in classic.api.list(CSVS)) < count:
        if time.monotonic() > until:
            raise TimeoutError(CSVS)
        time.sleep(LOOK_SECONDS)


if __name__ == "__main__":
    main()
