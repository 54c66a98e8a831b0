"""What hangs for good delays only those who need it: registries, webhooks."""

import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from api.objects import condition
from e2e.harness.controlplane import wait_until
from e2e.harness.images import catalog_image
from e2e.olm.api import Api, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.fbc import catalog_files, package_blobs
from e2e.olm.manifests import extension, installer, namespace
from e2e.olm.programs import HOST, Olm

pytestmark = pytest.mark.integration

HANGING = 20
"""Of each sort; more than twice the slots of a queue."""
PROMPT_SECONDS = 60.0
"""Less than a pull is given before it counts as failed. A webhook that never shakes hands is given
ten seconds by the API server, again and again."""


class Silence:
    """A server that accepts connections and never says anything."""

    def __init__(self) -> None:
        self._listening = socket.create_server((HOST, 0), backlog=256)
        self._accepted: list[socket.socket] = []
        self.port = int(self._listening.getsockname()[1])
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def _accept(self) -> None:
        while True:
            try:
                self._accepted.append(self._listening.accept()[0])
            except OSError:
                return

    @property
    def callers(self) -> int:
        return len(self._accepted)

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)  # closing alone would leave it accepting
        self._thread.join()
        for each in (self._listening, *self._accepted):
            each.close()


@pytest.fixture
def silence() -> Iterator[Silence]:
    silence = Silence()
    yield silence
    silence.close()


def hanging_webhook(name: str, port: int) -> str:
    """Asked about ConfigMaps in the namespaces that are labelled with its name; never answers."""
    return f"""
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {{name: {name}}}
webhooks:
- name: hangs.example.com
  clientConfig: {{url: "https://{HOST}:{port}/"}}
  namespaceSelector: {{matchLabels: {{hangs: {name}}}}}
  rules:
  - {{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE, UPDATE]}}
  failurePolicy: Fail
  sideEffects: None
  admissionReviewVersions: [v1]
  timeoutSeconds: 30
"""


def test_a_healthy_extension_is_installed_while_forty_hang(
    olm: Olm,
    api: Api,
    package: str,
    silence: Silence,
    serve_catalog: Callable[[str, str], None],
) -> None:
    pulls = [f"{package}-pull-{i}" for i in range(HANGING)]
    hooks = [f"{package}-hook-{i}" for i in range(HANGING)]
    bundles = {p: BundleSpec(package=p, version="1.0.0") for p in (*pulls, *hooks, package)}
    published = [
        spec.as_published(f"{HOST}:{silence.port}/bundles/{p}:v1")
        if p in pulls
        else spec.publish(olm.registry)
        for p, spec in bundles.items()
    ]
    image = catalog_image(catalog_files(package_blobs([each]) for each in published))
    pushed = olm.registry.push(image, f"catalogs/{package}", tag="latest")
    serve_catalog(package, pushed.tag_reference)

    kubectl = olm.control_plane.kubectl
    places = "---".join(namespace(p) + "---" + installer(p) for p in bundles)
    olm.control_plane.apply(places)
    olm.control_plane.apply(hanging_webhook(package, silence.port))
    kubectl("label", "namespace", *hooks, f"hangs={package}")
    try:
        wishes = [extension(p, "1.0.0", catalog=package) for p in (*pulls, *hooks)]
        olm.control_plane.apply("---".join(wishes))
        wait_until(lambda: silence.callers >= 2 * HANGING, what="that many wait for an answer")
        olm.control_plane.apply(extension(package, "1.0.0", catalog=package))
        api.wait_installed(package, "1.0.0", timeout=PROMPT_SECONDS)
        assert silence.callers >= HANGING
        for name in (*pulls, *hooks):
            found = condition(api.get(extension_path(name)) or {}, "Installed")
            assert found is None or found["status"] != "True", name
    finally:
        kubectl("delete", "validatingwebhookconfiguration", package)
        for name in bundles:
            api.delete(extension_path(name))
