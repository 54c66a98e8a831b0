"""Signing in by a token, which the API server is asked about, and signing out."""

import re
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from starlette.responses import RedirectResponse

from api.objects import GVK
from console.attempts import Attempts
from console.identities import Credential, IdentitySessions
from console.rendering import page
from console.sessions import Session
from console.settings import Place
from console.summary_cache import SummaryCache
from console.users import User
from console.warming import WARMING, warm_up
from olm_client.reach import ClusterOptions, Reach
from olm_runtime.errors import TransientError
from olm_runtime.kube.cluster_access import ClusterAccess
from olm_runtime.kube.errors import ApiError

SELF = GVK("authentication.k8s.io", "v1", "SelfSubjectReview")
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]{1,16384}=*")
SIGN_IN, PROVIDER, CALLBACK = "/sign-in", "/sign-in/provider", "/sign-in/callback"


@dataclass(frozen=True, slots=True)
class TokenReach(Reach):
    """The API server with somebody's token, and no other credentials, whatever the pod has.

    server     its address; no slash at its end
    authority  its CAs (PEM); None: those of the system
    """

    server: str = ""
    authority: str | None = None
    credential: Credential = field(default_factory=lambda: Credential(""))

    def access(self) -> ClusterAccess:
        """The address and the token, which may be another later."""
        return ClusterAccess(
            server=self.server,
            authorization=lambda: f"Bearer {self.credential.token}",
            authority=self.authority,
        )


@dataclass(frozen=True, slots=True)
class SignIn:
    """How people sign in.

    reach    the cluster, as yet without a token
    cas_dir  CAs of catalogd, where it is not asked through the API server
    issuer   name of the OpenID provider; empty where there is none
    summaries  packages that were read, shared by all
    """

    place: Place
    sessions: IdentitySessions
    reach: TokenReach
    cas_dir: Path | None
    attempts: Attempts
    issuer: str = ""
    summaries: SummaryCache = field(default_factory=SummaryCache)

    def may_try(self, request: Request) -> bool:
        """Whether one more attempt is taken, which then counts."""
        address = request.client.host if request.client else ""
        return not self.sessions.full and self.attempts.allow(address)

    async def by_credential(self, credential: Credential) -> User | None:
        """Whose it is; None where the API server does not take it. Raises ApiError."""
        if not _TOKEN.fullmatch(credential.token):
            return None
        reach = replace(self.reach, credential=credential)
        user = User.connect("", ClusterOptions(reach, self.cas_dir))
        user.summaries = self.summaries
        try:
            user.name = await _name(user)
        except ApiError as error:
            await user.close()
            if error.status == HTTPStatus.UNAUTHORIZED:
                return None
            raise
        return user

    async def begin(self, request: Request, credential: Credential, user: User) -> Session:
        """A session: always another, so that none can be prepared for somebody.

        One that the browser had is over: its cookie is replaced.
        """
        session = self.sessions.begin(credential, user)
        former: Session | None = getattr(request.state, "session", None)
        if former is not None:
            await self.sessions.end(former)
        if session.user is user:
            user.works.begin(WARMING, lambda: warm_up(user))
        else:
            await user.close()
        return session

    def name(self, response: Response, session: Session) -> None:
        """Has a browser say which session is its own."""
        response.set_cookie(
            self.place.cookie, session.id, httponly=True, samesite="strict", secure=True
        )

    def again(self, request: Request, fault: str, status: int) -> Response:
        """The form once more, and why."""
        return page(request, "sign_in.html", status=status, fault=fault, issuer=self.issuer)

    def too_many(self, request: Request) -> Response:
        """The answer where `may_try` says no."""
        fault = "There were too many attempts. Wait for a minute."
        return self.again(request, fault, HTTPStatus.TOO_MANY_REQUESTS)


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
        return how.again(request, "", HTTPStatus.OK)

    @router.post(SIGN_IN)
    async def enter(request: Request, token: Annotated[str, Form()] = "") -> Response:
        """Begins a session."""
        if not how.may_try(request):
            return how.too_many(request)
        credential = Credential(token.strip())
        try:
            user = await how.by_credential(credential)
        except TransientError as error:
            return how.again(request, error.describe(), HTTPStatus.BAD_GATEWAY)
        if user is None:
            fault = "The API server does not take this token. It may have expired: get another."
            return how.again(request, fault, HTTPStatus.UNAUTHORIZED)
        response = RedirectResponse("/", HTTPStatus.SEE_OTHER)
        how.name(response, await how.begin(request, credential, user))
        return response

    @router.post("/sign-out")
    async def leave(request: Request) -> Response:
        """Ends the session, and has the browser end that at the provider."""
        elsewhere = await how.sessions.end(request.state.session)
        request.state.session = request.state.user = None
        request.state.mark, request.state.parts = "", ()
        response: Response = RedirectResponse(SIGN_IN, HTTPStatus.SEE_OTHER)
        if elsewhere:  # a page, for a form may lead nowhere else
            response = page(request, "leaving.html", elsewhere=elsewhere, issuer=how.issuer)
        response.delete_cookie(how.place.cookie, secure=True, httponly=True, samesite="strict")
        response.headers["Clear-Site-Data"] = '"cache", "storage"'
        return response

    return router
