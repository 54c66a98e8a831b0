"""The one client of the API server: raw JSON over one aiohttp session, any identity.

Typed models are slow and large, so objects stay plain JSON. A `KubeClient` is cheap:
`as_service_account` gives one that shares connections but acts as somebody else.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Self

import aiohttp
import orjson

from api.objects import GVK, KubeObject, gvk_of, name_of, namespace_of
from olm_runtime.kube.access import ClusterAccess
from olm_runtime.kube.discovery import Resource, api_version_of, parse_resources, root_of
from olm_runtime.kube.errors import ApiError, GoneError, NotFoundError, error_from
from olm_runtime.kube.sockets import Sockets

REQUEST_SECONDS = 30.0
WATCH_SECONDS = 290
"""Asked of the server for a watch; below the five minutes many proxies cut at."""
WATCH_SILENCE_SECONDS = 330.0
"""Longer than any watch lasts: only a connection that died silently is this quiet."""
CONNECT_SECONDS = 10.0
MAX_CONNECTIONS = 1024
"""More than everything in flight asks at once, so that requests which hang delay no other."""
TRIES = 4
NO_ANSWER = "<error>"
"""Where a status code is counted and there is none; client-go's word."""
PAGE_SIZE = 500

JSON_TYPE = "application/json"
MERGE_PATCH = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
METADATA_OBJECT = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


@dataclass(slots=True)
class _Shared:
    """What all identities share: connections and discovery."""

    access: ClusterAccess
    sockets: Sockets
    session: aiohttp.ClientSession
    watch_session: aiohttp.ClientSession
    resources: dict[str, dict[str, Resource]] = field(default_factory=dict)
    answers: Counter[tuple[str, str]] = field(default_factory=Counter)


def _session(access: ClusterAccess, sockets: Sockets, limit: int) -> aiohttp.ClientSession:
    connector = aiohttp.TCPConnector(
        ssl=access.tls(), limit=limit, keepalive_timeout=60, socket_factory=sockets.make
    )
    return aiohttp.ClientSession(connector=connector, auto_decompress=True, proxy=access.proxy)


