"""Who issues webhook certificates in a cluster."""

from collections.abc import Collection

from api.objects import GVK
from olm_content.render.options import CertificateProvider
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import NotFoundError

_SIGNS = (
    (CertificateProvider.CERT_MANAGER, GVK("cert-manager.io", "v1", "Certificate")),
    (
        CertificateProvider.OPENSHIFT_SERVICE_CA,
        GVK("operator.openshift.io", "v1", "ServiceCA"),
    ),
)
"""Which served kind shows that a certificate provider is there; the first one found is taken.

Where there is none, we issue certificates ourselves.
"""


async def certificate_provider_of(
    client: KubeClient,
    used: CertificateProvider | None = None,
    allowed: Collection[CertificateProvider] = tuple(CertificateProvider),
) -> CertificateProvider | None:
    """Who issues webhook certificates in a cluster where nobody is forced; None if nobody may.

    `used` does so already and is preferred. Raises ApiError.
    """
    if used is CertificateProvider.SELF and used in allowed:
        return used
    for provider, kind in sorted(_SIGNS, key=lambda sign: sign[0] is not used):
        if provider not in allowed:
            continue
        try:
            await client.resource(kind)
        except NotFoundError:
            continue
        return provider
    return CertificateProvider.SELF if CertificateProvider.SELF in allowed else None
