"""Certificates of our own, used: the API server asks a real webhook server that serves with them.

Nothing is rewritten: webhook configurations and CRDs are as the product applied them, TLS is
checked by the API server against the `caBundle` and the names in it.
"""

import base64
import json
import logging
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
import pytest
from cryptography import x509

from api.objects import KubeObject, annotations_of, metadata
from api.olm.v1 import names
from e2e.harness.controlplane import ControlPlane, wait_until
from e2e.harness.ports import free_port
from e2e.harness.registry import Registry
from e2e.olm.api import Api, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.manifests import with_administrator
from e2e.olm.programs import HOST, Olm
from e2e.olm.warm import warm_program
from e2e.olm.webhooks import WebhookPod, publish_webhook_bundle

pytestmark = pytest.mark.integration

SETS = f"/apis/{names.GROUP}/{names.VERSION}/clusterobjectsets"
REGISTRATION = "/apis/admissionregistration.k8s.io/v1"
log = logging.getLogger(__name__)

LIFETIME_SECONDS = 18
SETTLE_SECONDS = 1


@dataclass(frozen=True)
class Installed:
    """The extension under test."""

    package: str
    group: str
    pod: WebhookPod

    @property
    def callers(self) -> list[str]:
        """API paths of what calls the webhooks."""
        return [
            f"{REGISTRATION}/validatingwebhookconfigurations/validate.{self.group}",
            f"{REGISTRATION}/mutatingwebhookconfigurations/mutate.{self.group}",
            f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.{self.group}",
        ]

    def things(self, version: str) -> str:
        return f"/apis/{self.group}/{version}/namespaces/{self.package}/things"

    def thing(self, name: str, version: str = "v1", **spec: str) -> KubeObject:
        return {
            "apiVersion": f"{self.group}/{version}",
            "kind": "Thing",
            "metadata": {"name": name, "namespace": self.package},
            "spec": spec,
        }


Install = Callable[[], Installed]


@pytest.fixture
def install(
    olm: Olm,
    api: Api,
    package: str,
    registry: Registry,
    tmp_path: Path,
    publish_catalog: Callable[..., str],
    serve_catalog: Callable[[str, str], None],
) -> Iterator[Install]:
    pods: list[WebhookPod] = []

    def run() -> Installed:
        port = free_port(HOST)
        group = f"{package}.example.com"
        spec = BundleSpec(package=package, version="1.0.0", crd_group=group)
        serve_catalog(package, publish_catalog(publish_webhook_bundle(spec, port, registry)))
        olm.control_plane.apply(with_administrator(package))
        api.wait_installed(package, "1.0.0")
        pod = WebhookPod(tmp_path / "pod", api, package, port)
        pod.__enter__()
        pods.append(pod)
        return Installed(package, group, pod)

    yield run
    for pod in pods:
        pod.__exit__(None, None, None)
    olm.control_plane.end(extension_path(package))


@pytest.fixture
def short_lived(olm: Olm) -> Iterator[None]:
    """operator-controller issuing certificates that are renewed every few seconds."""
    olm.kill(olm.operator_controller)
    olm.start_operator_controller(
        f"--webhook-cert-lifetime={LIFETIME_SECONDS}s", f"--webhook-cert-settle={SETTLE_SECONDS}s"
    )
    yield
    olm.kill(olm.operator_controller)
    olm.start_operator_controller()


def bundle_of(caller: KubeObject) -> bytes:
    """The CA bundle of a webhook configuration or CRD."""
    if caller["kind"] == "CustomResourceDefinition":
        config = caller["spec"]["conversion"]["webhook"]["clientConfig"]
    else:
        config = caller["webhooks"][0]["clientConfig"]
    return base64.b64decode(config.get("caBundle") or "")


def authorities(bundle: bytes) -> list[str]:
    return [f"{ca.serial_number:x}" for ca in x509.load_pem_x509_certificates(bundle)]


