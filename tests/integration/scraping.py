"""Reads the metrics of operator-controller."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx

from e2e.harness.client import PATIENCE_SECONDS
from e2e.olm.manifests import granted, service_account
from e2e.olm.programs import SYSTEM_NAMESPACE, Olm

ACCOUNT = "controller-metrics-scraper"


@dataclass(frozen=True)
class Scraper:
    """Asks a program for its metrics that was started with `flags`."""

    olm: Olm
    port: int

    @property
    def flags(self) -> list[str]:
        pair = self.olm.work_dir / "pki" / "catalogd"
        return [
            f"--metrics-bind-address=127.0.0.1:{self.port}",
            f"--tls-cert={pair}.crt",
            f"--tls-key={pair}.key",
        ]

    def scrape(self, token: str) -> httpx.Response:
        context = ssl.create_default_context(cafile=str(self.olm.catalogs_ca))
        return httpx.get(
            f"https://127.0.0.1:{self.port}/metrics",
            headers={"Authorization": f"Bearer {token}"} if token else {},
            verify=context,
            trust_env=False,
            timeout=PATIENCE_SECONDS,
        )


@contextmanager
def account(olm: Olm) -> Iterator[str]:
    """A token, for a day, of an account that may read nothing yet."""
    made = service_account(SYSTEM_NAMESPACE, ACCOUNT)
    olm.control_plane.apply(made)
    yield olm.control_plane.token(SYSTEM_NAMESPACE, ACCOUNT)
    olm.control_plane.delete(made)


@contextmanager
def may_read_metrics(olm: Olm) -> Iterator[None]:
    """Grants the account the right to read metrics."""
    made = granted(SYSTEM_NAMESPACE, ACCOUNT, "operator-controller-metrics-reader")
    olm.control_plane.apply(made)
    yield
    olm.control_plane.delete(made)
