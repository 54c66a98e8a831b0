"""The world in which operator-controller is measured: packages, extensions, what they cost."""

import json
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import yaml

from api.objects import KubeObject, condition, name_of
from e2e.harness.images import catalog_image
from e2e.harness.process import ChildProcess
from e2e.olm.api import OLM, Api, catalog_path, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.fbc import catalog_files, package_blobs
from e2e.olm.manifests import catalog, extension, installer, namespace
from e2e.olm.programs import Olm
from olm_runtime.kube.media_types import JSON_TYPE, METADATA_LIST
from tests.bench.processes import TICKS, cpu_seconds, status_mib

VERSIONS = ("1.0.0", "1.1.0")
FIRST, SECOND = "1.0.0", ">=1.0.0 <2.0.0"
POLL_SECONDS = 0.05
CREATORS = 8
LOOKS, PAUSE_SECONDS = 10, 1.0
ROUNDS = 6
"""Of looks and rest: each watch has a bookmark a minute, and begins anew in five to ten."""
PATIENCE_SECONDS = 600.0
WATCH_SECONDS = 60
WRITES = ("POST", "PUT", "PATCH", "APPLY", "DELETE")
READS = ("GET", "LIST")
NOT_COUNTED = ("leases", "events", "tokenreviews", "subjectaccessreviews")


