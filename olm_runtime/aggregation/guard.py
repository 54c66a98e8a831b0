"""Stands in front of an application: lets through who may, and refuses the others."""

import logging

from olm_runtime.aggregation.attributes import attributes_of
from olm_runtime.aggregation.authentication import Authenticator, UnauthenticatedError
from olm_runtime.aggregation.authorization import Authorizer
from olm_runtime.aggregation.statuses import JSON, StatusError
from olm_runtime.http.asgi import Asgi, Receive, Scope, Send
from olm_runtime.kube.errors import ApiError

log = logging.getLogger(__name__)


class Guard:
    """An ASGI application around another."""

    def __init__(self, app: Asgi, authenticator: Authenticator, authorizer: Authorizer) -> None:
        self._app = app
        self._authenticator = authenticator
        self._authorizer = authorizer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        try:
            await self._check(scope)
        except StatusError as refusal:
            await answer(send, refusal)
        else:
            await self._app(scope, receive, send)

    async def _check(self, scope: Scope) -> None:
        """Raises StatusError."""
        if self._authorizer.is_for_all(scope["path"]):
            return
        chain = scope.get("extensions", {}).get("tls", {}).get("client_cert_chain") or [None]
        wanted = attributes_of(scope["method"], scope["path"], scope["query_string"])
        try:
            identity = await self._authenticator.identify(scope["headers"], chain[0])
            allowed, reason = await self._authorizer.judge(identity, wanted)
        except UnauthenticatedError as error:
            log.info("a request for %s is refused: %s", scope["path"], error)
            raise StatusError(401, "Unauthorized") from error
        except ApiError as error:
            log.warning("cannot find out who asks for %s: %s", scope["path"], error.message)
            raise StatusError(500, "cannot find out who you are and what you may do") from error
        if not allowed:
            about = {"name": wanted.name, "group": wanted.group, "kind": wanted.resource}
            details = {key: value for key, value in about.items() if value}
            raise StatusError(403, wanted.refusal(identity.user, reason), details)


async def answer(send: Send, refusal: StatusError) -> None:
    """Sends a refusal."""
    body = refusal.body()
    headers = [(b"content-type", JSON.encode()), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": refusal.code, "headers": headers})
    await send({"type": "http.response.body", "body": body})
