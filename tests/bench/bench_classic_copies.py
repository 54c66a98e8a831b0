"""Figures of olm-operator with many copies of ClusterServiceVersions.

Run: PYTHONPATH=. python tests/bench/bench_classic_copies.py [--namespaces 1000] [--operators 15]

Operators for all namespaces are installed beside so many empty namespaces, over a real API server
on this machine.
"""

import argparse
import json
import time
from concurrent.futures import ThreadPoolExecutor

from api.operators.names import V1ALPHA1
from e2e.harness.process import ChildProcess
from e2e.olm.classic import Classic, Place
from olm_runtime.kube.media_types import METADATA_LIST
from tests.bench.classic_requests import requests, wait_calm
from tests.bench.processes import cpu_seconds, status_mib
from tests.bench.worlds import classic_world

CREATORS = 4
LOOK_SECONDS = 2.0
PATIENCE_SECONDS = 3600.0
QUIET_SECONDS = 60.0
SETTLED_SECONDS = 10.0
EXAMPLES = "x" * 4096
COPIES = f"/apis/{V1ALPHA1}/clusterserviceversions"


def main() -> None:
    """Measures and prints a table, then the same as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--namespaces", type=int, default=1000)
    parser.add_argument("--operators", type=int, default=15)
    given = parser.parse_args()
    with classic_world(whole=True) as classic:
        figures = measure(classic, given.namespaces, given.operators)
    for key, value in figures.items():
        print(f"{key:64} {value:8.1f}")
    print(json.dumps(figures))


def measure(classic: Classic, namespaces: int, operators: int) -> dict[str, float]:
    with ThreadPoolExecutor(CREATORS) as pool:
        list(pool.map(lambda number: create_namespace(classic, number), range(namespaces)))
    place = classic.place(name="operators-of-all")
    began = time.monotonic()
    for number in range(operators):
        deployments = [f"controller-{number}"]
        annotations = {"alm-examples": EXAMPLES}
        place.csv(f"op-{number}.v1", deployments=deployments, annotations=annotations)
    for number in range(operators):
        place.wait_csv(f"op-{number}.v1")
    figures = {"operators Succeeded, s": time.monotonic() - began}
    wait_copies(classic, at_least=namespaces * operators)
    figures["all copies made, s"] = time.monotonic() - began
    wait_calm(classic, calm=SETTLED_SECONDS, pause=LOOK_SECONDS)
    figures["processor time of olm-operator, s"] = cpu_seconds(operator(classic))
    figures["resident, MiB"] = status_mib(operator(classic), "VmRSS")
    figures["resident at most, MiB"] = status_mib(operator(classic), "VmHWM")
    figures |= quiet(classic)
    figures["an edit of a copy reverted, s"] = edit_reverted(classic, "op-0.v1")
    began = time.monotonic()
    classic.restart_operator(kill=True)
    figures["restart, s"] = time.monotonic() - began
    figures["calm after a restart, s"] = wait_calm(
        classic, calm=SETTLED_SECONDS, pause=LOOK_SECONDS
    )
    figures["requests of a restart"] = requests(classic)
    figures["resident at most after a restart, MiB"] = status_mib(operator(classic), "VmHWM")
    return figures


def create_namespace(classic: Classic, number: int) -> None:
    meta = {"name": f"team-{number:04}"}
    obj = {"apiVersion": "v1", "kind": "Namespace", "metadata": meta}
    classic.api.create("/api/v1/namespaces", obj)


def wait_copies(classic: Classic, *, at_least: int) -> None:
    """Waits until there are so many. Raises TimeoutError."""
    until = time.monotonic() + PATIENCE_SECONDS
    params = {"labelSelector": "olm.copiedFrom", "resourceVersion": "0"}
    with classic.control_plane.client(timeout=120.0) as http:
        while True:
            answer = http.get(COPIES, params=params, headers={"accept": METADATA_LIST}).json()
            if len(answer["items"]) >= at_least:
                return
            if time.monotonic() > until:
                raise TimeoutError(f"{len(answer['items'])} copies")
            time.sleep(LOOK_SECONDS)


def quiet(classic: Classic) -> dict[str, float]:
    used, asked = cpu_seconds(operator(classic)), requests(classic)
    time.sleep(QUIET_SECONDS)
    share = 100 * (cpu_seconds(operator(classic)) - used) / QUIET_SECONDS
    return {
        "processor at rest, % of a core": share,
        "requests of a quiet minute, but for the lease": requests(classic) - asked,
    }


def edit_reverted(classic: Classic, name: str) -> float:
    place = Place(classic, "team-0000")
    place.patch("clusterserviceversions", name, {"spec": {"displayName": "mine"}})
    began = time.monotonic()
    place.wait("clusterserviceversions", name, lambda obj: obj["spec"]["displayName"] != "mine")
    return time.monotonic() - began


def operator(classic: Classic) -> ChildProcess:
    if classic.operator is None:
        raise RuntimeError("olm-operator does not run")
    return classic.operator


if __name__ == "__main__":
    main()