@dataclass(frozen=True, slots=True)
class KubeClient:
    """Requests to the API server as one identity."""

    _shared: _Shared
    _headers: tuple[tuple[str, str], ...] = ()

    @classmethod
    def connect(cls, access: ClusterAccess) -> Self:
        """A client with the configuration's own identity; must be made inside a running loop."""
        sockets = Sockets()
        requests, watches = (_session(access, sockets, limit) for limit in (MAX_CONNECTIONS, 0))
        return cls(_Shared(access, sockets, requests, watches))

    @property
    def answers(self) -> Counter[tuple[str, str]]:
        """How often there was which answer, of all identities: by method and by status code.

        A watch counts once, when it is opened. The code of a request without an answer is
        `<error>`.
        """
        return self._shared.answers

    async def close(self) -> None:
        """Closes the connections that all identities share."""
        await self._shared.session.close()
        await self._shared.watch_session.close()
        await self._shared.sockets.end()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def as_service_account(self, namespace: str, name: str) -> "KubeClient":
        """The same connections, acting as a service account (impersonation).

        The server adds the account's groups itself when none are asked for; asking for them
        would need the right to impersonate groups.
        """
        user = f"system:serviceaccount:{namespace}:{name}"
        return replace(self, _headers=(("Impersonate-User", user),))

    def _request_headers(self, accept: str) -> list[tuple[str, str]]:
        headers = [("Accept", accept), *self._headers]
        authorization = self._shared.access.authorization()
        if authorization:
            headers.append(("Authorization", authorization))
        return headers

    async def request(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        params: Mapping[str, str] | None = None,
        content_type: str = JSON_TYPE,
        accept: str = JSON_TYPE,
    ) -> Any:
        """One request; the decoded answer. Raises ApiError.

        429 is answered by waiting as the server asks, a bounded number of times; nothing else is
        repeated here, because only the caller knows whether that is safe.
        """
        headers = self._request_headers(accept)
        if body is not None:
            headers.append(("Content-Type", content_type))
        for attempt in range(1, TRIES + 1):
            status, content, retry_after = await self._send(method, path, headers, body, params)
            if status != 429 or attempt == TRIES:
                break
            await asyncio.sleep(min(retry_after, 5.0) * attempt)
        if status >= 400:
            raise self._error(path, status, content)
        return _decoded(content)

    def _error(self, path: str, status: int, content: bytes) -> ApiError:
        error = error_from(status, content)
        if isinstance(error, NotFoundError) and not error.names_object:
            # What discovery said is no longer so: a CRD is gone, or was replaced by another.
            self._shared.resources.pop(api_version_of(path), None)
        return error

    async def _send(
        self,
        method: str,
        path: str,
        headers: list[tuple[str, str]],
        body: Any,
        params: Mapping[str, str] | None,
    ) -> tuple[int, bytes, float]:
        try:
            async with self._shared.session.request(
                method,
                self._shared.access.server + path,
                headers=headers,
                params=params,
                data=None if body is None else orjson.dumps(body),
                timeout=aiohttp.ClientTimeout(total=REQUEST_SECONDS, sock_connect=CONNECT_SECONDS),
            ) as response:
                wait = response.headers.get("Retry-After", "1")
                content = await response.read()
                self._shared.answers[method, str(response.status)] += 1
                return response.status, content, float(wait) if wait.isdigit() else 1.0
        except TimeoutError as error:
            self._shared.answers[method, NO_ANSWER] += 1
            message = f"no answer from the API server within {REQUEST_SECONDS:.0f} s"
            raise ApiError(f"{message}: {method} {path}") from error
        except aiohttp.ClientError as error:
            self._shared.answers[method, NO_ANSWER] += 1
            raise ApiError(f"cannot reach the API server: {error}") from error

    async def resource(self, gvk: GVK) -> Resource:
        """The resource that serves a kind. Raises NotFoundError if none does."""
        known = self._shared.resources.get(gvk.api_version, {})
        if gvk.kind not in known:
            known = await self._discover(gvk)
            self._shared.resources[gvk.api_version] = known
        if gvk.kind not in known:
            raise NotFoundError(
                f'no matches for kind "{gvk.kind}" in version "{gvk.api_version}"', status=404
            )
        return known[gvk.kind]

    def forget_discovered(self, api_version: str) -> None:
        """Has the next `resource` of a group and version asked of the server."""
        self._shared.resources.pop(api_version, None)

    async def _discover(self, gvk: GVK) -> dict[str, Resource]:
        try:
            return parse_resources(gvk, await self.request("GET", root_of(gvk)))
        except NotFoundError:
            return {}

    async def _object_path(self, obj: KubeObject, subresource: str = "") -> str:
        name = name_of(obj)
        home = await self._home(gvk_of(obj), namespace_of(obj), name)
        return "/".join(part for part in (home, name, subresource) if part)

    async def _home(self, gvk: GVK, namespace: str, name: str) -> str:
        resource = await self.resource(gvk)
        if resource.namespaced and not namespace:  # or was it, and is no more?
            self._shared.resources.pop(gvk.api_version, None)
            resource = await self.resource(gvk)
        return resource.home(namespace, name)

    async def get(
        self, gvk: GVK, name: str, namespace: str = "", *, metadata_only: bool = False
    ) -> KubeObject:
        """One object. Raises NotFoundError, ForbiddenError, ApiError."""
        path = await self._home(gvk, namespace, name)
        accept = _accepted(metadata_only=metadata_only)
        return _of_kind(gvk, await self.request("GET", f"{path}/{name}", accept=accept))

    async def find(
        self, gvk: GVK, name: str, namespace: str = "", *, metadata_only: bool = False
    ) -> KubeObject | None:
        """One object, or None if it (or its kind) does not exist."""
        try:
            return await self.get(gvk, name, namespace, metadata_only=metadata_only)
        except NotFoundError:
            return None

    async def list_all(
        self,
        gvk: GVK,
        namespace: str = "",
        *,
        labels: str = "",
        fields: str = "",
        metadata_only: bool = False,
        not_older_than: str = "",
    ) -> tuple[list[KubeObject], str]:
        """All objects, and the resource version to watch from.

        As they are at the moment, page by page. With `not_older_than`, a resource version, as they
        were then or later, at once: the server has them in memory, but asks etcd for pages.
        """
        path = (await self.resource(gvk)).path(namespace)
        accept = METADATA_LIST if metadata_only else JSON_TYPE
        selectors = {"labelSelector": labels, "fieldSelector": fields}
        params = {k: v for k, v in selectors.items() if v}
        pages = params | {"limit": str(PAGE_SIZE)}
        begun = params | _since(not_older_than) if not_older_than else pages
        try:
            items, version = await self._pages(path, begun, accept)
        except GoneError:  # while we were reading, the first page became too old for the next
            items, version = await self._pages(path, params, accept)
        except ApiError as error:
            if not not_older_than or error.status != 504:
                raise
            # The server has not come so far, or never will: etcd was restored from a backup.
            items, version = await self._pages(path, pages, accept)
        return [_of_kind(gvk, item) for item in items], version

    async def _pages(
        self, path: str, params: Mapping[str, str], accept: str
    ) -> tuple[list[KubeObject], str]:
        items: list[KubeObject] = []
        token = ""
        while True:
            asked = {**params, "continue": token} if token else params
            page = await self.request("GET", path, params=asked, accept=accept)
            items += page.get("items") or []
            meta = page.get("metadata") or {}
            token = meta.get("continue") or ""
            if not token:
                return items, str(meta.get("resourceVersion") or "")

    async def create(
        self,
        obj: KubeObject,
        *,
        field_manager: str,
        dry_run: bool = False,
        metadata_only: bool = False,
    ) -> Any:
        """POSTs an object; what is there now, or its metadata only, which is cheaper to tell.

        Raises AlreadyExistsError if there is one of that name.
        """
        path = await self._home(gvk_of(obj), namespace_of(obj), name_of(obj))
        params = _write_params(field_manager, dry_run=dry_run)
        return await self.request(
            "POST", path, body=obj, params=params, accept=_accepted(metadata_only=metadata_only)
        )

    async def apply(
        self,
        obj: KubeObject,
        *,
        field_manager: str,
        force: bool = True,
        dry_run: bool = False,
        metadata_only: bool = False,
    ) -> Any:
        """Server-side apply; creates what is missing, writes nothing that is the same already."""
        path = await self._object_path(obj)
        params = _write_params(field_manager, dry_run=dry_run)
        params["force"] = "true" if force else "false"
        return await self.request(
            "PATCH",
            path,
            body=obj,
            params=params,
            content_type=APPLY_PATCH,
            accept=_accepted(metadata_only=metadata_only),
        )

    async def patch(
        self,
        obj: KubeObject,
        patch: Any,
        *,
        subresource: str = "",
        content_type: str = MERGE_PATCH,
        field_manager: str = "",
        metadata_only: bool = False,
    ) -> Any:
        """Patches the object that `obj` names; only its kind, namespace and name are looked at."""
        path = await self._object_path(obj, subresource)
        return await self.request(
            "PATCH",
            path,
            body=patch,
            params=_write_params(field_manager),
            content_type=content_type,
            accept=_accepted(metadata_only=metadata_only),
        )

    async def delete(
        self,
        obj: KubeObject,
        *,
        uid: str = "",
        resource_version: str = "",
        propagation: str = "Background",
    ) -> KubeObject | None:
        """Deletes an object; the preconditions, if given, must hold, else ConflictError.

        An object that is already gone is success. The metadata of one that stays for a while,
        because finalizers or a period of grace hold it, else None.
        """
        path = await self._object_path(obj)
        preconditions = {"uid": uid, "resourceVersion": resource_version}
        body = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": propagation,
            "preconditions": {key: value for key, value in preconditions.items() if value},
        }
        try:
            answer = await self.request("DELETE", path, body=body, accept=METADATA_OBJECT)
        except NotFoundError:
            return None
        if not isinstance(answer, dict) or answer.get("kind") == "Status":
            return None
        meta = answer.get("metadata") or {}
        held = meta.get("finalizers") or meta.get("deletionGracePeriodSeconds")
        return _of_kind(gvk_of(obj), answer) if held else None

    async def watch(
        self,
        gvk: GVK,
        namespace: str = "",
        *,
        resource_version: str,
        labels: str = "",
        metadata_only: bool = False,
        opened: Callable[[], None] = lambda: None,
    ) -> AsyncIterator[dict[str, Any]]:
        """Events after a resource version until the server ends the watch.

        `opened` is called when the server has agreed to tell, before there is anything to tell.
        Raises GoneError when the version is too old: list again, then watch from there.
        """
        path = (await self.resource(gvk)).path(namespace)
        params = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": resource_version,
            "timeoutSeconds": str(WATCH_SECONDS),
            **({"labelSelector": labels} if labels else {}),
        }
        headers = self._request_headers(_accepted(metadata_only=metadata_only))
        timeout = aiohttp.ClientTimeout(
            total=None, sock_connect=CONNECT_SECONDS, sock_read=WATCH_SILENCE_SECONDS
        )
        try:
            async with self._shared.watch_session.get(
                self._shared.access.server + path, params=params, headers=headers, timeout=timeout
            ) as response:
                self._shared.answers["GET", str(response.status)] += 1
                if response.status >= 400:
                    raise self._error(path, response.status, await response.read())
                opened()
                try:
                    async for event in _events(response.content):
                        if event["type"] != "BOOKMARK":
                            _of_kind(gvk, event["object"])
                        yield event
                finally:
                    _abort(response)
        except (aiohttp.ClientError, TimeoutError, orjson.JSONDecodeError) as error:
            raise ApiError(f"watch of {gvk.kind} was cut: {error}") from error


