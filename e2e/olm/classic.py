"""OLM Classic as processes outside the cluster, with their own rights only, and its users.

    with Classic(folder, control_plane, registry) as classic:
        team = classic.place()
        team.catalog("operators", package_blobs([BundleSpec(...).publish(registry)]))
        team.subscribe("hello", source="operators")
        team.wait_csv("hello.v1.0.0")

Without `whole` a stand-in does what olm-operator does. A catalog is a real `opm serve`; what else a
cluster has is in e2e/olm/stand_ins.py.
"""

import secrets
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from api.objects import KubeObject, condition
from api.operators.names import V1, V1ALPHA1
from e2e.harness.controlplane import ControlPlane
from e2e.harness.kubeconfig import Endpoint
from e2e.harness.ports import free_port
from e2e.harness.process import ChildProcess
from e2e.harness.registry import Registry
from e2e.olm.api import Api
from e2e.olm.catalog_servers import Blobs, CatalogServer
from e2e.olm.csvs import cluster_service_version
from e2e.olm.daemons import metrics_of, start_daemon
from e2e.olm.programs import CONFIG
from e2e.olm.stand_ins import StandIns

HOST = "127.0.0.1"
SYSTEM_NAMESPACE = "olm"
CATALOG_OPERATOR, OLM_OPERATOR = "catalog-operator", "olm-operator"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
ACTED_UPON = (
    (V1ALPHA1, "subscriptions"),
    (V1ALPHA1, "installplans"),
    (V1ALPHA1, "catalogsources"),
    (V1ALPHA1, "clusterserviceversions"),
    (V1, "operatorgroups"),
)
"""What users make in a namespace, and programs for them."""


