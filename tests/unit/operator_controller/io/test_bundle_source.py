"""Who issues webhook certificates in a cluster."""

from collections.abc import Collection
from pathlib import Path
from typing import Any, cast

import pytest

from api.objects import GVK, KubeObject
from olm_content.bundle.model import ClusterServiceVersion, DeploymentTemplate, RegistryV1, Webhook
from olm_content.render.certificates import CERT_MANAGER_INJECT
from olm_content.render.install import InstallRequest
from olm_content.render.options import ALL_FEATURES, CertificateProvider, Features, RenderOptions
from olm_content.render.renderer import render
from olm_runtime.errors import TransientError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import NotFoundError
from olm_runtime.registry.image_store import ImageStore
from olm_runtime.registry.settings import PullSettings
from operator_controller.apply.revisions import BundleIdentity
from operator_controller.io.bundles import BundleSource, Installed
from tests.fuzz.evil import Evil, reply


class Cluster:
    """Serves some groups."""

    def __init__(self, groups: Collection[str]) -> None:
        self._groups = groups

    async def resource(self, gvk: GVK) -> Any:
        if gvk.group not in self._groups:
            raise NotFoundError("no matches for kind", status=404)
        return object()


async def refresh() -> None:
    """Nothing is pulled here."""


def source(
    groups: Collection[str],
    forced: CertificateProvider | None = None,
    features: Features = ALL_FEATURES,
) -> BundleSource:
    images = ImageStore(Path("unused"), PullSettings, jitter=lambda: 0.0)
    return BundleSource(images, refresh, cast("KubeClient", Cluster(groups)), forced, features)


CRD_NAME = "things.example.com"
CRD: KubeObject = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    # What an author's tools leave there says nothing about who serves the webhooks.
    "metadata": {"name": CRD_NAME, "annotations": {CERT_MANAGER_INJECT: "system/serving"}},
    "spec": {"group": "example.com"},
}
HOOK = Webhook("ValidatingAdmissionWebhook", "v.example.com", "op", 443, {})


def bundle(*hooks: Webhook) -> RegistryV1:
    modes = frozenset({"AllNamespaces"})
    deployments = (DeploymentTemplate("op", {}, {"selector": {}, "template": {}}),)
    csv = ClusterServiceVersion("op.v1", {}, modes, deployments, (), (), hooks, (CRD_NAME,), ())
    return RegistryV1("op", csv, (CRD,), ())


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


NO_CERT_MANAGER = Features(webhook_provider_cert_manager=False)
NEITHER = Features(webhook_provider_cert_manager=False, webhook_provider_openshift_service_ca=False)


@pytest.mark.parametrize(
    ("features", "groups", "forced", "expected"),
    [
        (NO_CERT_MANAGER, ("cert-manager.io",), None, CertificateProvider.SELF),
        (NEITHER, ("cert-manager.io",), None, None),
        (NEITHER, (), CertificateProvider.SELF, CertificateProvider.SELF),
    ],
)
async def test_who_is_shut_out_by_a_gate_issues_nothing(
    features: Features,
    groups: Collection[str],
    forced: CertificateProvider | None,
    expected: CertificateProvider | None,
) -> None:
    chosen = source(groups, forced, features).certificate_provider(bundle(HOOK))
    assert await chosen is expected


def read(objects: list[KubeObject]) -> Installed:
    async def installed() -> list[KubeObject]:
        return objects

    return installed


BOTH = ("cert-manager.io", "operator.openshift.io")


@pytest.mark.parametrize(
    ("before", "groups", "expected"),
    [
        (CertificateProvider.SELF, BOTH, CertificateProvider.SELF),
        (CertificateProvider.OPENSHIFT_SERVICE_CA, BOTH, CertificateProvider.OPENSHIFT_SERVICE_CA),
        (CertificateProvider.CERT_MANAGER, BOTH, CertificateProvider.CERT_MANAGER),
        (CertificateProvider.CERT_MANAGER, (), CertificateProvider.SELF),
        (
            CertificateProvider.CERT_MANAGER,
            ("operator.openshift.io",),
            CertificateProvider.OPENSHIFT_SERVICE_CA,
        ),
    ],
)
@pytest.mark.parametrize("kind", ["ValidatingAdmissionWebhook", "ConversionWebhook"])
async def test_what_is_installed_keeps_its_provider_while_it_is_there(
    before: CertificateProvider,
    groups: Collection[str],
    expected: CertificateProvider,
    kind: str,
) -> None:
    hook = HOOK._replace(type=kind, fields={"conversionCRDs": [CRD_NAME]})
    found = bundle(hook)
    options = RenderOptions(install_namespace="ns", certificate_provider=before)
    installed = render(found, options)
    assert await source(groups).certificate_provider(found, read(installed)) is expected


async def test_what_had_no_webhooks_had_no_provider() -> None:
    installed = render(bundle(), RenderOptions(install_namespace="ns"))
    found = await source(BOTH).certificate_provider(bundle(HOOK), read(installed))
    assert found is CertificateProvider.CERT_MANAGER


async def test_the_administrator_decides() -> None:
    forced = source(("cert-manager.io",), CertificateProvider.SELF)
    assert await forced.certificate_provider(bundle(HOOK)) is CertificateProvider.SELF


async def test_the_cluster_is_not_asked_for_a_bundle_without_webhooks() -> None:
    assert await source(("cert-manager.io",)).certificate_provider(bundle()) is None


async def test_a_registry_that_wants_to_be_left_alone_is(tmp_path: Path) -> None:
    answer = reply(b"", "Retry-After: 600", status="429 Too Many Requests")
    async with Evil({"/v2/": answer}) as registry:
        settings = PullSettings(plain_http=frozenset({registry.address}))
        images = ImageStore(tmp_path, lambda: settings, jitter=lambda: 0.0)
        bundles = BundleSource(images, refresh, cast("KubeClient", Cluster(())), None, ALL_FEATURES)
        identity = BundleIdentity("op.v1", "1.0.0", "op", f"{registry.address}/op:v1")
        with pytest.raises(TransientError, match="answers 429") as caught:
            await bundles.render("ext", identity, cast("InstallRequest", None))
    assert caught.value.after == 600
