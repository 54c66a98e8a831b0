"""Pages from templates."""

import shlex
from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from console.changes import ANY
from console.sessions import Session
from console.static_files import address_of
from console.users import User
from olm_client.cluster_catalogs.facts import age
from olm_runtime.clocks import utc_now

FOLDER = Path(__file__).parent / "templates"

INSTALL_MODES = {
    "AllNamespaces": "all namespaces",
    "MultiNamespace": "several namespaces",
    "OwnNamespace": "its own namespace",
    "SingleNamespace": "one other namespace",
}
"""What an operator can watch, in words."""

REFUSED_SECONDS = 30
"""After which a page asks again that was refused: rights are not watched."""

RENEWAL = ((b"hx-request", b"true"), (b"hx-trigger", b"content"))
"""Headers of a request for the content alone of a page that is shown."""
SESSION_HEADER = "Console-Session"
"""Of pages: whose they are, so that what shows somebody else's is loaded anew."""


@cache
def environment() -> Environment:
    """The templates. All that they are given is escaped."""
    found = Environment(
        loader=FileSystemLoader(FOLDER),
        auto_reload=False,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["ago"] = _ago
    found.filters["install_mode"] = lambda mode: INSTALL_MODES.get(mode, mode)
    found.filters["shell"] = lambda value: shlex.quote(str(value))
    found.globals["static"] = address_of
    return found


def page(request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """A page; `values` are what its template needs.

    What the frame of all pages needs is added: who looks, the parts of the console that this
    cluster has, the token for forms, `live`, the kinds whose changes make the page anew, and
    `every`, after how many seconds it gets itself anew where nothing that is watched would.
    """
    user: User | None = getattr(request.state, "user", None)
    session: Session | None = getattr(request.state, "session", None)
    frame: Mapping[str, Any] = {
        "user": user,
        "parts": getattr(request.state, "parts", ()),
        "token": getattr(request.state, "token", ""),
        "here": request.url.path,
        "url": request.url.path + (f"?{request.url.query}" if request.url.query else ""),
        "mark": getattr(request.state, "mark", ""),
        "said": _said(request),
        "leaves": session is not None and session.leaves,
        "live": (),
        "every": 0,
        "session": session.label if session is not None else "",
        "whole": request.headers.get("HX-Trigger") != "content",
        "away": user.away if user is not None else "",
    }
    request.state.live = values.get("live", ())
    text = environment().get_template(template).render({**frame, **values})
    headers = {"Cache-Control": "no-store", SESSION_HEADER: str(frame["session"])}
    return HTMLResponse(text, status, headers=headers)


def failure(
    request: Request, status: int, *, message: str, hint: str, repeatable: bool
) -> HTMLResponse:
    """A page that says why another is not there.

    One that is not found, or not allowed, appears by itself once it is.
    """
    waits = repeatable and status in (HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND)
    again: Mapping[str, Any] = {"live": (ANY,), "every": REFUSED_SECONDS} if waits else {}
    variables = {"message": message, "hint": hint, "repeatable": repeatable}
    return page(request, "error.html", status=status, **variables, **again)


def say(request: Request, text: str) -> None:
    """Has the next page that is loaded begin with a text: what was done."""
    request.state.session.said.append(text)


def _said(request: Request) -> list[str]:
    """What is to be said, once: not to a page that is made anew as something changes."""
    session: Session | None = getattr(request.state, "session", None)
    if session is None or "HX-Request" in request.headers:
        return []
    texts, session.said = session.said, []
    return texts


def _ago(time: str) -> str:
    """How long ago a time was, as `3d`; empty for none."""
    return age(time, utc_now())
