"""Where an API server is and how to prove who asks: what every client of it is given."""

import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from olm_runtime.chain_file import chain_file
from olm_runtime.errors import TerminalError
from olm_runtime.kube.errors import ApiError
from olm_runtime.kube.overrides import Headers


class ClusterAccess(NamedTuple):
    """Where the API server is and how to prove who we are.

    `server` has no trailing slash. `authorization` gives the header of that name as it is now, for
    tokens are renewed; it raises ApiError when there is none to be had. `proxy` is the one to go
    through, `authority` has the CAs (PEM; None for those of the system), `certificate` the client's
    chain and key (PEM). With `expected_name` the server's certificate is to be of that name,
    whatever the address is. `impersonation` are the headers that make us somebody else;
    `request_seconds` bounds each request: None as usual, 0 not at all.
    """

    server: str
    authorization: Callable[[], str | None] = lambda: None
    proxy: str | None = None
    authority: str | None = None
    certificate: bytes | None = None
    expected_name: str | None = None
    verify: bool = True
    impersonation: Headers = ()
    request_seconds: float | None = None

    def headers(self) -> list[tuple[str, str]]:
        """The headers that say who asks, as they are now. Raises ApiError as `authorization`."""
        authorization = self.authorization()
        own = [("Authorization", authorization)] if authorization else []
        return [*own, *self.impersonation]

    def tls(self) -> ssl.SSLContext:
        """The TLS context: the cluster's CA and, if there is one, the client certificate.

        Raises TerminalError for what is no certificate or no key.
        """
        context = _Context(ssl.PROTOCOL_TLS_CLIENT)
        context.expected_name = self.expected_name
        try:
            self._load(context)
        except (ssl.SSLError, ValueError) as error:
            raise unreadable(f"a certificate or key in it is none: {error}") from error
        if not self.verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context

    def _load(self, context: ssl.SSLContext) -> None:
        if self.authority is None:
            context.load_default_certs()
        else:
            context.load_verify_locations(cadata=self.authority)
        if self.certificate is not None:
            with chain_file(self.certificate) as chain:
                context.load_cert_chain(chain)


class _Context(ssl.SSLContext):
    """Asks for a name of its own in place of the host's, in all clients alike."""

    expected_name: str | None = None

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> ssl.SSLObject:
        name = _quick(self.expected_name or server_hostname)
        return super().wrap_bio(incoming, outgoing, server_side, name, session)

    def wrap_socket(self, *args: Any, **kwargs: Any) -> ssl.SSLSocket:
        name = _quick(self.expected_name or kwargs.get("server_hostname"))
        return super().wrap_socket(*args, **(kwargs | {"server_hostname": name}))


def _quick(name: str | bytes | None) -> str | bytes | None:
    """As bytes if it can be: for text Python imports the tables of IDNA."""
    return name.encode() if isinstance(name, str) and name.isascii() else name


def unreadable(problem: object, *, hint: str = "") -> TerminalError:
    """The error for a configuration that cannot be read."""
    return TerminalError(
        f"cannot read the cluster configuration: {problem}",
        hint=hint or "give --kubeconfig FILE, or run in a pod with a service account",
    )


def token_of(file: Path) -> str:
    """The Authorization header of a token file: it is renewed at any time.

    Raises ApiError when it cannot be read.
    """
    try:
        return f"Bearer {file.read_text().strip()}"
    except OSError as error:
        raise ApiError(f"cannot read the token file {file}: {error.strerror or error}") from error
