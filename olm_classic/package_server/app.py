"""The API: what each path answers."""

import asyncio
import gzip
import hashlib
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.responses import StreamingResponse

from olm_classic.package_manifests import documents
from olm_classic.package_manifests.icons import is_known
from olm_classic.package_manifests.manifests import API_VERSION, GROUP, PLURAL
from olm_classic.package_manifests.packed import Packed
from olm_classic.package_manifests.selection import (
    BadSelectionError,
    ExpiredError,
    Page,
    by_fields,
    by_labels,
    page,
    select,
)
from olm_classic.package_manifests.shelf import Shelf
from olm_classic.package_server import discovery
from olm_classic.package_server.negotiation import (
    DISCOVERY_FORMS,
    PLAIN,
    form_of,
    meta_forms,
    takes_gzip,
)
from olm_runtime.aggregation.statuses import JSON, StatusError
from olm_runtime.gzip_parts import Part, member

COMPRESSED_FROM = 128 << 10
"""Bytes of an answer from which on it is compressed, as API servers do."""
PARTS_AT_ONCE = 32
"""Of a list that is sent uncompressed; a package has two. Some hundred kilobytes each time."""
MAX_CACHED = 4
"""Whole lists that are cached as they were sent last."""
OBJECT_FORMS = meta_forms("Table", "PartialObjectMetadata")
LIST_FORMS = meta_forms("Table", "PartialObjectMetadataList")
ABOUT = {"group": GROUP, "kind": PLURAL}
NOT_ALLOWED = "the server does not allow this method on the requested resource"
_TRUE = frozenset({"true", "1", "t", "T", "TRUE", "True"})


class Packages:
    """The answers about packages."""

    def __init__(self, shelf: Shelf, clock: Callable[[], datetime]) -> None:
        self._shelf = shelf
        self._clock = clock
        self._cached: dict[str, bytes] = {}
        self._cached_generation = -1

    async def listed(self, request: Request, namespace: str = "") -> Response:
        """A list, in a namespace or in all. Raises StatusError."""
        query = request.query_params
        if query.get("watch") in _TRUE:
            about = f"{PLURAL}.{GROUP}"
            message = f'watch is not supported on resources of kind "{about}"'
            raise StatusError(405, message, ABOUT)
        form = form_of(request.headers.get("accept", ""), LIST_FORMS)
        found = self._page(request, namespace)
        if form == PLAIN:
            return await self._list(request, found, namespace)
        if form.kind == "Table":
            include = query.get("includeObject", "Metadata")
            body = documents.table(found, namespace, include, self._clock())
        else:
            body = documents.metadata_list(found, namespace)
        return await _json(request, body)

    def _page(self, request: Request, namespace: str) -> Page:
        query = request.query_params
        try:
            holds = [
                *by_fields(query.get("fieldSelector", "")),
                *by_labels(query.get("labelSelector", "")),
            ]
            packages = select(self._shelf.seen(namespace), holds)
            return page(packages, _limit(query.get("limit", "")), query.get("continue", ""))
        except (BadSelectionError, ExpiredError) as error:
            raise StatusError(400, str(error)) from error

    async def _list(self, request: Request, found: Page, namespace: str) -> Response:
        if not takes_gzip(request.headers.get("accept-encoding", "")):
            parts = list(documents.listed(found, namespace))
            headers = {"content-length": str(sum(each.size for each in parts))}
            return StreamingResponse(_pieces(parts), media_type=JSON, headers=headers)
        whole = found.packages is self._shelf.seen(namespace)
        return _compressed(self._whole(found, namespace) if whole else _member(found, namespace))

    def _whole(self, found: Page, namespace: str) -> bytes:
        """A whole list, put together once."""
        if self._cached_generation != self._shelf.generation:
            self._cached.clear()
            self._cached_generation = self._shelf.generation
        body = self._cached.get(namespace)
        if body is None:
            body = _member(found, namespace)
            if len(self._cached) >= MAX_CACHED:
                del self._cached[next(iter(self._cached))]
            self._cached[namespace] = body
        return body

    async def single(self, request: Request, namespace: str, name: str) -> Response:
        """One package. Raises StatusError."""
        form = form_of(request.headers.get("accept", ""), OBJECT_FORMS)
        package = self._find(namespace, name)
        if form.kind == "Table":
            include = request.query_params.get("includeObject", "Metadata")
            only = Page([package])
            return await _json(request, documents.table(only, namespace, include, self._clock()))
        if form != PLAIN:
            return await _json(request, documents.metadata_of(package, namespace))
        return Response(documents.plain(documents.single(package, namespace)), media_type=JSON)

    async def icon(self, request: Request, namespace: str, name: str) -> Response:
        """The icon of a package. Raises StatusError."""
        icon = self._find(namespace, name).icon
        headers = {
            "etag": icon.etag,
            "x-content-type-options": "nosniff",
            # A picture may have scripts, which are not to run as a page of this address.
            "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
        }
        asked = request.headers.get("if-none-match", "")
        if is_known(icon, asked, request.query_params.get("resourceVersion", "")):
            return Response(status_code=304, headers=headers)
        return Response(icon.data, media_type=icon.media_type, headers=headers)

    def _find(self, namespace: str, name: str) -> Packed:
        package = self._shelf.find(namespace, name)
        if package is None:
            message = f'{PLURAL}.{GROUP} "{name}" not found'
            raise StatusError(404, message, {"name": name, **ABOUT})
        return package


