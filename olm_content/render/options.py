"""What a bundle is rendered for: where it lives, what it watches, who issues certificates."""

from enum import StrEnum
from typing import Any, NamedTuple

from olm_content.bundle.model import ClusterServiceVersion, InstallMode
from olm_runtime.errors import TransientError

ALL_NAMESPACES = ""
"""The target namespace that stands for all of them."""


class RenderError(TransientError):
    """The bundle cannot be rendered with these options, or at all."""


class CertificateProvider(StrEnum):
    """Who issues the serving certificates of webhooks."""

    CERT_MANAGER = "cert-manager"
    OPENSHIFT_SERVICE_CA = "openshift-service-ca"
    SELF = "self"


class Features(NamedTuple):
    """What of bundles is supported: upstream's feature gates of these names."""

    single_own_namespace_install_support: bool = True
    deployment_config: bool = True
    webhook_provider_cert_manager: bool = True
    webhook_provider_openshift_service_ca: bool = True

    @property
    def providers(self) -> tuple[CertificateProvider, ...]:
        """Who may be chosen to issue certificates; with both gates closed nobody, as upstream."""
        gated = {
            CertificateProvider.CERT_MANAGER: self.webhook_provider_cert_manager,
            CertificateProvider.OPENSHIFT_SERVICE_CA: self.webhook_provider_openshift_service_ca,
        }
        found = tuple(provider for provider, is_open in gated.items() if is_open)
        return (*found, CertificateProvider.SELF) if found else ()


ALL_FEATURES = Features()


class RenderOptions(NamedTuple):
    """`target_namespaces` None means: what the bundle's install modes suggest."""

    install_namespace: str
    target_namespaces: tuple[str, ...] | None = None
    certificate_provider: CertificateProvider | None = None
    deployment_config: dict[str, Any] | None = None


def default_target_namespaces(csv: ClusterServiceVersion) -> tuple[str, ...]:
    """All namespaces if the operator can watch them all; otherwise somebody has to choose."""
    return (ALL_NAMESPACES,) if csv.supports(InstallMode.ALL_NAMESPACES) else ()


def target_namespaces(csv: ClusterServiceVersion, options: RenderOptions) -> tuple[str, ...]:
    """The namespaces to watch, checked against the install modes. Raises RenderError."""
    chosen = options.target_namespaces
    targets = default_target_namespaces(csv) if chosen is None else chosen
    if fault := _fault(csv, targets, options.install_namespace):
        shown = go_list(targets)
        raise RenderError(f"invalid option(s): invalid target namespaces {shown}: {fault}")
    return targets


def _fault(
    csv: ClusterServiceVersion, targets: tuple[str, ...], install_namespace: str
) -> str | None:
    distinct = set(targets)
    if not distinct:
        several = csv.supports(InstallMode.MULTI_NAMESPACE)
        return f"{'at least' if several else 'exactly'} one target namespace must be specified"
    modes = f"supported install modes {go_list(sorted(csv.install_modes))} do not support"
    if ALL_NAMESPACES in distinct:
        if csv.supports(InstallMode.ALL_NAMESPACES) and len(distinct) == 1:
            return None
        if not csv.supports(InstallMode.ALL_NAMESPACES):
            return f"{modes} targeting all namespaces"
    elif distinct == {install_namespace}:
        if csv.supports(InstallMode.OWN_NAMESPACE):
            return None
        return f"{modes} targeting own namespace"
    elif csv.supports(
        InstallMode.SINGLE_NAMESPACE if len(distinct) == 1 else InstallMode.MULTI_NAMESPACE
    ):
        return None
    return f"{modes} target namespaces {go_list(targets)}"


def go_list(items: list[str] | tuple[str, ...]) -> str:
    """Texts as Go prints a slice of them: `[a b]`."""
    return f"[{' '.join(items)}]"