def _abort(response: aiohttp.ClientResponse) -> None:
    """Leaves an unfinished answer without TLS's farewell, which a stuck server never returns."""
    connection = response.connection
    if connection is not None and connection.transport is not None:
        connection.transport.abort()


def _since(version: str) -> dict[str, str]:
    """Parameters of a list that must not be older than a version."""
    return {"resourceVersion": version, "resourceVersionMatch": "NotOlderThan"}


def _accepted(*, metadata_only: bool) -> str:
    return METADATA_OBJECT if metadata_only else JSON_TYPE


def _write_params(field_manager: str, *, dry_run: bool = False) -> dict[str, str]:
    params = {"fieldManager": field_manager} if field_manager else {}
    return params | {"dryRun": "All"} if dry_run else params


def _decoded(content: bytes) -> Any:
    try:
        return orjson.loads(content) if content[:1] in (b"{", b"[") else content.decode()
    except ValueError as error:
        raise ApiError(f"the API server's answer cannot be read: {error}") from error


def _of_kind(gvk: GVK, obj: KubeObject) -> KubeObject:
    """Names the object's own kind: lists leave it out, and of metadata only it is another."""
    obj["apiVersion"], obj["kind"] = gvk.api_version, gvk.kind
    return obj


async def _events(stream: aiohttp.StreamReader) -> AsyncIterator[dict[str, Any]]:
    """JSON lines of any length: aiohttp's own line reader refuses long ones."""
    pending = bytearray()
    async for chunk in stream.iter_any():
        pending += chunk
        if b"\n" not in chunk:
            continue
        *lines, rest = pending.split(b"\n")
        pending = bytearray(rest)
        for line in filter(None, lines):
            event = orjson.loads(line)
            if event["type"] == "ERROR":
                raise error_from(
                    int(event["object"].get("code") or 500), orjson.dumps(event["object"])
                )
            yield event
