"""A small extension as upstream's controller leaves it, by Helm or by its revisions."""

import base64
import gzip
import json
from collections.abc import Sequence
from typing import Any

from api.objects import KubeObject, annotations_of, labels_of, metadata
from api.olm.v1 import names
from e2e.olm.bundles import BundleSpec
from e2e.olm.programs import SYSTEM_NAMESPACE
from olm_content.bundle.reader import load
from olm_content.render.install import InstallRequest, install_objects
from operator_controller.apply.order import into_phases
from operator_controller.apply.pack import pack, sanitised

EXTENSION_UID = "11111111-1111-1111-1111-111111111111"
SET_UID = "22222222-2222-2222-2222-222222222222"


def extension(package: str, version: str) -> KubeObject:
    """The ClusterExtension: no service account, and installed."""
    catalog = {"packageName": package, "version": version}
    meta = {
        "name": package,
        "uid": EXTENSION_UID,
        "finalizers": [
            names.FINALIZER_CLEANUP_UNPACK_CACHE,
            names.FINALIZER_CLEANUP_CONTENT_CACHE,
        ],
    }
    return {
        "apiVersion": names.API_VERSION,
        "kind": names.CLUSTER_EXTENSION,
        "metadata": meta,
        "spec": {"namespace": package, "source": {"sourceType": "Catalog", "catalog": catalog}},
        "status": {"install": {"bundle": {"name": f"{package}.v{version}", "version": version}}},
    }


def by_helm(spec: BundleSpec, image: str) -> tuple[list[KubeObject], list[KubeObject]]:
    """The extension with its release, and the objects of the release."""
    owner = _reference(names.CLUSTER_EXTENSION, spec.package, EXTENSION_UID)
    rendered = [_marked(obj, spec, owner, {}) for obj in _rendered(spec)]
    helm = {
        "meta.helm.sh/release-name": spec.package,
        "meta.helm.sh/release-namespace": spec.package,
    }
    applied = [_marked(obj, spec, owner, helm, managed_by="Helm") for obj in rendered]
    release = _release(spec, image, rendered, owner)
    return [extension(spec.package, spec.version), release], _with_uids(applied)


def by_revisions(spec: BundleSpec, image: str) -> tuple[list[KubeObject], list[KubeObject]]:
    """The extension with its ClusterObjectSet and content, and the objects of the revision."""
    notes = {
        names.ANNOTATION_BUNDLE_VERSION: spec.version,
        names.ANNOTATION_PACKAGE_NAME: spec.package,
    }
    stored = [_marked(obj, spec, None, notes) for obj in _rendered(spec)]
    name = f"{spec.package}-1"
    packed = pack(name, spec.package, SYSTEM_NAMESPACE, into_phases(stored))
    owner = _reference(names.CLUSTER_OBJECT_SET, name, SET_UID)
    secrets = [
        {
            **secret,
            "metadata": {**metadata(secret), "uid": f"secret-{n}", "ownerReferences": [owner]},
        }
        for n, secret in enumerate(packed.secrets)
    ]
    revision = {
        "apiVersion": names.API_VERSION,
        "kind": names.CLUSTER_OBJECT_SET,
        "metadata": {
            "name": name,
            "uid": SET_UID,
            "finalizers": [names.FINALIZER_TEARDOWN],
            "labels": _labels(spec),
            "annotations": _bundle_notes(spec, image),
            "ownerReferences": [_reference(names.CLUSTER_EXTENSION, spec.package, EXTENSION_UID)],
        },
        "spec": {
            "lifecycleState": "Active",
            "revision": 1,
            "collisionProtection": "Prevent",
            "phases": list(packed.phases),
        },
        "status": {"conditions": [_succeeded()]},
    }
    applied = [
        _marked(obj, spec, owner, {names.ANNOTATION_REVISION: "1"}, managed_by=names.FIELD_MANAGER)
        for obj in stored
    ]
    return [extension(spec.package, spec.version), revision, *secrets], _with_uids(applied)


def _rendered(spec: BundleSpec) -> list[KubeObject]:
    request = InstallRequest(install_namespace=spec.package)
    return [sanitised(obj) for obj in install_objects(load(spec.files()), request)]


def _marked(
    obj: KubeObject,
    spec: BundleSpec,
    owner: dict[str, Any] | None,
    notes: dict[str, str],
    *,
    managed_by: str = "",
) -> KubeObject:
    labels = {**labels_of(obj), **_labels(spec)}
    if managed_by:
        labels[names.LABEL_MANAGED_BY] = managed_by
    annotations = {**annotations_of(obj), **notes}
    meta = {**metadata(obj), "labels": labels}
    meta |= {"annotations": annotations} if annotations else {}
    meta |= {"ownerReferences": [owner]} if owner else {}
    return {**obj, "metadata": meta}


def _labels(spec: BundleSpec) -> dict[str, str]:
    return {
        names.LABEL_OWNER_KIND: names.CLUSTER_EXTENSION,
        names.LABEL_OWNER_NAME: spec.package,
    }


def _bundle_notes(spec: BundleSpec, image: str) -> dict[str, str]:
    return {
        names.ANNOTATION_BUNDLE_NAME: spec.name,
        names.ANNOTATION_BUNDLE_VERSION: spec.version,
        names.ANNOTATION_BUNDLE_REFERENCE: image,
        names.ANNOTATION_PACKAGE_NAME: spec.package,
    }


def _release(
    spec: BundleSpec, image: str, objects: Sequence[KubeObject], owner: dict[str, Any]
) -> KubeObject:
    name = f"sh.helm.release.v1.{spec.package}.v1"
    release = {
        "name": spec.package,
        "info": {"status": "deployed"},
        "manifest": "\n".join(map(json.dumps, objects)),
        "version": 1,
        "namespace": spec.package,
        "labels": _bundle_notes(spec, image),
    }
    chunk = base64.b64encode(gzip.compress(json.dumps(release).encode())).decode()
    labels = {
        "name": spec.package,
        "owner": "operator-controller",
        "status": "deployed",
        "version": "1",
        "key": name,
        "type": "index",
    }
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "operatorframework.io/index.v1",
        "immutable": False,
        "metadata": {
            "name": name,
            "namespace": SYSTEM_NAMESPACE,
            "uid": "release",
            "labels": labels,
            "ownerReferences": [owner],
        },
        "data": {"chunk": chunk, "extraChunks": base64.b64encode(b"[]").decode()},
    }


def _reference(kind: str, name: str, uid: str) -> dict[str, Any]:
    return {
        "apiVersion": names.API_VERSION,
        "kind": kind,
        "name": name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _succeeded() -> dict[str, Any]:
    return {
        "type": "Succeeded",
        "status": "True",
        "reason": "Succeeded",
        "message": "Revision succeeded rolling out.",
        "observedGeneration": 1,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }


def _with_uids(objects: Sequence[KubeObject]) -> list[KubeObject]:
    return [
        {**obj, "metadata": {**metadata(obj), "uid": f"object-{n}"}}
        for n, obj in enumerate(objects)
    ]
