"""Who issues webhook certificates in a cluster."""

from collections.abc import Collection
from pathlib import Path
from typing import Any, cast

import pytest

from olm_shared.kube_object import GVK
from olm_shared.runtime.api_errors import NotFoundError
from olm_shared.runtime.credentials import PullSecrets
from olm_shared.runtime.image_store import ImageStore
from olm_shared.runtime.kube import KubeClient
from olm_shared.runtime.registry import PullSettings
from operator_controller.bundle.model import ClusterServiceVersion, RegistryV1, Webhook
from operator_controller.io.bundles import BundleSource
from operator_controller.render.options import CertificateProvider


class Cluster:
    """Serves some groups."""

    def __init__(self, groups: Collection[str]) -> None:
        self._groups = groups

    async def resource(self, gvk: GVK) -> Any:
        if gvk.group not in self._groups:
            raise NotFoundError("no matches for kind", status=404)
        return object()


def source(groups: Collection[str], forced: CertificateProvider | None = None) -> BundleSource:
    images = ImageStore(Path("unused"), PullSettings, jitter=lambda: 0.0)
    secrets = cast("PullSecrets", None)  # nothing is pulled here
    return BundleSource(images, secrets, cast("KubeClient", Cluster(groups)), forced)


HOOK = Webhook("ValidatingAdmissionWebhook", "v.example.com", "op", 443, {})


def bundle(*hooks: Webhook) -> RegistryV1:
    modes = frozenset({"AllNamespaces"})
    csv = ClusterServiceVersion("op.v1", {}, modes, (), (), (), hooks, (), ())
    return RegistryV1("op", csv, (), ())


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ((), CertificateProvider.SELF),
        (("operator.openshift.io",), CertificateProvider.OPENSHIFT_SERVICE_CA),
        (("cert-manager.io",), CertificateProvider.CERT_MANAGER),
        (("cert-manager.io", "operator.openshift.io"), CertificateProvider.CERT_MANAGER),
    ],
)
async def test_what_the_cluster_has_comes_before_our_own(
    groups: Collection[str], expected: CertificateProvider
) -> None:
    assert await source(groups).certificate_provider(bundle(HOOK)) is expected


async def test_the_administrator_decides() -> None:
    forced = source(("cert-manager.io",), CertificateProvider.SELF)
    assert await forced.certificate_provider(bundle(HOOK)) is CertificateProvider.SELF


async def test_the_cluster_is_not_asked_for_a_bundle_without_webhooks() -> None:
    assert await source(("cert-manager.io",)).certificate_provider(bundle()) is None