class Classic:
    """catalog-operator, and olm-operator if it is `whole`, over a control plane and a registry."""

    def __init__(
        self,
        work_dir: Path,
        control_plane: ControlPlane,
        registry: Registry,
        *,
        whole: bool = False,
    ) -> None:
        """Describe it; nothing is started or written yet."""
        self.work_dir = work_dir.absolute()
        self.control_plane = control_plane
        self.registry = registry
        self.program: ChildProcess | None = None
        """catalog-operator."""
        self.operator: ChildProcess | None = None
        """olm-operator."""
        self.environment: Mapping[str, str] = {}
        self.api_for_programs: Endpoint | None = None
        """What they reach the API server through, if not directly."""
        self.default_catalogs = self.work_dir / "default-catalogs"
        """Manifests of the default CatalogSources; empty, so that tests have their own only."""
        self.stand_ins = StandIns(self.work_dir / "pods", control_plane, operator_runs=whole)
        self.metrics_port = free_port(HOST)
        self.operator_metrics_port = free_port(HOST)
        self.api = Api(control_plane)
        self._whole = whole
        self._health_port = free_port(HOST)
        self._operator_health_port = free_port(HOST)
        self._flags: tuple[str, ...] = ()
        self._operator_flags: tuple[str, ...] = ()
        self._servers: list[CatalogServer] = []
        self._emptied: list[str] = []
        """Namespaces whose ends have begun."""

    def __enter__(self) -> Self:
        """Install and start."""
        self.install()
        self.stand_ins.__enter__()
        try:
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        self.stop()
        self.stand_ins.__exit__(kind, error, trace)
        for server in self._servers:
            server.stop()
        self.api.__exit__(kind, error, trace)

    def install(self) -> None:
        """Create the CRDs, the namespaces, the account and its roles."""
        definitions = sorted((CONFIG / "crd" / "classic").glob("*.yaml"))
        roles = CONFIG / "rbac" / "classic"
        programs = (CATALOG_OPERATOR, *([OLM_OPERATOR] if self._whole else []))
        accounts = (roles / f"{program}.yaml" for program in programs)
        files = (*definitions, roles / "namespaces.yaml", *accounts)
        self.control_plane.apply("\n---\n".join(file.read_text() for file in files))
        for definition in definitions:
            group, plural = definition.stem.split("_")
            self.api.wait_condition(f"{DEFINITIONS}/{plural}.{group}", "Established", "True")
        self.control_plane.restart_controller_manager()  # it collects garbage of these kinds too
        for folder in (self.registry_cas, self.default_catalogs):
            folder.mkdir(parents=True, exist_ok=True)
        if self.registry.ca_file is not None:
            shutil.copyfile(self.registry.ca_file, self.registry_cas / "registry.crt")

    @property
    def registry_cas(self) -> Path:
        """The folder of CAs for registries."""
        return self.work_dir / "registry-cas"

    def start(self, *flags: str) -> None:
        """Start the programs and wait until they are ready; flags are catalog-operator's."""
        self._flags = flags
        self.program = start_daemon(
            CATALOG_OPERATOR,
            [
                *self._common_flags(CATALOG_OPERATOR, self.metrics_port),
                f"--cache-path={self.work_dir / 'cache'}",
                f"--pull-cas-dir={self.registry_cas}",
                f"--default-catalogs={self.default_catalogs}",
                *flags,
            ],
            health_port=self._health_port,
            log=self.work_dir / "logs" / f"{CATALOG_OPERATOR}.log",
            environment=self.environment,
        )
        if self._whole:
            self.start_operator(*self._operator_flags)

    def start_operator(self, *flags: str) -> None:
        """Start olm-operator and wait until it is ready."""
        self._operator_flags = flags
        self.operator = start_daemon(
            OLM_OPERATOR,
            [*self._common_flags(OLM_OPERATOR, self.operator_metrics_port), *flags],
            health_port=self._operator_health_port,
            log=self.work_dir / "logs" / f"{OLM_OPERATOR}.log",
            environment=self.environment,
        )

    def _common_flags(self, program: str, metrics_port: int) -> list[str]:
        kubeconfig = self.control_plane.kubeconfig_for_service_account(
            SYSTEM_NAMESPACE, program, via=self.api_for_programs
        )
        return [
            f"--kubeconfig={kubeconfig}",
            f"--namespace={SYSTEM_NAMESPACE}",
            f"--metrics-bind-address={HOST}:{metrics_port}",
        ]

    def stop(self) -> None:
        """Stop the programs. Idempotent."""
        for program in (self.program, self.operator):
            if program is not None:
                program.stop()

    def restart(self, *flags: str, kill: bool = False) -> None:
        """Start them anew; with `kill` they end by SIGKILL, as in a crash.

        Without flags as before.
        """
        for program in (self.program, self.operator):
            if kill and program is not None:
                program.kill()
        self.stop()
        self.start(*(flags or self._flags))

    def restart_operator(self, *flags: str, kill: bool = False) -> None:
        """Start olm-operator anew; with `kill` it ends by SIGKILL. Without flags as before."""
        assert self.operator is not None
        if kill:
            self.operator.kill()
        self.operator.stop()
        self.start_operator(*(flags or self._operator_flags))

    def stop_operator(self) -> None:
        """Stop olm-operator alone, which gives its lease back. Idempotent."""
        if self.operator is not None:
            self.operator.stop()

    def metrics(self) -> str:
        """What catalog-operator says of itself."""
        return metrics_of(self.metrics_port)

    def operator_metrics(self) -> str:
        """What olm-operator says of itself."""
        return metrics_of(self.operator_metrics_port)

    def serve(self, blobs: Blobs) -> CatalogServer:
        """A catalog, for `spec.address`."""
        server = CatalogServer(self.work_dir / "catalogs" / f"{len(self._servers)}")
        self._servers.append(server)
        server.serve(blobs)
        return server

    def place(
        self, *, group: Mapping[str, Any] | None = None, own: bool = False, name: str = ""
    ) -> "Place":
        """A new namespace with an OperatorGroup for all namespaces, or of another spec.

        `own` is short for that of a group for this namespace alone.
        """
        place = Place(self, name or f"test-{secrets.token_hex(4)}")
        place.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": place.name}})
        spec = {"targetNamespaces": [place.name]} if own else dict(group or {})
        place.create(V1, "OperatorGroup", "group", spec)
        return place

    def remove(self, *namespaces: str) -> None:
        """Has namespaces end that are there, and what programs act upon in them; does not wait.

        The namespace controller asks 170 times for one end, once for all kinds and once again: half
        of all requests of these tests. So namespaces are emptied here, and go at the next call.
        """
        emptied, self._emptied = self._emptied, list(namespaces)
        for name in emptied:
            left = Place(self, name).path("clusterserviceversions")
            if self.api.list(left):  # what shall still be done for them needs the namespace
                self.control_plane.remove(f"/api/v1/namespaces/{name}")
            else:
                self.control_plane.drop_namespace(name)
        for name in namespaces:
            for version, plural in ACTED_UPON:
                self.control_plane.remove(Place(self, name).path(plural, version=version))

    def remove_definition(self, name: str) -> None:
        """Has a definition deleted, if it is there; does not wait for its end."""
        self.control_plane.remove(f"{DEFINITIONS}/{name}")


