"""From a bundle and a user's request to the objects to apply: the one entry for programs.

Flow: what OLM v1 does not support at all, the user's configuration, the renderer.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from api.objects import KubeObject
from olm_content.bundle import configuration
from olm_content.bundle.files import BundleError
from olm_content.bundle.model import InstallMode, RegistryV1
from olm_content.render.options import (
    ALL_FEATURES,
    CertificateProvider,
    Features,
    RenderOptions,
    go_list,
)
from olm_content.render.renderer import render

INSTALLABLE_MODES = (
    InstallMode.ALL_NAMESPACES,
    InstallMode.SINGLE_NAMESPACE,
    InstallMode.OWN_NAMESPACE,
)


class InstallRequest(NamedTuple):
    """What a user asks for: `config` is `spec.config.inline`, None when there is none."""

    install_namespace: str
    config: Any = None
    annotated_watch_namespace: str | None = None
    certificate_provider: CertificateProvider | None = None
    features: Features = ALL_FEATURES


def install_objects(bundle: RegistryV1, request: InstallRequest) -> list[KubeObject]:
    """The objects that installing `bundle` as requested means.

    Raises BundleError for what cannot be installed at all, ConfigurationError for a
    configuration that does not fit, RenderError for a faulty bundle.
    """
    for fault in unsupported(bundle, request.certificate_provider, request.features):
        raise BundleError(f"unsupported bundle: {fault}")
    config = configuration.parse(
        request.config,
        bundle.csv,
        request.install_namespace,
        annotated_watch_namespace=request.annotated_watch_namespace,
        with_deployment_config=request.features.deployment_config,
    )
    watched = config.watch_namespace
    options = RenderOptions(
        install_namespace=request.install_namespace,
        target_namespaces=None if watched is None else (watched,),
        certificate_provider=request.certificate_provider,
        deployment_config=config.deployment_config,
    )
    return render(bundle, options)


def unsupported(
    bundle: RegistryV1,
    provider: CertificateProvider | None,
    features: Features = ALL_FEATURES,
) -> Iterator[str]:
    """What no configuration makes installable."""
    if bundle.csv.owned_api_services:
        yield "apiServiceDefintions are not supported"
    if bundle.csv.webhooks and provider is None:
        yield "webhookDefinitions are not supported"
    everywhere = bundle.csv.supports(InstallMode.ALL_NAMESPACES)
    if not (everywhere or features.single_own_namespace_install_support):
        yield "bundle does not support AllNamespaces install mode"
    if not any(map(bundle.csv.supports, INSTALLABLE_MODES)):
        modes = go_list([mode.value for mode in INSTALLABLE_MODES])
        yield f"bundle must support at least one of {modes} install modes"
