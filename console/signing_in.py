"""Signing in by a token, which the API server is asked about."""

import re
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from starlette.responses import RedirectResponse

from api.objects import GVK
from console.attempts import Attempts
from console.identities import IdentitySessions
from console.rendering import page
from console.settings import Place
from console.users import User
from olm_client.reach import ClusterOptions, Reach
from olm_runtime.errors import TransientError
from olm_runtime.kube.cluster_access import ClusterAccess
from olm_runtime.kube.errors import ApiError

SELF = GVK("authentication.k8s.io", "v1", "SelfSubjectReview")
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]{1,16384}=*")
SIGN_IN = "/sign-in"


@dataclass(frozen=True, slots=True)
class TokenReach(Reach):
    """The API server with somebody's token, and no other credentials, whatever the pod has.

    server     its address; no slash at its end
    authority  its CAs (PEM); None: those of the system
    """

    server: str = ""
    authority: str | None = None
    token: str = ""

    def access(self) -> ClusterAccess:
        """The address and the token."""
        header = f"Bearer {self.token}"
        return ClusterAccess(
            server=self.server, authorization=lambda: header, authority=self.authority
        )


@dataclass(frozen=True, slots=True)
class SignIn:
    """How people sign in.

    reach    the cluster, as yet without a token
    cas_dir  CAs of catalogd, where it is not asked through the API server
    """

    place: Place
    sessions: IdentitySessions
    reach: TokenReach
    cas_dir: Path | None
    attempts: Attempts

    async def by_token(self, token: str) -> User | None:
        """Whose it is; None where the API server does not take it. Raises ApiError."""
        if not _TOKEN.fullmatch(token):
            return None
        reach = replace(self.reach, token=token)
        user = User.connect("", ClusterOptions(reach, self.cas_dir))
        try:
            user.name = await _name(user)
        except ApiError as error:
            await user.close()
            if error.status == HTTPStatus.UNAUTHORIZED:
                return None
            raise
        return user


async def _name(user: User) -> str:
    review = {"apiVersion": SELF.api_version, "kind": SELF.kind, "metadata": {}}
    answer = await user.kube.create(review, field_manager="")
    return str(((answer.get("status") or {}).get("userInfo") or {}).get("username", ""))


def sign_in_routes(how: SignIn) -> APIRouter:
    """The pages to sign in and out."""
    router = APIRouter()

    @router.get(SIGN_IN)
    async def ask(request: Request) -> Response:
        """The form."""
        return page(request, "sign_in.html", fault="")

    @router.post(SIGN_IN)
    async def enter(request: Request, token: Annotated[str, Form()] = "") -> Response:
        """Begins a session: always another, so that none can be prepared for somebody."""
        address = request.client.host if request.client else ""
        if how.sessions.full or not how.attempts.allow(address):
            fault = "There were too many attempts. Wait for a minute."
            return _again(request, fault, HTTPStatus.TOO_MANY_REQUESTS)
        token = token.strip()
        try:
            user = await how.by_token(token)
        except TransientError as error:
            return _again(request, error.describe(), HTTPStatus.BAD_GATEWAY)
        if user is None:
            fault = "The API server does not take this token. It may have expired: get another."
            return _again(request, fault, HTTPStatus.UNAUTHORIZED)
        return await _entered(how, token, user)

    @router.post("/sign-out")
    async def leave(request: Request) -> Response:
        """Ends the session."""
        await how.sessions.end(request.state.session)
        response = RedirectResponse(SIGN_IN, HTTPStatus.SEE_OTHER)
        response.delete_cookie(how.place.cookie, secure=True, httponly=True, samesite="strict")
        response.headers["Clear-Site-Data"] = '"cache", "storage"'
        return response

    return router


def _again(request: Request, fault: str, status: int) -> Response:
    return page(request, "sign_in.html", status=status, fault=fault)


async def _entered(how: SignIn, token: str, user: User) -> Response:
    session = how.sessions.begin(token, user)
    if session.user is not user:
        await user.close()
    response = RedirectResponse("/", HTTPStatus.SEE_OTHER)
    response.set_cookie(how.place.cookie, session.id, httponly=True, samesite="strict", secure=True)
    return response
