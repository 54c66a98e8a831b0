"""A real Kubernetes control plane for tests: etcd, kube-apiserver, kube-controller-manager.

There is no scheduler and no kubelet: Pods stay Pending and Deployments never become available.
Webhooks that name a Service cannot be reached; those that name a URL on loopback can.
"""

import secrets
import ssl
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import httpx
import orjson
import yaml
from cryptography.hazmat.primitives.asymmetric import ec

from e2e.harness.apply import Kind, ManifestApplier, objects_of
from e2e.harness.binaries import ControlPlaneBinaries, Executable, control_plane_binaries
from e2e.harness.client import KubeClient
from e2e.harness.components import (
    FRONT_PROXY,
    HOST,
    ControlPlaneOptions,
    Places,
    Ports,
    apiserver_args,
    audit_policy,
    controller_manager_args,
    etcd_args,
)
from e2e.harness.errors import CommandFailed
from e2e.harness.kubeconfig import Endpoint, certificate_user, token_user, write_kubeconfig
from e2e.harness.pki import (
    CertificateAuthority,
    KeyPair,
    private_key_pem,
    public_key_pem,
    write_private,
)
from e2e.harness.ports import free_port
from e2e.harness.process import ChildProcess, service_environment
from e2e.harness.running import Running
from e2e.harness.states import pause_after

REQUEST_TIMEOUT = 30.0
KUBECTL_TIMEOUT = 240.0
SERVER_NAMES = (
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
    HOST,
)


