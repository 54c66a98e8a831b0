"""Measures what both programs take in a cluster: at rest, and from start to ready.

Image, chart and pods are real; so it runs in a box (`make bench-node`). Two catalogs are served
and ten extensions installed. `--json FILE` writes the figures.
"""

import argparse
import http.client
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from api.objects import KubeObject
from e2e.harness.controlplane import wait_until
from e2e.harness.images import catalog_image
from e2e.node.cluster import Node
from e2e.node.kills import kill_pod, processes
from e2e.node.pause import pause_image
from e2e.node.product import product_image
from e2e.node.release import Release
from e2e.node.sandbox import in_box, work_folder
from e2e.olm.api import Api, catalog_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.chart import NAMESPACE
from e2e.olm.fbc import catalog_files, package_blobs
from e2e.olm.manifests import catalog, with_administrator
from tests.bench.bench_catalogd import generate
from tests.bench.catalogd.usage import memory, processor
from tests.bench.processes import TICKS, stat_fields

PROGRAMS = {
    "catalogd": "catalogd-operator-lock",
    "operator-controller": "9c4404e7.operatorframework.io",
}
"""Each with its lease."""
EXTENSIONS = 10
OTHER_CATALOG_MB = 20
SETTLE_SECONDS = 20
REST_SECONDS = 60
ROUNDS = 3
READY_SECONDS = 60.0
POLL_SECONDS = 0.01

Figures = dict[str, Any]


