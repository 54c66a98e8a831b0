"""Small registry+v1 bundles made to order, for tests that need a particular one."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from e2e.harness.images import Image, build_image
from e2e.harness.registry import Registry
from e2e.olm.fbc import PublishedBundle

PACKAGE_LABEL = "operators.operatorframework.io.bundle.package.v1"
INSTALL_MODES = ("AllNamespaces", "SingleNamespace", "OwnNamespace", "MultiNamespace")


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleSpec:
    """The content of a bundle for tests: a ConfigMap for each name, a CRD if it has a group.

    `crd_type` is the type of the one field that the CRD has, `modes` are the install modes that the
    bundle supports, `operator` is the operator's image, by default one that nobody can pull, and
    `command` what it runs, by default what the image says.
    """

    package: str
    version: str
    configmaps: Sequence[str] = ("settings",)
    data: Mapping[str, str] = field(default_factory=lambda: {"key": "value"})
    crd_group: str = ""
    crd_type: str = "string"
    csv: bool = True
    modes: Sequence[str] = ("AllNamespaces",)
    operator: str = ""
    command: Sequence[str] = ()

    @property
    def name(self) -> str:
        """The bundle's name, as the catalog has it."""
        return f"{self.package}.v{self.version}"

    def files(self) -> dict[str, bytes]:
        """The files of the bundle by path."""
        annotations = {"annotations": {PACKAGE_LABEL: self.package}}
        files: dict[str, Any] = {"metadata/annotations.yaml": annotations}
        if self.csv:
            files["manifests/csv.yaml"] = self._csv()
        if self.crd_group:
            files["manifests/crd.yaml"] = self._crd()
        for name in self.configmaps:
            files[f"manifests/{name}.yaml"] = {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": f"{self.package}-{name}"},
                "data": dict(self.data),
            }
        return {path: _yaml(content) for path, content in files.items()}

    def image(self) -> Image:
        """The bundle image."""
        return build_image([self.files()], labels={PACKAGE_LABEL: self.package})

    def publish(self, registry: Registry) -> PublishedBundle:
        """Pushes the image; the bundle as a catalog names it."""
        pushed = registry.push(self.image(), f"bundles/{self.package}", tag=f"v{self.version}")
        return self.as_published(pushed.tag_reference)

    def as_published(self, image: str) -> PublishedBundle:
        """The bundle as a catalog names it, with an image that may or may not be there."""
        return PublishedBundle(self.package, self.name, self.version, image)

    def _csv(self) -> dict[str, Any]:
        account = f"{self.package}-operator"
        labels = {"app": self.package}
        image = self.operator or f"registry.example.com/operator:v{self.version}"
        container: dict[str, Any] = {"name": "operator", "image": image}
        if self.command:
            container["command"] = list(self.command)
        deployment = {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"serviceAccountName": account, "containers": [container]},
            },
        }
        rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]}]
        modes = {each: each in self.modes for each in INSTALL_MODES}
        return {
            "apiVersion": "operators.coreos.com/v1alpha1",
            "kind": "ClusterServiceVersion",
            "metadata": {"name": self.name},
            "spec": {
                "displayName": self.package,
                "version": self.version,
                "installModes": [{"type": t, "supported": s} for t, s in modes.items()],
                "install": {
                    "strategy": "deployment",
                    "spec": {
                        "deployments": [{"name": account, "spec": deployment}],
                        "clusterPermissions": [{"serviceAccountName": account, "rules": rules}],
                    },
                },
            },
        }

    def _crd(self) -> dict[str, Any]:
        fields = {"x": {"type": self.crd_type}}
        spec = {"type": "object", "properties": fields}
        schema = {"type": "object", "properties": {"spec": spec}}
        version = {
            "name": "v1",
            "served": True,
            "storage": True,
            "schema": {"openAPIV3Schema": schema},
        }
        return {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"things.{self.crd_group}"},
            "spec": {
                "group": self.crd_group,
                "names": {"kind": "Thing", "plural": "things"},
                "scope": "Namespaced",
                "versions": [version],
            },
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitedBundle(BundleSpec):
    """A bundle that names the last version of OpenShift it works with, in its CSV or next to it."""

    latest: str
    in_csv: bool = True

    def files(self) -> dict[str, bytes]:
        """The files of the bundle by path."""
        files = BundleSpec.files(self)
        properties = [{"type": "olm.maxOpenShiftVersion", "value": self.latest}]
        if self.in_csv:
            csv = yaml.load(files["manifests/csv.yaml"], Loader=yaml.CSafeLoader)
            csv["metadata"]["annotations"] = {"olm.properties": json.dumps(properties)}
            files["manifests/csv.yaml"] = _yaml(csv)
        else:
            files["metadata/properties.yaml"] = _yaml({"properties": properties})
        return files


def _yaml(content: object) -> bytes:
    """As `yaml.safe_dump` has it, in a tenth of its processor time."""
    text: str = yaml.dump(content, Dumper=yaml.CSafeDumper)
    return text.encode()
