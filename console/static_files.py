"""Files of the console's own: read and compressed once, cached by browsers."""

import gzip
import hashlib
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from pathlib import Path, PurePosixPath

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from olm_runtime.http.asgi import Asgi, Receive, Scope, Send
from olm_runtime.preconditions import Validators, Verdict, evaluate, negotiate

FOLDER = Path(__file__).parent / "static"
GZIP = "gzip"
DIGEST_DIGITS = 16
FOR_EVER = "public, max-age=31536000, immutable"
"""For an address that has the digest of what it gives."""
ASK_AGAIN = "no-cache"
_COMPRESSED = frozenset({".css", ".js", ".svg"})
mimetypes.add_type("font/woff2", ".woff2")


@dataclass(frozen=True, slots=True)
class File:
    """One of them; `compressed` is empty where that would make it no smaller."""

    content: bytes
    compressed: bytes
    digest: str
    media_type: str


@cache
def files() -> Mapping[str, File]:
    """All of them, by their path below /static."""
    return {
        str(PurePosixPath(each.relative_to(FOLDER))): _read(each)
        for each in FOLDER.rglob("*")
        if each.is_file()
    }


def address_of(name: str) -> str:
    """Where a page finds one, and browsers need not ask again until it is another."""
    return f"/static/{name}?v={files()[name].digest}"


def static_files() -> Asgi:
    """The application below /static. No path of a request is looked for on the disk."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        name = request.url.path.removeprefix("/static/")
        file = files().get(name)
        if file is None or request.method not in {"GET", "HEAD"}:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        await _answer(request, file)(scope, receive, send)

    return serve


def _answer(request: Request, file: File) -> Response:
    offered = (GZIP,) if file.compressed else ()
    coding = negotiate(request.headers.get("accept-encoding", ""), offered)
    tag = f'"{file.digest}-{coding}"'
    named = request.query_params.get("v") == file.digest
    headers = {
        "etag": tag,
        "vary": "accept-encoding",
        "cache-control": FOR_EVER if named else ASK_AGAIN,
    }
    if evaluate(request.headers, Validators(tag, 0)) is Verdict.NOT_MODIFIED:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    body = file.content
    if coding == GZIP:
        body, headers["content-encoding"] = file.compressed, GZIP
    return Response(body, headers=headers, media_type=file.media_type)


def _read(path: Path) -> File:
    content = path.read_bytes()
    compressed = gzip.compress(content, mtime=0) if path.suffix in _COMPRESSED else b""
    digest = hashlib.sha256(content).hexdigest()[:DIGEST_DIGITS]
    media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return File(content, compressed, digest, media_type)
