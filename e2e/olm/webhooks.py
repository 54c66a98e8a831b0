"""A bundle with webhooks of all three kinds, and a server that stands in for its pod.

Without nodes nobody runs the operator and no Service has an address. So its Service is made a
name for loopback, and what the kubelet would do, putting the Secret into the pod, is done here.
The webhook configurations and CRDs stay exactly as the product wrote them.
"""

import base64
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import yaml

from api.objects import KubeObject
from e2e.harness.images import build_image
from e2e.harness.process import ChildProcess
from e2e.harness.registry import Registry
from e2e.olm.api import Api
from e2e.olm.bundles import BundleSpec
from e2e.olm.fbc import PublishedBundle

PROJECT_SECONDS = 0.2
"""The settling of a new certificate has to take longer."""


def publish_webhook_bundle(spec: BundleSpec, port: int, registry: Registry) -> PublishedBundle:
    """Pushes the bundle with webhooks added to it, served on a port of loopback."""
    files = spec.files()
    files["manifests/csv.yaml"] = _changed(
        files["manifests/csv.yaml"], lambda csv: _add_webhooks(csv, spec, port)
    )
    files["manifests/crd.yaml"] = _changed(files["manifests/crd.yaml"], _add_version)
    pushed = registry.push(
        build_image([files]), f"bundles/{spec.package}", tag=f"webhooks-v{spec.version}"
    )
    return spec.as_published(pushed.tag_reference)


def _changed(data: bytes, change: Callable[[KubeObject], None]) -> bytes:
    content = yaml.safe_load(data)
    change(content)
    return yaml.safe_dump(content).encode()


def _add_webhooks(csv: KubeObject, spec: BundleSpec, port: int) -> None:
    rule = {
        "apiGroups": [spec.crd_group],
        "apiVersions": ["v1"],
        "operations": ["CREATE", "UPDATE"],
        "resources": ["things"],
    }
    common = {
        "deploymentName": f"{spec.package}-operator",
        "containerPort": port,
        "targetPort": port,
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    admission = {**common, "failurePolicy": "Fail", "rules": [rule]}
    crd = f"things.{spec.crd_group}"
    csv["spec"]["webhookdefinitions"] = [
        {
            **admission,
            "type": "ValidatingAdmissionWebhook",
            "generateName": f"validate.{spec.crd_group}",
            "webhookPath": "/validate",
        },
        {
            **admission,
            "type": "MutatingAdmissionWebhook",
            "generateName": f"mutate.{spec.crd_group}",
            "webhookPath": "/mutate",
        },
        {
            **common,
            "type": "ConversionWebhook",
            "generateName": f"convert.{spec.crd_group}",
            "webhookPath": "/convert",
            "conversionCRDs": [crd],
        },
    ]
    csv["spec"]["customresourcedefinitions"] = {
        "owned": [{"name": crd, "kind": "Thing", "version": "v1"}]
    }


def _add_version(crd: KubeObject) -> None:
    first = crd["spec"]["versions"][0]
    first["schema"]["openAPIV3Schema"]["properties"]["spec"] = _fields("x")
    second = yaml.safe_load(yaml.safe_dump(first)) | {"name": "v2", "storage": False}
    second["schema"]["openAPIV3Schema"]["properties"]["spec"] = _fields("z")
    crd["spec"]["versions"].append(second)


def _fields(name: str) -> dict[str, Any]:
    text = {"type": "string"}
    return {"type": "object", "properties": {name: text, "mutated": text}}


class WebhookPod:
    """The server, with the Secret's certificate put where it reads it, again and again."""

    def __init__(self, work_dir: Path, api: Api, package: str, port: int) -> None:
        """Describe it; nothing is started yet."""
        work_dir.mkdir(parents=True, exist_ok=True)
        self._pem = work_dir / "serving.pem"
        self._serials = work_dir / "serials.log"
        self._api = api
        self._port = port
        self._service = f"/api/v1/namespaces/{package}/services/{package}-operator-service"
        self.secret_path = f"/api/v1/namespaces/{package}/secrets/{package}-operator-service-cert"
        self._child = ChildProcess(
            "webhooks",
            [sys.executable, "-m", "e2e.olm.webhook_server", str(port), str(self._pem),
             str(self._serials)],
            log=work_dir / "webhooks.log",
        )  # fmt: skip
        self._stopping = threading.Event()
        self._kubelet = threading.Thread(target=self._follow, daemon=True)

    def __enter__(self) -> Self:
        """Start, and let the Service lead here."""
        self._project()
        self._child.start()
        self._kubelet.start()
        self._api.patch(
            self._service,
            {"spec": {"type": "ExternalName", "externalName": "localhost", "clusterIP": None}},
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        self._stopping.set()
        self._kubelet.join(5.0)
        self._child.stop()

    def served(self) -> list[str]:
        """Serial numbers of the certificates it has served with, in order."""
        return self._serials.read_text().split() if self._serials.exists() else []

    def _follow(self) -> None:
        while not self._stopping.wait(PROJECT_SECONDS):
            self._project()

    def _project(self) -> None:
        secret = self._api.get(self.secret_path)
        if secret is None:
            return
        parts = (secret["data"]["tls.crt"], secret["data"]["tls.key"])
        content = b"".join(map(base64.b64decode, parts))
        if self._pem.exists() and self._pem.read_bytes() == content:
            return
        aside = self._pem.with_suffix(".new")
        aside.write_bytes(content)
        aside.rename(self._pem)