class World:
    """A running pair of programs and a pool of packages, each with two versions."""

    def __init__(self, olm: Olm, api: Api, packages: int) -> None:
        self.olm, self.api = olm, api
        self.packages = [f"pkg-{i:03}" for i in range(packages)]
        self._unused = list(self.packages)
        self.installed: list[str] = []
        self._admin = olm.control_plane.client(timeout=120.0)

    @property
    def controller(self) -> ChildProcess:
        """The process of operator-controller."""
        if self.olm.operator_controller is None:
            raise RuntimeError("operator-controller was not started")
        return self.olm.operator_controller

    def apply(self, *texts: str) -> None:
        """kubectl apply."""
        self.olm.control_plane.kubectl("apply", "-f", "-", stdin="---".join(texts))

    def publish(self) -> None:
        """Serves a catalog with all packages; makes their namespaces and accounts."""
        with ThreadPoolExecutor(8) as pool:
            blobs = list(pool.map(self._publish, self.packages))
        image = catalog_image(catalog_files(blobs))
        pushed = self.olm.registry.push(image, "bench/catalog", tag="latest")
        self.apply(catalog("bench", pushed.tag_reference))
        self.api.wait_condition(catalog_path("bench"), "Serving", "True")
        for chunk in chunks(self.packages, 50):
            self.apply(*(namespace(p) + "---" + installer(p) for p in chunk))

    def _publish(self, package: str) -> list[Any]:
        group = f"{package}.example.com"
        specs = [BundleSpec(package=package, version=v, crd_group=group) for v in VERSIONS]
        return list(package_blobs([spec.publish(self.olm.registry) for spec in specs]))

    def take(self, count: int) -> list[str]:
        """Packages that nobody has installed yet."""
        taken, self._unused = self._unused[:count], self._unused[count:]
        if len(taken) < count:
            raise RuntimeError("the pool of packages is too small")
        return taken

    def install(self, packages: Sequence[str]) -> float:
        """Installs the first version of them at once; seconds from the first creation on."""
        started = time.monotonic()
        self.create_many(
            f"{OLM}/clusterextensions", [yaml.safe_load(extension(p, FIRST)) for p in packages]
        )
        self.wait(packages, VERSIONS[0])
        self.installed += packages
        return time.monotonic() - started

    def arrive(self, package: str, api: Api) -> float:
        """Installs one more, which `installed` does not name; seconds. From any one thread."""
        started = time.monotonic()
        api.create(f"{OLM}/clusterextensions", yaml.safe_load(extension(package, FIRST)))
        api.wait_installed(package, VERSIONS[0], timeout=PATIENCE_SECONDS)
        return time.monotonic() - started

    def have(self, count: int) -> list[str]:
        """At least so many installed extensions, whatever it takes; that many of them."""
        if len(self.installed) < count:
            self.install(self.take(count - len(self.installed)))
            self.quiet()
        return self.installed[:count]

    def update(self, packages: Sequence[str]) -> float:
        """Widens their ranges; seconds until all have the second version."""
        started = time.monotonic()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(self._widen, packages))
        self.wait(packages, VERSIONS[1])
        return time.monotonic() - started

    def _widen(self, package: str) -> None:
        patch = {"spec": {"source": {"catalog": {"version": SECOND}}}}
        self.api.patch(extension_path(package), patch)

    def wait(self, packages: Sequence[str], version: str) -> None:
        """Until all have a version installed; by a watch."""
        if len(packages) == 1:
            self.api.wait_installed(packages[0], version)
            return
        behind, deadline = set(packages), time.monotonic() + _patience(set(packages))
        while behind:
            if time.monotonic() > deadline:
                such = sorted(behind)[:5]
                raise TimeoutError(f"{len(behind)} have not {version}, such as {such}")
            for found in self._watched(f"{OLM}/clusterextensions"):
                if installed_version(found) == version:
                    behind.discard(name_of(found))
                if not behind:
                    return

    def _watched(self, path: str) -> Iterator[KubeObject]:
        """Objects as they are, and as they become, for some seconds.

        Lists again and again would take a tenth of the server's time, and more with more objects.
        """
        params = {"watch": "true", "resourceVersion": "0", "timeoutSeconds": str(WATCH_SECONDS)}
        with self._admin.stream("GET", path, params=params) as answer:
            answer.raise_for_status()
            for line in answer.iter_lines():
                yield json.loads(line)["object"]

    def _list(self, path: str, labels: str = "", accept: str = JSON_TYPE) -> list[KubeObject]:
        """Objects, as the API server has them in memory.

        With hundreds of new kinds it may take a minute to answer.
        """
        params = {"resourceVersion": "0", **({"labelSelector": labels} if labels else {})}
        answer = self._admin.get(path, params=params, headers={"Accept": accept})
        items: list[KubeObject] = answer.raise_for_status().json()["items"] or []
        return items

    def delete(self, packages: Sequence[str]) -> float:
        """Deletes them; seconds until they, their definitions and Deployments are gone."""
        started = time.monotonic()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda p: self.api.delete(extension_path(p)), packages))
        gone = set(packages)
        self.installed = [p for p in self.installed if p not in gone]
        until(
            lambda: not self._left(gone),
            f"{len(gone)} are gone",
            poll=_pause(gone),
            patience=_patience(gone),
        )
        return time.monotonic() - started

    def _left(self, packages: set[str]) -> set[str]:
        extensions = self._list(f"{OLM}/clusterextensions", accept=METADATA_LIST)
        left = {name_of(o) for o in extensions}
        for path in (
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            "/apis/apps/v1/deployments",
        ):
            labels = "olm.operatorframework.io/owner-name"
            left |= {
                o["metadata"]["labels"]["olm.operatorframework.io/owner-name"]
                for o in self._list(path, labels, METADATA_LIST)
            }
        return left & packages

    def run_pods(self) -> None:
        """Says of all pods that they run, as a kubelet would: what is installed also works then."""
        until(self._all_run, "workloads are available")

    def _all_run(self) -> bool:
        """Whether they do; Kubernetes' controllers may make more pods meanwhile."""
        status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        for pod in self._list("/api/v1/pods"):
            if (pod.get("status") or {}).get("phase") != status["phase"]:
                where = f"/api/v1/namespaces/{pod['metadata']['namespace']}"
                self.api.patch(f"{where}/pods/{name_of(pod)}/status", {"status": status})
        return self._all_available()

    def _all_available(self) -> bool:
        found = self._list("/apis/apps/v1/deployments")
        return all((each.get("status") or {}).get("availableReplicas") for each in found)

    def quiet(self) -> float:
        """Seconds until the controller used little of a core for three seconds on end."""
        started = calm = time.monotonic()
        used = self.cpu()
        while time.monotonic() - calm < 3.0:
            time.sleep(0.5)
            now = self.cpu()
            if now - used > 0.05 * 0.5 + 1 / TICKS:
                calm = time.monotonic()
            used = now
        return calm - started

    def cpu(self) -> float:
        """Processor seconds of operator-controller so far."""
        return cpu_seconds(self.controller)

    def server_cpu(self) -> float:
        """Processor seconds of the API server so far."""
        return cpu_seconds(self.olm.control_plane.children["kube-apiserver"])

    def resident(self) -> float:
        """MiB that operator-controller holds."""
        return status_mib(self.controller, "VmRSS")

    def writes(self) -> int:
        """Writes that the API server has answered, but for leases and the like."""
        return self._answers(WRITES)

    def reads(self) -> int:
        """Objects and lists that the API server has answered, but for leases and the like."""
        return self._answers(READS)

    def _answers(self, verbs: Sequence[str]) -> int:
        text = self._admin.get("/metrics").raise_for_status().text
        lines = [line for line in text.splitlines() if line.startswith("apiserver_request_total{")]
        return sum(int(float(line.rsplit(" ", 1)[1])) for line in lines if _is_of(line, verbs))

    def annotate(self, packages: Sequence[str], value: str) -> None:
        """Has each looked at, with nothing to do."""
        patch = {"metadata": {"annotations": {"example.com/bench": value}}}
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda p: self.api.patch(extension_path(p), patch), packages))

    def look(self, packages: Sequence[str]) -> float:
        """CPU milliseconds of a look at one of them, which is settled and asked for.

        Without what the controller uses at rest, which grows with its watches and comes in lumps:
        the median of rounds, in each of which it rests as long as it looks.
        """
        self.quiet()
        rounds = [self._cpu_of_looks(packages) - self._cpu_of_looks([]) for _ in range(ROUNDS)]
        return 1000 * statistics.median(rounds) / (LOOKS * len(packages))

    def _cpu_of_looks(self, packages: Sequence[str]) -> float:
        """CPU seconds of the same time, however many they are."""
        cpu, started = self.cpu(), time.monotonic()
        for number in range(LOOKS):
            self.annotate(packages, str(number))
            # Two changes at once would be one look.
            time.sleep(max(0.0, started + (number + 1) * PAUSE_SECONDS - time.monotonic()))
        return self.cpu() - cpu

    def create_many(self, path: str, bodies: Sequence[KubeObject]) -> None:
        """POSTs objects, eight at a time."""
        with ThreadPoolExecutor(CREATORS) as pool:
            answers = pool.map(lambda body: self._admin.post(path, json=body), bodies)
            for answer in answers:
                answer.raise_for_status()


