"""Start-up of the console in a cluster."""

import asyncio
from collections.abc import Sequence
from typing import Any, cast

from fastapi import APIRouter
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from console.app import console_app
from console.attempts import Attempts
from console.flags import NAME, OidcSettings, Settings, parse_settings
from console.identities import IdentitySessions
from console.settings import Place
from console.signing_in import SIGN_IN, SignIn, TokenReach, sign_in_routes
from olm_runtime.errors import TerminalError
from olm_runtime.http.asgi import Asgi
from olm_runtime.http.health import serve_health
from olm_runtime.http.server import listen
from olm_runtime.http.server import serve as serve_http
from olm_runtime.http.tls import ServerTls
from olm_runtime.logs import configure_logging
from olm_runtime.memory import keep_small, share_one_arena
from olm_runtime.program import run
from olm_runtime.tracing import start_tracing

COOKIE = "__Host-olm-console"
"""Browsers take a cookie of such a name over TLS only, for this host alone."""
TIDY_SECONDS = 30.0


def main(settings: Settings) -> None:
    """The console script `console`."""
    share_one_arena()
    configure_logging(settings.log_level, settings.log_format)
    if settings.tracing:
        start_tracing(NAME)
    run(lambda: serve(settings))


async def serve(settings: Settings) -> None:
    """Runs until cancelled. Raises TerminalError for files that cannot be read."""
    tls = ServerTls(settings.tls_cert, settings.tls_key, settings.tls_profile)
    place = Place(settings.hosts, secure=True, cookie=COOKIE, sign_in=SIGN_IN)
    sessions = IdentitySessions()
    issuer = settings.oidc.issuer if settings.oidc else ""
    how = SignIn(place, sessions, _reach(settings), settings.cas_dir, Attempts(), issuer)
    app = behind(settings.proxies, console_app(place, sessions, _sign_in(how, settings.oidc)))
    listener = listen(settings.address)
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(tls.follow())
            group.create_task(serve_http(app, listener, tls.context, sessions.stop))
            group.create_task(serve_health(settings.health_address, alive={}, ready={}))
            group.create_task(_tidy(sessions))
            group.create_task(keep_small())
    finally:
        await sessions.close()


def behind(proxies: Sequence[str], app: Asgi) -> Asgi:
    """The application, for which who asks is who asked the proxies that are trusted."""
    if not proxies:
        return app
    # Attempts are counted by addresses; those of others than the proxies anybody may make up.
    return cast("Asgi", ProxyHeadersMiddleware(cast("Any", app), list(proxies)))


def _sign_in(how: SignIn, oidc: OidcSettings | None) -> APIRouter:
    router = sign_in_routes(how)
    if oidc is not None:
        # Libraries that nobody else needs.
        from console.provider import Provider
        from console.provider_sign_in import Waiting, provider_routes

        provider = Provider(oidc.issuer, oidc.client, oidc.secret_file, oidc.ca_file, oidc.scopes)
        router.include_router(provider_routes(how, provider, Waiting()))
    return router


def _reach(settings: Settings) -> TokenReach:
    try:
        authority = settings.authority.read_text() if settings.authority else None
    except (OSError, UnicodeDecodeError) as error:
        raise TerminalError(
            f"cannot read the CAs of the API server, {settings.authority}: {error}",
            hint="give a PEM file with --certificate-authority",
        ) from error
    return TokenReach(server=settings.server, authority=authority)


async def _tidy(sessions: IdentitySessions) -> None:
    while True:
        await asyncio.sleep(TIDY_SECONDS)
        await sessions.tidy()
        await sessions.renew()


if __name__ == "__main__":
    main(parse_settings())
