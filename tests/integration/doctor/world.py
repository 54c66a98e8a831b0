"""A doctor, and objects that lock each other up."""

import base64
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
from click.testing import CliRunner

from api.objects import KubeObject
from e2e.harness.controlplane import ControlPlane
from olm_cli.__main__ import cli
from olm_runtime.kube.discovery import parse_groups
from olm_runtime.kube.media_types import GROUP_DISCOVERY


class Doctor:
    """Runs `olm doctor` as a user of its own, so that what it asked is in the audit log."""

    def __init__(self, control_plane: ControlPlane, folder: Path) -> None:
        self.control_plane = control_plane
        self.kubeconfig = control_plane.kubeconfig_for("doctor", ["system:masters"])
        kubectl = " ".join(map(shlex.quote, control_plane.binaries.kubectl.argv))
        wrapper = folder / "kubectl"
        wrapper.write_text(f'#!/bin/sh\nexec {kubectl} "$@"\n')
        wrapper.chmod(0o755)
        self.environment = {
            "HOME": str(folder),
            "KUBECONFIG": str(control_plane.kubeconfig),
            "PATH": f"{folder}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        }
        self.arguments: list[str] = []

    def __call__(self, *arguments: str, kubeconfig: Path | None = None) -> tuple[int, Any]:
        """The exit code and the answer as data."""
        # Not by --kubeconfig: the commands that are printed would have it, too.
        done = CliRunner(env={"KUBECONFIG": str(kubeconfig or self.kubeconfig)}).invoke(
            cli, ["doctor", *self.arguments, *arguments, "-o", "json"]
        )
        return done.exit_code, json.loads(done.stdout)

    def finds(self, check: str, severity: str, text: str) -> dict[str, Any]:
        """The finding of a check with a text in it; the cluster is the same before and after.

        Controllers may still be at what the test did: then it is looked at again. That nothing was
        written, the last file asks the audit log.
        """
        for _ in range(TRIES):
            before = dump(self.control_plane)
            code, report = self("--check", check)
            after = dump(self.control_plane)
            if after == before:
                break
        assert after == before
        found = [
            f for f in report["findings"] if f["severity"] == severity and text in f["message"]
        ]
        assert found, json.dumps(report, indent=2)
        assert code == (1 if severity == "error" else code)
        assert found[0]["check"] == check
        result: dict[str, Any] = found[0]
        return result

    def is_content(self, check: str, text: str = "") -> bool:
        """Whether a check finds no error, or none with a text in it, any more."""
        _, report = self("--check", check)
        bad = [f for f in report["findings"] if f["severity"] in ("error", "unknown")]
        return not [f for f in bad if text in f["message"] + f["why"]]

    def follow(self, finding: dict[str, Any], effect: str) -> None:
        """Runs the commands of the remedy with this effect, as a person pastes them."""
        [remedy] = [each for each in finding["remedies"] if effect in each["effect"]]
        for command in remedy["commands"]:
            subprocess.run(
                ["bash", "-c", command],
                env=self.environment,
                check=True,
                capture_output=True,
                text=True,
                timeout=60,
            )


TRIES = 5
MOST = 10_000
"""Objects of a kind; there are fewer."""
UNSTABLE = ("leases", "events", "componentstatuses")


def dump(control_plane: ControlPlane) -> dict[tuple[str, ...], Any]:
    """All objects that can be read, without what changes from second to second by itself."""
    found: dict[tuple[str, ...], Any] = {}
    with control_plane.client() as http:
        groups = [http.get(root, headers={"Accept": GROUP_DISCOVERY}) for root in ("/api", "/apis")]
        served = [each for answer in groups for each in parse_groups(answer.json())]
        for resource, verbs in served:
            if "list" in verbs and resource.plural not in UNSTABLE:
                for obj in items(http, resource.path()):
                    meta = obj["metadata"]
                    found[resource.plural, meta.get("namespace"), meta["name"]] = stable(obj)
    return found


def items(http: httpx.Client, path: str) -> list[KubeObject]:
    """None where a conversion webhook does not answer.

    With a limit the API server reads what is stored. The cache that it asks else cannot be filled
    then, for which it answers 429, and our client would try again for a minute.
    """
    try:
        listed = http.get(path, params={"limit": MOST}, timeout=2.0)
    except httpx.TimeoutException:
        return []
    found: list[KubeObject] = listed.json().get("items") or [] if listed.is_success else []
    return found


def stable(obj: KubeObject) -> KubeObject:
    changing = ("resourceVersion", "managedFields")
    metadata = {key: value for key, value in obj["metadata"].items() if key not in changing}
    rest = {key: value for key, value in obj.items() if key != "status"}
    return {**rest, "metadata": metadata}


def is_leaving(obj: KubeObject | None) -> bool:
    return obj is not None and "deletionTimestamp" in obj["metadata"]


def thing(group: str, namespace: str, name: str) -> str:
    return f"""
apiVersion: {group}.example.com/v1
kind: Thing
metadata: {{name: {name}, namespace: {namespace}, finalizers: [example.com/cleanup]}}
"""


def definition(
    group: str, *, labels: dict[str, str] | None = None, storage: str = "v1", **spec: Any
) -> KubeObject:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [
        {"name": each, "served": True, "storage": each == storage, "schema": schema}
        for each in ("v1", "v2")
    ]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"things.{group}.example.com", "labels": labels or {}},
        "spec": {
            "group": f"{group}.example.com",
            "names": {"kind": "Thing", "plural": "things", "singular": "thing"},
            "scope": "Namespaced",
            "versions": versions,
            **spec,
        },
    }