def _pause(packages: set[str]) -> float:
    """Seconds between looks: one at a hundred extensions takes the API server some hundredths."""
    return max(POLL_SECONDS, len(packages) / 400)


def _patience(packages: set[str]) -> float:
    """A machine with other work takes seconds for each."""
    return max(PATIENCE_SECONDS, 3.0 * len(packages))


def _is_of(line: str, verbs: Sequence[str]) -> bool:
    verb = any(f'verb="{each}"' in line for each in verbs)
    return verb and not any(f'resource="{each}"' in line for each in NOT_COUNTED)


def chunks(items: Sequence[str], size: int) -> list[Sequence[str]]:
    """Pieces of a list."""
    return [items[i : i + size] for i in range(0, len(items), size)]


def until(
    holds: Callable[[], bool],
    what: str,
    *,
    poll: float = POLL_SECONDS,
    patience: float = PATIENCE_SECONDS,
) -> None:
    """Polls. TimeoutError naming `what`."""
    deadline = time.monotonic() + patience
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(what)
        time.sleep(poll)


def installed_version(obj: KubeObject) -> str:
    """The version that is installed and settled; empty while there is none."""
    bundle = ((obj.get("status") or {}).get("install") or {}).get("bundle") or {}
    found = condition(obj, "Progressing")
    settled = found is not None and found["reason"] == "Succeeded"
    return str(bundle.get("version") or "") if settled else ""