def wait_served(http: httpx.Client, installed: Installed) -> None:
    """Until the API server knows that the Service leads to the server."""

    def admitted() -> bool:
        thing = installed.thing("first", x="one")
        answer = http.post(installed.things("v1"), json=thing, params={"dryRun": "All"})
        return answer.status_code == httpx.codes.CREATED

    wait_until(admitted, what="the webhooks answer")


def planned(olm: Olm, extension: str) -> Any:
    """What `olm plan` says that a look at the extension as it is would change."""
    command = [
        warm_program("olm"),
        *("plan", extension, "-o", "json"),
        f"--kubeconfig={olm.control_plane.kubeconfig}",
        f"--catalogd-cas-dir={olm.catalogs_ca.parent}",
    ]
    completed = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    return json.loads(completed.stdout)["plans"][0]


def test_webhooks_of_all_kinds_work_without_anybody_else_to_issue_certificates(
    control_plane: ControlPlane, api: Api, olm: Olm, install: Install
) -> None:
    installed = install()
    with control_plane.client() as http:
        wait_served(http, installed)
        made = http.post(installed.things("v1"), json=installed.thing("one", x="fine"))
        assert made.json()["spec"] == {"x": "fine", "mutated": "yes"}
        converted = http.get(installed.things("v2") + "/one").json()
        assert converted["spec"] == {"z": "fine", "mutated": "yes"}
        refused = http.post(installed.things("v1"), json=installed.thing("two", x="forbidden"))
        assert "x is forbidden" in refused.json()["message"]
        later = http.post(
            installed.things("v2"), json=installed.thing("three", "v2", z="forbidden")
        )
        assert "x is forbidden" in later.json()["message"]
    secret = api.get(installed.pod.secret_path)
    assert secret is not None
    assert set(secret["data"]) == {"tls.crt", "tls.key", "ca.crt"}, "no CA key is kept"
    (owner,) = metadata(secret)["ownerReferences"]
    assert (owner["kind"], owner["name"]) == ("ClusterExtension", installed.package)
    plan = planned(olm, installed.package)
    assert [(o["kind"], o["fields"]) for o in plan["objects"] if o["action"] != "unchanged"] == []


def test_a_ca_bundle_that_somebody_changes_is_restored(
    control_plane: ControlPlane, api: Api, install: Install
) -> None:
    installed = install()
    before = [bundle_of(api.get(path) or {}) for path in installed.callers]
    emptied = {"clientConfig": {"caBundle": None}}
    with control_plane.client() as http:
        for path in installed.callers[:2]:
            removal = [{"op": "remove", "path": "/webhooks/0/clientConfig/caBundle"}]
            json_patch = {"Content-Type": "application/json-patch+json"}
            http.patch(path, json=removal, headers=json_patch).raise_for_status()
    api.patch(installed.callers[2], {"spec": {"conversion": {"webhook": emptied}}})
    wait_until(
        lambda: [bundle_of(api.get(path) or {}) for path in installed.callers] == before,
        what="the CA bundles are restored",
    )
    with control_plane.client() as http:
        wait_served(http, installed)


def test_deleting_the_secret_replaces_certificate_and_ca_at_once(
    control_plane: ControlPlane, api: Api, install: Install
) -> None:
    installed = install()
    before = authorities(bundle_of(api.get(installed.callers[0]) or {}))
    api.delete(installed.pod.secret_path)

    def replaced() -> bool:
        found = [authorities(bundle_of(api.get(path) or {})) for path in installed.callers]
        return all(len(a) == 1 and a != before for a in found)

    wait_until(replaced, what="the CA is replaced")
    with control_plane.client() as http:
        wait_served(http, installed)


CERT_MANAGER: KubeObject = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "certificates.cert-manager.io"},
    "spec": {
        "group": "cert-manager.io",
        "scope": "Namespaced",
        "names": {"kind": "Certificate", "plural": "certificates"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object"}},
            }
        ],
    },
}