class ControlPlane(Running):
    """One control plane on loopback ports, with its state in a folder.

    Start, stop and start again keep state, ports and kubeconfigs. The folder may be given to a
    later ControlPlane, which takes up state and keys on other ports. `stop` leaves no process.
    """

    def __init__(
        self,
        work_dir: Path,
        *,
        options: ControlPlaneOptions | None = None,
        binaries: ControlPlaneBinaries | None = None,
    ) -> None:
        """Describe a control plane; nothing is started, written or built yet."""
        self.options = options or ControlPlaneOptions()
        self.places = Places(work_dir.absolute())
        self._binaries = binaries
        self._ports: Ports | None = None
        self._audit_events: list[dict[str, Any]] = []
        self._audit_read = 0
        self._client: httpx.Client | None = None
        self._known_kinds: dict[Kind, dict[str, Any]] = {}
        self.children: dict[str, ChildProcess] = {}
        """The running components, by name."""

    @property
    def ports(self) -> Ports:
        """The ports, chosen at first use."""
        if self._ports is None:
            self._ports = Ports(free_port(), free_port(), free_port(), free_port())
        return self._ports

    @property
    def binaries(self) -> ControlPlaneBinaries:
        """The programs, found or built at first use."""
        if self._binaries is None:
            self._binaries = control_plane_binaries()
        return self._binaries

    @property
    def url(self) -> str:
        """The address of the API server."""
        return f"https://{HOST}:{self.ports.apiserver}"

    @property
    def endpoint(self) -> Endpoint:
        """Where the API server is, and how to check it; it has to have been started once."""
        return Endpoint(self.url, self.ca_file.read_bytes())

    @property
    def ca_file(self) -> Path:
        """The certificate that the API server's certificate is to be checked with."""
        return self.places.pki / "ca.crt"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig (group system:masters)."""
        return self.places.kubeconfigs / "admin.yaml"

    def start(self) -> None:
        """Start everything and wait until it serves; on failure nothing is left running.

        Errors: ProcessFailed, BinaryUnavailable, BuildFailed.
        """
        self._prepare()
        try:
            self.start_etcd()
            self.start_apiserver()
            if self.options.controller_manager:
                self.start_controller_manager()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop everything, clients before servers. Idempotent."""
        self.stop_controller_manager()
        self.stop_apiserver()
        self.stop_etcd()

    def start_etcd(self) -> None:
        """Start etcd; it is ready when the API server finds it ready."""
        self._launch("etcd", self.binaries.etcd, etcd_args(self.places, self.ports))

    def stop_etcd(self) -> None:
        """Stop etcd; its data stays."""
        self._halt("etcd")

    def start_apiserver(self) -> None:
        """Start the API server and wait until it says that it is ready."""
        arguments = apiserver_args(self.places, self.ports, self.options)
        child = self._launch("kube-apiserver", self.binaries.kube_apiserver, arguments)
        with self.client() as client:
            child.wait_ready(lambda: answers_ok(client, "/readyz"))

    def stop_apiserver(self) -> None:
        """Stop the API server; state stays in etcd, so starting it again is a restart."""
        if self._client is not None:
            self._client.close()
            self._client = None
        self._halt("kube-apiserver")

    def start_controller_manager(self) -> None:
        """Start the controllers; wait until they run and the default service account is there.

        The garbage collector looks for new kinds at its start and every half minute.
        """
        arguments = controller_manager_args(self.places, self.ports, self.options)
        name = "kube-controller-manager"
        child = self._launch(name, self.binaries.kube_controller_manager, arguments)
        health = f"https://{HOST}:{self.ports.controller_manager}/healthz"
        account = "/api/v1/namespaces/default/serviceaccounts/default"
        with self.client() as client:
            child.wait_ready(lambda: answers_ok(client, health) and answers_ok(client, account))

    def stop_controller_manager(self) -> None:
        """Stop the controllers: no garbage collection, no ends of namespaces."""
        self._halt("kube-controller-manager")

    def restart_controller_manager(self) -> None:
        """Have the garbage collector look for new kinds now; takes less than a second."""
        self.stop_controller_manager()
        self.start_controller_manager()

    def client(self, *, timeout: float = REQUEST_TIMEOUT) -> httpx.Client:
        """An HTTP client with the API server as base URL and the administrator's rights.

        It shows a token: the API server verifies a certificate anew for each request, which is a
        third of what a GET takes it.
        """
        token = self.places.tokens.read_text().partition(",")[0]
        return KubeClient(
            base_url=self.url,
            verify=ssl.create_default_context(cafile=str(self.ca_file)),
            headers={"Authorization": f"Bearer {token}"},
            timeout=timeout,
            trust_env=False,
        )

    @property
    def _http(self) -> httpx.Client:
        """A client for our own requests: each one's first takes a handshake."""
        if self._client is None:
            self._client = self.client()
        return self._client

    def kubeconfig_for(self, user: str, groups: Sequence[str] = ()) -> Path:
        """A kubeconfig for a user known by client certificate, with no rights but its groups'."""
        authority = CertificateAuthority.load_or_create(self.places.pki, "ca")
        return self._write_kubeconfig(user, certificate_user(authority.issue_client(user, groups)))

    def kubeconfig_for_service_account(
        self, namespace: str, name: str, *, via: Endpoint | None = None
    ) -> Path:
        """A kubeconfig for an existing service account, with a token valid for a day.

        It leads to the API server, or to what stands in front of it.

        Errors: httpx.HTTPStatusError if there is no such account.
        """
        user = token_user(self.token(namespace, name))
        return self._write_kubeconfig(f"{namespace}.{name}", user, via)

    def token(self, namespace: str, name: str) -> str:
        """A token for an existing service account, valid for a day. Errors: as above."""
        account = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}"
        request = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": 24 * 3600},
        }
        answer = self._http.post(f"{account}/token", json=request).raise_for_status()
        return str(answer.json()["status"]["token"])

    def kubectl(
        self,
        *arguments: str,
        stdin: str | None = None,
        kubeconfig: Path | None = None,
        timeout: float = KUBECTL_TIMEOUT,
    ) -> str:
        """Run kubectl as the administrator, or as `kubeconfig` says; its standard output.

        Errors: CommandFailed with its standard error.
        """
        argv = (*self.binaries.kubectl.argv, *arguments)
        done = subprocess.run(
            argv,
            input=stdin,
            env=service_environment(
                KUBECONFIG=str(kubeconfig or self.kubeconfig),
                # Its cache is keyed by host and port, which the next control plane may reuse.
                KUBECACHEDIR=str(self.places.root / "kubectl-cache"),
            ),
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout,
        )
        if done.returncode != 0:
            raise CommandFailed(
                argv, returncode=done.returncode, stdout=done.stdout, stderr=done.stderr
            )
        return done.stdout

    def apply(self, manifests: str | Path | Sequence[dict[str, Any]]) -> None:
        """What `kubectl apply --server-side --force-conflicts` does, as the administrator.

        Manifests may be in a file or a folder. Kinds that were defined are served then, and
        bindings in force.
        Errors: httpx.HTTPStatusError with the API server's message.
        """
        ManifestApplier(self._http, self._known_kinds).apply(_objects(manifests))

    def delete(self, manifests: str | Path | Sequence[dict[str, Any]]) -> None:
        """What `kubectl delete --ignore-not-found` does, which waits until they are gone.

        Errors: httpx.HTTPStatusError with the API server's message.
        """
        ManifestApplier(self._http, self._known_kinds).delete(_objects(manifests))

    def create(self, path: str, obj: dict[str, Any]) -> None:
        """Creates the object in the collection at an API path. Errors: httpx.HTTPStatusError."""
        self._http.post(path, json=obj).raise_for_status()

    def remove(self, path: str) -> None:
        """Has the object at an API path deleted, if there is one; does not wait until it is gone.

        Errors: httpx.HTTPStatusError.
        """
        answer = self._http.delete(path)
        if answer.status_code != httpx.codes.NOT_FOUND:
            answer.raise_for_status()

    def end(self, path: str) -> None:
        """The same, and waits until it is gone. Errors: httpx.HTTPStatusError, TimeoutError."""
        self.remove(path)
        ManifestApplier(self._http, self._known_kinds).wait_gone(path)

    def drop_namespace(self, name: str) -> None:
        """Has a namespace gone at once, if it is there, without the namespace controller.

        What is in it stays, unless it has an owner that is gone. Errors: httpx.HTTPStatusError.
        """
        path = f"/api/v1/namespaces/{name}"
        ended = None
        while ended is None or ended.status_code == httpx.codes.CONFLICT:
            found = self._http.get(path)
            if found.status_code == httpx.codes.NOT_FOUND:
                return
            body = found.raise_for_status().json() | {"spec": {"finalizers": []}}
            ended = self._http.put(f"{path}/finalize", json=body)
        ended.raise_for_status()
        self.remove(path)  # marks it
        self.remove(path)

    def audit_events(self) -> list[dict[str, Any]]:
        """All requests that the API server has completed, if the option `audit` is set."""
        if self.places.audit_log.is_file():
            with self.places.audit_log.open("rb") as file:
                file.seek(self._audit_read)
                lines = file.read().splitlines(keepends=True)
            complete = [line for line in lines if line.endswith(b"\n")]
            self._audit_read += sum(map(len, complete))
            self._audit_events += map(orjson.loads, complete)
        return list(self._audit_events)

    def _prepare(self) -> None:
        for folder in (self.places.root, self.places.pki, self.places.logs, self.places.etcd_data):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._write_keys()
        if self.options.audit is not None:
            policy = yaml.safe_dump(audit_policy(self.options.audit))
            self.places.audit_policy.write_text(policy)

    def _write_keys(self) -> None:
        pki = self.places.pki
        authority = CertificateAuthority.load_or_create(pki, "ca")
        service_address = self.options.service_cidr.partition("/")[0].rpartition(".")[0] + ".1"
        names = (*SERVER_NAMES, service_address)
        authority.issue_server("kube-apiserver", hosts=names).write(pki, "apiserver")
        front_proxy = CertificateAuthority.load_or_create(pki, "front-proxy-ca")
        front_proxy.issue_client(FRONT_PROXY).write(pki, "front-proxy")
        authority.issue_server("controller-manager", hosts=[HOST]).write(pki, "controller-manager")
        self._write_service_account_keys()
        if not self.places.tokens.is_file():
            line = f'{secrets.token_urlsafe(32)},admin,admin,"system:masters"\n'
            write_private(self.places.tokens, line.encode())
        admin = authority.issue_client("admin", ["system:masters"])
        self._write_kubeconfig("admin", certificate_user(admin))
        manager: KeyPair = authority.issue_client("system:kube-controller-manager")
        self._write_kubeconfig("kube-controller-manager", certificate_user(manager))

    def _write_service_account_keys(self) -> None:
        private = Path(self.places.key("service-accounts"))
        if private.is_file():
            return  # tokens that were given out stay valid
        key = ec.generate_private_key(ec.SECP256R1())
        write_private(private, private_key_pem(key))
        private.with_suffix(".pub").write_bytes(public_key_pem(key.public_key()))

    def _write_kubeconfig(
        self, name: str, user: dict[str, Any], via: Endpoint | None = None
    ) -> Path:
        endpoint = via or self.endpoint
        return write_kubeconfig(
            self.places.kubeconfigs / f"{name.replace(':', '.').replace('/', '.')}.yaml",
            server=endpoint.url,
            authority=endpoint.authority,
            user=user,
        )

    def _launch(self, name: str, program: Executable, arguments: Sequence[str]) -> ChildProcess:
        child = ChildProcess(
            name, (*program.argv, *arguments), log=self.places.logs / f"{name}.log"
        )
        self.children[name] = child
        child.start()
        return child

    def _halt(self, name: str) -> None:
        child = self.children.pop(name, None)
        if child is not None:
            child.stop()


def _objects(manifests: str | Path | Sequence[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    if isinstance(manifests, str):
        return objects_of(manifests)
    if not isinstance(manifests, Path):
        return manifests
    files = sorted(manifests.glob("*.yaml")) if manifests.is_dir() else [manifests]
    return objects_of("\n---\n".join(file.read_text(encoding="utf-8") for file in files))


def wait_until(condition: Callable[[], bool], *, what: str, timeout: float = 180.0) -> None:
    """Poll until the condition holds; TimeoutError naming `what` if it does not in time."""
    begun = time.monotonic()
    while not condition():
        waited = time.monotonic() - begun
        if waited > timeout:
            raise TimeoutError(f"after {timeout:.0f} s still not: {what}")
        time.sleep(pause_after(waited))


def answers_ok(client: httpx.Client, url: str) -> bool:
    """Whether a GET is answered 200; to be asked again with the same client, which is dear."""
    try:
        return client.get(url, timeout=2.0).status_code == httpx.codes.OK
    except httpx.TransportError:
        return False
