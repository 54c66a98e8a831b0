"""Which certificates are wanted, and for how long: what flags say, without what issues them."""

from dataclasses import dataclass
from datetime import timedelta

DEFAULT_LIFETIME = timedelta(days=90)
DEFAULT_SETTLE = timedelta(minutes=5)
"""Longer than an API server takes to see a changed webhook configuration."""


@dataclass(frozen=True, slots=True)
class ServingCertificate:
    """A Secret, the DNS names that its certificate is for, and who trusts its CA.

    webhooks      names of MutatingWebhookConfigurations
    api_services  names of APIServices
    """

    secret: str
    dns_names: tuple[str, ...]
    webhooks: tuple[str, ...] = ()
    api_services: tuple[str, ...] = ()