@pytest.fixture
def cert_manager(control_plane: ControlPlane) -> Iterator[Callable[[], None]]:
    """Makes the cluster look as if cert-manager had been installed."""
    definition = json.dumps(CERT_MANAGER)
    yield lambda: control_plane.apply(definition)
    control_plane.delete(definition)


def test_a_cert_manager_that_appears_later_changes_nothing_even_when_rendered_anew(
    api: Api, install: Install, cert_manager: Callable[[], None]
) -> None:
    installed = install()
    cert_manager()
    (revision,) = revisions(api, installed.package)
    path = f"{SETS}/{metadata(revision)['name']}"
    inputs = annotations_of(revision)[names.ANNOTATION_RENDER_INPUTS]
    # As an older renderer would have left it: all is rendered again, and noted as rendered.
    api.patch(path, {"metadata": {"annotations": {names.ANNOTATION_RENDER_INPUTS: "older"}}})
    wait_until(
        lambda: annotations_of(api.get(path) or {}).get(names.ANNOTATION_RENDER_INPUTS) == inputs,
        what="the objects rendered anew are the same",
    )
    assert len(revisions(api, installed.package)) == 1
    for caller in installed.callers:
        notes = annotations_of(api.get(caller) or {}).keys()
        assert names.ANNOTATION_INJECT_CA in notes
        assert not [note for note in notes if note.startswith("cert-manager.io/")]


def revisions(api: Api, package: str) -> list[KubeObject]:
    return api.list(SETS, labels=f"{names.LABEL_OWNER_NAME}={package}")


@dataclass
class Traffic:
    """Requests that need all three webhooks, many in each moment of settling, until stopped."""

    control_plane: ControlPlane
    installed: Installed
    sent: int = 0
    failures: list[str] = field(default_factory=list)
    _stopping: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def __enter__(self) -> Self:
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(2)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join(10.0)

    def _run(self) -> None:
        with self.control_plane.client() as http:
            while not self._stopping.wait(0.2):
                for problem in (self._admit(http), self._convert(http)):
                    self.sent += 1
                    if problem:
                        self.failures.append(problem)

    def _admit(self, http: httpx.Client) -> str:
        thing = self.installed.thing("many", "v2", z="fine")
        answer = http.post(self.installed.things("v2"), json=thing, params={"dryRun": "All"})
        fine = answer.json().get("spec") == {"z": "fine", "mutated": "yes"}
        return "" if fine else f"admission: {answer.text}"

    def _convert(self, http: httpx.Client) -> str:
        answer = http.get(self.installed.things("v2") + "/stored")
        fine = answer.json().get("spec") == {"z": "fine", "mutated": "yes"}
        return "" if fine else f"conversion: {answer.text}"


@pytest.mark.usefixtures("short_lived")
def test_rotation_under_requests_fails_none_of_them(
    control_plane: ControlPlane, api: Api, install: Install
) -> None:
    installed = install()
    trusted: list[list[str]] = []

    def look() -> list[list[str]]:
        now = authorities(bundle_of(api.get(installed.callers[0]) or {}))
        if not trusted or trusted[-1] != now:
            trusted.append(now)
        return trusted

    with control_plane.client() as http:
        wait_served(http, installed)
        stored: Any = http.post(installed.things("v1"), json=installed.thing("stored", x="fine"))
        assert stored.status_code == httpx.codes.CREATED, stored.text
    with Traffic(control_plane, installed) as traffic:
        wait_until(
            lambda: len([cas for cas in look() if len(cas) == 1]) >= 3,
            what="two rotations",
            timeout=300.0,
        )
    served = installed.pod.served()
    log.info("%s requests, %s certificates, CAs %s", traffic.sent, len(served), trusted)
    assert traffic.failures == []
    assert traffic.sent > 30
    assert len(set(served)) >= 3
    for before, after in pairwise(trusted):
        assert set(before) & set(after), "callers never forget what is still served"