def webhook(kind: str, namespace: str, authority: bytes = b"") -> KubeObject:
    service = {"name": "guard", "namespace": namespace, "path": "/"}
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"]}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{kind}WebhookConfiguration",
        "metadata": {"name": f"guard-{namespace}"},
        "webhooks": [
            {
                "name": f"guard.{namespace}.example.com",
                "clientConfig": {
                    "service": service,
                    **({"caBundle": base64.b64encode(authority).decode()} if authority else {}),
                },
                "rules": [{**rule, "resources": ["pods"]}],
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                "failurePolicy": "Fail",
                "sideEffects": "None",
                "timeoutSeconds": 1,
                "admissionReviewVersions": ["v1"],
            }
        ],
    }


WORKLOAD = """
apiVersion: v1
kind: Service
metadata: {{name: guard, namespace: {namespace}}}
spec: {{selector: {{app: guard}}, ports: [{{port: 443}}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: guard, namespace: {namespace}}}
spec:
  selector: {{matchLabels: {{app: guard}}}}
  template:
    metadata: {{labels: {{app: guard}}}}
    spec:
      containers: [{{name: guard, image: registry.example.com/guard}}]
      volumes: [{{name: serving, secret: {{secretName: {secret}}}}}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: guard-1
  namespace: {namespace}
  labels: {{kubernetes.io/service-name: guard}}
addressType: IPv4
ports: [{{port: 443}}]
endpoints: [{{addresses: [10.1.2.3], conditions: {{ready: false}}}}]
"""


def secret(name: str, namespace: str, files: dict[str, bytes]) -> KubeObject:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": namespace},
        "data": {key: base64.b64encode(data).decode() for key, data in files.items()},
    }


def program(name: str, namespace: str, flag: str = "x=y", secret: str = "none") -> str:
    return f"""
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}-controller-manager, namespace: {namespace}}}
spec:
  replicas: 0
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      containers:
        - name: manager
          image: registry.example.com/olm:v1
          args: [--{flag}]
          volumeMounts: [{{name: certs, mountPath: /c}}]
      volumes: [{{name: certs, secret: {{secretName: {secret}}}}}]
"""
