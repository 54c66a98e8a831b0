"""What decides which objects an extension's bundle renders to, and a digest of all of it."""

import hashlib

import orjson

from api.olm.v1 import names
from api.olm.v1.clusterextension import ClusterExtension
from olm_content.render.install import InstallRequest
from olm_content.render.options import ALL_FEATURES, CertificateProvider, Features
from operator_controller.apply.revisions import BundleIdentity

RENDERER_VERSION = 3
"""Raised when equal inputs render to other objects than before, so that they render anew."""


def install_request(
    extension: ClusterExtension,
    provider: CertificateProvider | None,
    features: Features = ALL_FEATURES,
) -> InstallRequest:
    """What the user of an extension asks the renderer for, and the provider to use if any."""
    spec = extension.spec
    watched = extension.metadata.annotations.get(names.ANNOTATION_WATCH_NAMESPACE)
    return InstallRequest(
        install_namespace=spec.namespace,
        config=spec.config.inline if spec.config else None,
        annotated_watch_namespace=watched or None,
        certificate_provider=provider,
        features=features,
    )


def inputs_digest(bundle: BundleIdentity, request: InstallRequest, account: str) -> str:
    """Equal digests mean equal objects, applied as the same service account."""
    asked = request._asdict() | {"features": request.features._asdict()}
    inputs = [RENDERER_VERSION, bundle._asdict(), asked, account]
    return hashlib.sha256(orjson.dumps(inputs, option=orjson.OPT_SORT_KEYS)).hexdigest()
