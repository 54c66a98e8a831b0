"""The objects that installing a bundle creates."""

from collections.abc import Mapping
from typing import Any

from api.objects import KubeObject
from olm_client.bundle_files import loaded
from olm_client.inline_config import with_watch_namespace
from olm_client.watch_namespace import with_hint
from olm_content.bundle.configuration import ConfigurationError
from olm_content.render.install import InstallRequest, install_objects
from olm_content.render.options import CertificateProvider
from olm_runtime.errors import TerminalError

DEFAULT_PROVIDER = CertificateProvider.SELF
"""What the controller falls back to in a cluster that offers nothing else."""


def rendered(
    *,
    files: Mapping[str, bytes],
    install_namespace: str,
    watch_namespace: str,
    provider: str,
    config: Any,
) -> list[KubeObject]:
    """The objects that installing the bundle would create. Raises OLMError."""
    if provider not in [known.value for known in CertificateProvider]:
        raise TerminalError(f'unknown certificate provider "{provider}"')
    request = InstallRequest(
        install_namespace=install_namespace,
        config=with_watch_namespace(config, watch_namespace),
        certificate_provider=CertificateProvider(provider),
    )
    bundle = loaded(tuple(files.items()))
    try:
        return install_objects(bundle, request)
    except ConfigurationError as error:
        raise with_hint(error, bundle, install_namespace) from error
