"""What can go wrong between us and a registry, in words a user can act on.

RegistryError
├── UnreachableError     no answer: name, network, time-out, 5xx
│   └── NoTlsError       it speaks plain HTTP
├── UntrustedError       its certificate is signed by a CA we do not know
├── UnauthorizedError    it asks for (other) credentials
└── ImageNotFoundError   it does not have that image
"""

import ssl

import httpx

from olm_runtime.errors import TransientError, bounded
from olm_runtime.http.transport_faults import causes, reason
from olm_runtime.images.reference import ImageRef


class RegistryError(TransientError):
    """A registry did not give us an image."""


class UnreachableError(RegistryError):
    """No usable answer; worth another try at once."""


class NoTlsError(UnreachableError):
    """The registry does not speak TLS on that port."""


class UntrustedError(RegistryError):
    """The registry's certificate cannot be verified."""


class UnauthorizedError(RegistryError):
    """The registry refuses our credentials, or that we have none."""


class ImageNotFoundError(RegistryError):
    """No such repository, tag or digest."""


def from_transport(error: Exception, ref: ImageRef, host: str) -> RegistryError:
    """The error for a request that got no answer."""
    if isinstance(error, httpx.ProxyError):
        return UnreachableError(
            f'image "{ref}": cannot reach registry {host}: {bounded(str(error), 300)}',
            hint="check HTTPS_PROXY and HTTP_PROXY (where they are not set, OpenShift's Proxy "
            "cluster), or name the registry in NO_PROXY",
        )
    behind = causes(error)
    verification = next((c for c in behind if isinstance(c, ssl.SSLCertVerificationError)), None)
    if verification is not None:
        return UntrustedError(
            f'image "{ref}": certificate of registry {host} is not trusted: '
            f"{verification.verify_message}",
            hint="put the certificate of its CA into the folder given with --pull-cas-dir",
        )
    if any("WRONG_VERSION_NUMBER" in str(c) or "record layer" in str(c) for c in behind):
        return NoTlsError(
            f'image "{ref}": registry {host} does not speak TLS',
            hint="serve it over HTTPS, or mark it insecure in registries.conf",
        )
    return UnreachableError(
        f'image "{ref}": cannot reach registry {host}: {reason(error)}',
        hint="check the host name in the reference, and the network between here and there",
    )


def from_answer(
    status: int, ref: ImageRef, host: str, text: str = "", *, after: float = 0.0
) -> RegistryError:
    """The error for an answer that is no success; `after` as it asked."""
    said = f" ({bounded(text, 200)})" if text else ""
    if status in (401, 403):
        return UnauthorizedError(
            f'image "{ref}": registry {host} refuses access{said}',
            hint=f"give credentials for {host} in a pull secret, and check that they may read it",
        )
    if status == 404:
        return ImageNotFoundError(
            f'image "{ref}" not found in registry {host}{said}',
            hint="check the repository and the tag or digest",
        )
    wait = f" and wants to be asked again in {after:.0f} s" if after else ""
    kind = UnreachableError if status >= 500 or status in (408, 429) else RegistryError
    return kind(f'image "{ref}": registry {host} answers {status}{said}{wait}', after=after)
