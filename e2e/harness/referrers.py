"""A real registry for tests that lists what refers to an image (e2e/referrers)."""

from e2e.harness.binaries import Executable, referrers_binary
from e2e.harness.push import RegistryClient
from e2e.harness.tls_server import TlsServer


class ReferrersRegistry(TlsServer):
    """One of them, for everybody."""

    name, host, ready = "referrers", "127.0.0.1", "/v2/"

    @property
    def address(self) -> str:
        """HOST:PORT, as image references begin."""
        return f"{self.host}:{self.port}"

    def program(self) -> Executable:
        """Built from e2e/referrers."""
        return referrers_binary()

    def client(self) -> RegistryClient:
        """A client that trusts it."""
        return RegistryClient(self.url, ca_file=self.ca_file)
