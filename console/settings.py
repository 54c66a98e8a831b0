"""How the console is asked to run."""

from dataclasses import dataclass

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; "
        "img-src 'self' data:; connect-src 'self'; worker-src 'self'; form-action 'self'; "
        "frame-ancestors 'none'; base-uri 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Of every answer."""

SANDBOXED = {
    "Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'",
    "X-Content-Type-Options": "nosniff",
}
"""Of answers whose content is a catalog's: nothing in it runs, or loads anything."""

OPEN = frozenset({"/enter", "/sign-in", "/sign-in/provider", "/sign-in/callback", "/healthz"})
"""Paths for those who have not signed in, besides those of static files."""
STATIC = "/static/"


def is_open(path: str) -> bool:
    """Whether a path is for those, too, who have not signed in."""
    return path in OPEN or path.startswith(STATIC)


@dataclass(frozen=True, slots=True)
class Place:
    """Where browsers reach the console.

    hosts    what a request's Host may be: any other is somebody's name for our address
    secure   whether they reach it over TLS
    cookie   name of the cookie of a session; ports of a host share their cookies
    sign_in  path of the page to sign in; empty where there is none
    """

    hosts: frozenset[str]
    secure: bool
    cookie: str
    sign_in: str = ""

    @property
    def origins(self) -> frozenset[str]:
        """What a request's Origin may be."""
        scheme = "https" if self.secure else "http"
        return frozenset(f"{scheme}://{host}" for host in self.hosts)