def main() -> None:
    """Measures everything, prints it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="where to write the figures")
    given = parser.parse_args()
    if not in_box():
        raise SystemExit("error: pods run in a box only\nhint: make bench-node")
    load = os.getloadavg()[0]
    with Node(work_folder()) as node, Api(node.control_plane) as api:
        Release(node, product_image()).install({})
        fill(node, api)
        time.sleep(SETTLE_SECONDS)
        figures: Figures = {"at rest": at_rest(api), "start to ready, seconds": starts(api)}
    figures["load average before"] = round(load, 1)
    text = json.dumps(figures, indent=2)
    print(text)
    if given.json:
        given.json.write_text(text + "\n")


def fill(node: Node, api: Api) -> None:
    """Serves two catalogs, installs ten extensions of one of them, waits for their pods."""
    image = node.registry.push(pause_image(), "operator", tag="1").tag_reference
    specs = [
        BundleSpec(
            package=f"extension-{n}",
            version="1.0.0",
            crd_group=f"extension-{n}.example.com",
            operator=image,
        )
        for n in range(EXTENSIONS)
    ]
    blobs = [package_blobs([spec.publish(node.registry)]) for spec in specs]
    contents = {
        "extensions": catalog_files(blobs),
        "others": {"catalog.json": b"".join(generate(OTHER_CATALOG_MB))},
    }
    for name, files in contents.items():
        pushed = node.registry.push(catalog_image(files), f"catalogs/{name}", tag="v1")
        node.kubectl("apply", "-f", "-", stdin=catalog(name, pushed.tag_reference))
        api.wait_condition(catalog_path(name), "Serving", "True")
    for spec in specs:
        node.kubectl("apply", "-f", "-", stdin=with_administrator(spec.package))
    for spec in specs:
        api.wait_installed(spec.package, "1.0.0")


def at_rest(api: Api) -> Figures:
    """Resident MiB and percent of a core of each pod, over a minute."""
    pids = {who: main_process(pod) for who, pod in named(api)}
    before = {who: processor(pid) for who, pid in pids.items()}
    time.sleep(REST_SECONDS)
    figures = {
        who: {
            "MiB": round(memory(pid), 1),
            "% of a core": round((processor(pid) - before[who]) / REST_SECONDS * 100, 2),
        }
        for who, pid in pids.items()
    }
    leaders = [figures[f"{program}, leader"] for program in PROGRAMS]
    return {
        **figures,
        "leaders together": {k: sum(each[k] for each in leaders) for k in leaders[0]},
    }


def starts(api: Api) -> Figures:
    """Seconds from the start of a process until it answers and until it is ready.

    In a new pod, and again in that. A new catalogd is ready once it has fetched what others serve.
    """
    figures: Figures = {}
    for program in PROGRAMS:
        fresh: list[tuple[float, float]] = []
        again: list[tuple[float, float]] = []
        for _ in range(ROUNDS):
            known = {pod["metadata"]["uid"] for pod in pods(api, program)}
            api.delete(f"{PODS}/{pods(api, program)[0]['metadata']['name']}")
            pod = new_pod(api, program, known)
            fresh.append(seconds_to_answer(api, pod, replaced=0))
            wait_reported_ready(api, pod)
            before = main_process(pod)
            kill_pod(pod["metadata"]["uid"])
            again.append(seconds_to_answer(api, pod, replaced=before))
            wait_reported_ready(api, pod)
        figures[f"{program}, new pod"] = medians(fresh)
        figures[f"{program}, killed and restarted"] = medians(again)
    return figures


def medians(found: list[tuple[float, float]]) -> Figures:
    """The median of each, and what it is of."""
    answers, ready = zip(*found, strict=True)
    return {"answers": median(answers), "ready": median(ready), "all": found}


PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"


def pods(api: Api, program: str) -> list[KubeObject]:
    """The pods of a program that are not about to end."""
    found = api.list(PODS, f"app.kubernetes.io/name={program}")
    return [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]


def named(api: Api) -> Iterator[tuple[str, KubeObject]]:
    """Each pod as "PROGRAM, leader" or "PROGRAM, other"."""
    for program, lease in PROGRAMS.items():
        held = api.get(f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/{lease}")
        holder = held["spec"]["holderIdentity"].rpartition("_")[0] if held else ""
        for pod in pods(api, program):
            leads = pod["metadata"]["name"] == holder
            yield f"{program}, {'leader' if leads else 'other'}", pod


def new_pod(api: Api, program: str, known: set[str]) -> KubeObject:
    """The pod that takes the place of one that was deleted."""

    def found() -> list[KubeObject]:
        return [pod for pod in pods(api, program) if pod["metadata"]["uid"] not in known]

    wait_until(lambda: bool(found()), what=f"a new pod of {program}", timeout=READY_SECONDS)
    return found()[0]


def main_process(pod: KubeObject) -> int:
    """The first process of the program in a pod; 0 while there is none."""
    return min(processes(pod["metadata"]["uid"]), default=0)


def seconds_to_answer(api: Api, pod: KubeObject, *, replaced: int) -> tuple[float, float]:
    """From the start of the process after `replaced` until it answers, and until it is ready."""
    path = f"{PODS}/{pod['metadata']['name']}"

    def runs() -> bool:
        return main_process(pod) not in (0, replaced)

    def has_address() -> bool:
        return "podIP" in (api.get(path) or {})["status"]

    wait_until(runs, what=f"{path} runs", timeout=READY_SECONDS)
    since = started(main_process(pod))
    wait_until(has_address, what=f"{path} has an address", timeout=READY_SECONDS)
    address = (api.get(path) or {})["status"]["podIP"]
    found = []
    for probe in ("/healthz", "/readyz"):
        deadline = time.monotonic() + READY_SECONDS
        while not says_yes(address, probe):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{path} does not say yes to {probe}")
            time.sleep(POLL_SECONDS)
        found.append(round(time.clock_gettime(time.CLOCK_BOOTTIME) - since, 2))
    return found[0], found[1]


def started(pid: int) -> float:
    """When a process was started, in seconds since the machine was."""
    return int(stat_fields(pid)[19]) / TICKS


def says_yes(address: str, probe: str) -> bool:
    """What a pod answers to a probe."""
    connection = http.client.HTTPConnection(address, 8081, timeout=2.0)
    try:
        connection.request("GET", probe)
        return connection.getresponse().status == http.client.OK
    except OSError:
        return False
    finally:
        connection.close()


def wait_reported_ready(api: Api, pod: KubeObject) -> None:
    """Until the API server knows, too; then the Deployment may be disturbed again."""

    def ready(found: KubeObject | None) -> bool:
        conditions = (found or {}).get("status", {}).get("conditions", [])
        return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)

    time.sleep(2.0)  # what was killed counts as ready until the kubelet looks
    api.wait(f"{PODS}/{pod['metadata']['name']}", ready, what="ready", timeout=READY_SECONDS)


if __name__ == "__main__":
    main()
