"""The content of one Secret: a serving certificate, the CAs to trust, perhaps the next certificate.

A CA signs one certificate and its key is then thrown away, so that there is no CA key to steal.
All state of a rotation is in the Secret, and each step of it is one write:

- `tls.crt`, `tls.key`: what the webhook server serves with.
- `ca.crt`: the CAs that its callers trust, newest first.
- `next.crt`, `next.key`: during a rotation, what it will serve with.
"""

import base64
from dataclasses import dataclass
from datetime import datetime, timedelta

from api.objects import TLS_CERTIFICATE, TLS_PRIVATE_KEY

AUTHORITIES_KEY = "ca.crt"
NEXT_CERTIFICATE_KEY, NEXT_PRIVATE_KEY_KEY = "next.crt", "next.key"

BACKDATE = timedelta(minutes=5)
"""How long before its issue a certificate counts: clocks of a cluster differ a little."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A serving certificate and its key (PEM), and when it was issued and ends."""

    certificate: bytes
    key: bytes
    issued_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Authority:
    """A CA's certificate (PEM) and when it ends."""

    certificate: bytes
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Fresh:
    """A certificate as just issued, and the CA that signed it."""

    pair: Pair
    authority: Authority


@dataclass(frozen=True, slots=True)
class SecretContent:
    """The content of a Secret."""

    current: Pair
    authorities: tuple[Authority, ...]
    next: Pair | None = None

    @property
    def bundle(self) -> bytes:
        """The CAs that callers are to trust (PEM)."""
        return b"".join(authority.certificate for authority in self.authorities)

    def data(self) -> dict[str, str]:
        """`data` of the Secret."""
        plain = {
            TLS_CERTIFICATE: self.current.certificate,
            TLS_PRIVATE_KEY: self.current.key,
            AUTHORITIES_KEY: self.bundle,
        }
        if self.next is not None:
            plain[NEXT_CERTIFICATE_KEY] = self.next.certificate
            plain[NEXT_PRIVATE_KEY_KEY] = self.next.key
        return {key: base64.b64encode(value).decode() for key, value in plain.items()}