class Place:
    """A namespace, and what its users do in it."""

    def __init__(self, classic: Classic, name: str) -> None:
        """One that there is."""
        self.classic = classic
        self.name = name
        self._api = classic.api

    def path(self, plural: str, name: str = "", *, version: str = V1ALPHA1) -> str:
        """The API path of an object, or of all of a kind."""
        base = f"/api{'' if version == 'v1' else 's'}/{version}/namespaces/{self.name}/{plural}"
        return f"{base}/{name}" if name else base

    def apply(self, *objects: KubeObject) -> None:
        """As `kubectl apply` does."""
        self.classic.control_plane.apply(objects)

    def create(self, version: str, kind: str, name: str, spec: Mapping[str, Any]) -> None:
        """Applies an object of this namespace."""
        meta = {"namespace": self.name, "name": name}
        self.apply({"apiVersion": version, "kind": kind, "metadata": meta, "spec": dict(spec)})

    def catalog(self, name: str, blobs: Blobs, **spec: Any) -> CatalogServer:
        """A CatalogSource with the address of a server of its own."""
        server = self.classic.serve(blobs)
        address = {"sourceType": "grpc", "address": server.address}
        self.create(V1ALPHA1, "CatalogSource", name, {**address, **spec})
        return server

    def subscribe(self, package: str, *, source: str, namespace: str = "", **spec: Any) -> None:
        """A Subscription of the package's name; `namespace` is the catalog's."""
        named = {"name": package, "source": source, "sourceNamespace": namespace or self.name}
        self.create(V1ALPHA1, "Subscription", package, {**named, **spec})

    def csv(self, name: str, **spec: Any) -> KubeObject:
        """A ClusterServiceVersion made by hand, as e2e/olm/csvs.py has them; as it was applied."""
        made = cluster_service_version(self.name, name, **spec)
        self.apply(made)
        return made

    def wait(
        self, plural: str, name: str, holds: Callable[[KubeObject], bool], *, what: str = ""
    ) -> KubeObject:
        """The object once it is there and `holds` says so."""
        path = self.path(plural, name)
        found = self._api.wait(
            path, lambda obj: obj is not None and holds(obj), what=what or f"what {path} shall be"
        )
        return found or {}

    def wait_csv(self, name: str, phase: str = "Succeeded") -> KubeObject:
        """Waits until a ClusterServiceVersion is in a phase."""
        return self.wait("clusterserviceversions", name, lambda obj: status(obj, "phase") == phase)

    def wait_reason(self, name: str, reason: str) -> KubeObject:
        """Waits until a ClusterServiceVersion is where it is for a reason."""
        plural = "clusterserviceversions"
        return self.wait(plural, name, lambda obj: status(obj, "reason") == reason)

    def wait_catalog(self, name: str, state: str = "READY") -> KubeObject:
        """Waits until the connection to a catalog is in a state."""

        def holds(obj: KubeObject) -> bool:
            return (status(obj, "connectionState") or {}).get("lastObservedState") == state

        return self.wait("catalogsources", name, holds)

    def wait_subscription(self, name: str, **fields: Any) -> KubeObject:
        """Waits until fields of a Subscription's status have these values."""

        def holds(obj: KubeObject) -> bool:
            return all(status(obj, key) == value for key, value in fields.items())

        return self.wait("subscriptions", name, holds)

    def wait_condition(
        self, plural: str, name: str, kind: str, value: str = "True", *, reason: str = ""
    ) -> KubeObject:
        """Waits until an object has a condition, for that reason if one is given; the condition."""

        def holds(obj: KubeObject) -> bool:
            found = condition(obj, kind)
            held = found is not None and found["status"] == value
            return held and reason in {"", (found or {})["reason"]}

        return condition(self.wait(plural, name, holds), kind) or {}

    def install_plans(self) -> list[KubeObject]:
        """The plans of the namespace, the newest generation last."""
        plans = self._api.list(self.path("installplans"))
        return sorted(plans, key=lambda plan: plan["spec"].get("generation") or 0)

    def wait_plan(self, phase: str, generation: int = 1) -> KubeObject:
        """Waits until the plan of a generation is in a phase."""
        path = self.path("installplans")
        names: list[str] = []

        def holds(_: KubeObject | None) -> bool:
            names[:] = [
                plan["metadata"]["name"]
                for plan in self.install_plans()
                if plan["spec"].get("generation") == generation and status(plan, "phase") == phase
            ]
            return bool(names)

        self._api.wait(path, holds, what=f"plan {generation} of {self.name} {phase}")
        return self._api.get(f"{path}/{names[0]}") or {}

    def approve(self, plan: KubeObject) -> None:
        """As the documents have it: `oc patch installplan ... approved: true`."""
        self.patch("installplans", plan["metadata"]["name"], {"spec": {"approved": True}})

    def patch(
        self, plural: str, name: str, patch: dict[str, Any], *, version: str = V1ALPHA1
    ) -> None:
        """Merge-patches an object."""
        self._api.patch(self.path(plural, name, version=version), patch)

    def patch_status(
        self, plural: str, name: str, status: Mapping[str, Any], *, version: str = V1ALPHA1
    ) -> None:
        """Merge-patches the status of an object."""
        path = self.path(plural, name, version=version)
        self._api.patch(f"{path}/status", {"status": dict(status)})

    def delete(self, plural: str, name: str) -> None:
        """Deletes an object."""
        self._api.delete(self.path(plural, name))


def status(obj: KubeObject, field: str) -> Any:
    """A field of the status; None where there is none."""
    return (obj.get("status") or {}).get(field)