def api(shelf: Shelf, clock: Callable[[], datetime]) -> FastAPI:
    """The application."""
    app = FastAPI(title="package-server", openapi_url=None, redirect_slashes=False)
    app.add_exception_handler(StatusError, _refuse)
    app.add_exception_handler(HTTPException, _refuse)
    packages, base = Packages(shelf, clock), f"/apis/{API_VERSION}"
    collection = f"{base}/namespaces/{{namespace}}/{PLURAL}"
    for path, answer in (
        (f"{base}/{PLURAL}", packages.listed),
        (collection, packages.listed),
        (f"{collection}/{{name}}", packages.single),
        (f"{collection}/{{name}}/icon", packages.icon),
    ):
        app.add_api_route(path, answer, response_class=Response, response_model=None)
    _discovery(app)
    return app


def _discovery(app: FastAPI) -> None:
    """Adds what describes the API to clients."""
    v2, v3 = discovery.openapi_v2(), discovery.openapi_v3()
    digest = hashlib.sha256(v3).hexdigest()[:32].upper()
    documents_by_path = {
        f"/apis/{GROUP}": {"kind": "APIGroup", "apiVersion": "v1", **discovery.group()},
        f"/apis/{API_VERSION}": discovery.resource_list(),
        "/openapi/v3": discovery.openapi_index(digest),
    }
    bodies = {path: orjson.dumps(document) for path, document in documents_by_path.items()}
    bodies |= {"/openapi/v2": v2, discovery.OPENAPI_PATH: v3}
    for path, body in bodies.items():
        app.add_api_route(path, _always(body), response_class=Response, response_model=None)

    async def groups(request: Request) -> Response:
        accept = request.headers.get("accept", "")
        form = form_of(accept, DISCOVERY_FORMS)
        if form == PLAIN:
            return Response(orjson.dumps(discovery.groups()), media_type=JSON)
        media_type = f"{JSON};g={form.group};v={form.version};as={form.kind}"
        body = orjson.dumps(discovery.group_discovery(form.version))
        return Response(body, headers={"content-type": media_type, "vary": "accept"})

    app.add_api_route("/apis", groups, response_class=Response, response_model=None)


def _always(body: bytes) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        return await _json(request, body)

    return answer


async def _refuse(_: Request, error: Exception) -> Response:
    if isinstance(error, StatusError):
        return Response(error.body(), error.code, media_type=JSON)
    code = error.status_code if isinstance(error, HTTPException) else 500
    texts = {404: "the server could not find the requested resource", 405: NOT_ALLOWED}
    refusal = StatusError(code, texts.get(code, "an error on the server"))
    return Response(refusal.body(), code, media_type=JSON)


def _limit(text: str) -> int:
    """Raises StatusError."""
    if not text:
        return 0
    if not text.isascii() or not text.isdigit():
        raise StatusError(400, f'strconv.ParseInt: parsing "{text}": invalid syntax')
    return int(text)


def _member(found: Page, namespace: str) -> bytes:
    parts: list[Part] = list(documents.listed(found, namespace))
    return member(parts)


async def _pieces(parts: Sequence[Part]) -> AsyncIterator[bytes]:
    """What parts say, uncompressed: while some are sent, the next are being uncompressed."""

    def begin(start: int) -> asyncio.Task[bytes]:
        some = parts[start : start + PARTS_AT_ONCE]
        return asyncio.create_task(asyncio.to_thread(documents.plain, some))

    following = begin(0)
    for start in range(PARTS_AT_ONCE, len(parts), PARTS_AT_ONCE):
        piece, following = await following, begin(start)
        yield piece
    yield await following


async def _json(request: Request, body: bytes) -> Response:
    """A document, compressed if it is large and the client takes that."""
    encodings = request.headers.get("accept-encoding", "")
    if len(body) < COMPRESSED_FROM or not takes_gzip(encodings):
        return Response(body, media_type=JSON)
    return _compressed(await asyncio.to_thread(gzip.compress, body, 1))


def _compressed(body: bytes) -> Response:
    headers = {"content-encoding": "gzip", "vary": "accept-encoding"}
    return Response(body, media_type=JSON, headers=headers)
