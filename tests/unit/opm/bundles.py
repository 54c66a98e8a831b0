"""A bundle as files, small and whole, for tests to change."""

from collections.abc import Mapping
from typing import Any

import yaml

CSV: dict[str, Any] = {
    "apiVersion": "operators.coreos.com/v1alpha1",
    "kind": "ClusterServiceVersion",
    "metadata": {"name": "hello.v1.0.0", "annotations": {"capabilities": "Basic"}},
    "spec": {
        "displayName": "Hello",
        "version": "1.0.0",
        "provider": {"name": "Example"},
        "installModes": [{"type": "AllNamespaces", "supported": True}],
        "relatedImages": [{"name": "tool", "image": "example.com/tool:v1"}],
        "customresourcedefinitions": {
            "owned": [{"name": "hellos.example.com", "kind": "Hello", "version": "v1"}],
            "required": [{"name": "others.example.org", "kind": "Other", "version": "v2"}],
        },
        "install": {
            "strategy": "deployment",
            "spec": {
                "deployments": [
                    {
                        "name": "hello",
                        "spec": {
                            "template": {
                                "spec": {
                                    "containers": [{"name": "c", "image": "example.com/hello:v1"}],
                                    "initContainers": [
                                        {"name": "i", "image": "example.com/tool:v1"}
                                    ],
                                }
                            }
                        },
                    }
                ]
            },
        },
    },
}
CRD: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "hellos.example.com"},
    "spec": {
        "group": "example.com",
        "names": {"kind": "Hello", "plural": "hellos"},
        "versions": [{"name": "v1"}],
    },
}
ANNOTATIONS: dict[str, Any] = {
    "annotations": {
        "operators.operatorframework.io.bundle.package.v1": "hello",
        "operators.operatorframework.io.bundle.channels.v1": "stable",
    }
}


def files(changes: Mapping[str, Any] | None = None) -> dict[str, bytes]:
    """The bundle's files; `changes` puts values or bytes in place of them, None removes one."""
    content: dict[str, Any] = {
        "manifests/csv.yaml": CSV,
        "manifests/crd.yaml": CRD,
        "metadata/annotations.yaml": ANNOTATIONS,
        **(changes or {}),
    }
    return {
        path: value if isinstance(value, bytes) else yaml.safe_dump(value).encode()
        for path, value in content.items()
        if value is not None
    }
