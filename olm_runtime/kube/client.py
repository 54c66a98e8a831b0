"""The one client of the API server: raw JSON, any identity.

Typed models are slow and large, so objects stay plain JSON. A `KubeClient` is cheap:
`as_service_account` gives one that shares connections but acts as somebody else.
"""

import random
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any, Self

import orjson

from api.objects import GVK, KubeObject, annotations_of, gvk_of, name_of, namespace_of
from olm_runtime.kube.cluster_access import ClusterAccess
from olm_runtime.kube.discovery import Resource, of_every_server
from olm_runtime.kube.errors import ApiError, GoneError, NotFoundError
from olm_runtime.kube.event_lines import complete_lines, event_of
from olm_runtime.kube.mapper import RestMapper
from olm_runtime.kube.media_types import (
    APPLY_PATCH,
    JSON_TYPE,
    MERGE_PATCH,
    METADATA_LIST,
    METADATA_OBJECT,
    accepted,
)
from olm_runtime.kube.transport import Transport

WATCH_SECONDS = 300
"""The least that is asked of the server for a watch; the most is twice that, as of client-go.

Watches that began together, as after a start, do not all begin anew together. Bookmarks come each
minute, so that proxies take none for idle.
"""
PAGE_SIZE = 500
NOT_OLDER = {"resourceVersionMatch": "NotOlderThan"}
WITH_INITIAL_EVENTS = {"sendInitialEvents": "true", **NOT_OLDER}
"""Since Kubernetes 1.27; servers that do not, or are told not to, refuse the second parameter."""
INITIAL_EVENTS_END = "k8s.io/initial-events-end"


def _whole(obj: KubeObject) -> KubeObject:
    return obj


class KubeClient:
    """Requests to the API server as one identity.

    Clients are equal if they ask as the same identity over the same connections: what one of them
    watches need not be watched anew by the next.
    """

    def __init__(
        self, transport: Transport, mapper: RestMapper | None = None, silent: set[str] | None = None
    ) -> None:
        """All identities share the mapper, and by `apiVersion` what sends no initial events."""
        self._transport = transport
        self._mapper = RestMapper() if mapper is None else mapper
        self._silent: set[str] = set() if silent is None else silent

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KubeClient):
            return NotImplemented
        return self._transport.identity == other._transport.identity

    def __hash__(self) -> int:
        return hash(self._transport.identity)

    @classmethod
    def connect(cls, access: ClusterAccess) -> Self:
        """A client with the configuration's own identity; must be made inside a running loop."""
        return cls(Transport.connect(access))

    @classmethod
    def briefly(cls, access: ClusterAccess) -> Self:
        """The same, made at once, for a command that asks a few times and ends."""
        return cls(Transport.briefly(access), RestMapper(of_every_server()))

    @property
    def answers(self) -> Counter[tuple[str, str]]:
        """How often there was which answer, of all identities: by method and by status code.

        A watch counts once, when it is opened. The code of a request without an answer is
        `<error>`.
        """
        return self._transport.answers

    async def close(self) -> None:
        """Closes the connections that all identities share."""
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def as_service_account(self, namespace: str, name: str) -> Self:
        """The same connections, acting as a service account (impersonation).

        The server adds the account's groups itself when none are asked for; asking for them
        would need the right to impersonate groups.
        """
        user = f"system:serviceaccount:{namespace}:{name}"
        return self._over(self._transport.impersonating(user))

    def with_warning_handler(self, warned: Callable[[str], None]) -> Self:
        """The same client; `warned` gets what the server warns of, such as old versions."""
        return self._over(self._transport.with_warning_handler(warned))

    def _over(self, transport: Transport) -> Self:
        return type(self)(transport, self._mapper, self._silent)

    async def request(self, method: str, path: str, **how: Any) -> Any:
        """One request; the decoded answer. As `Transport.request`."""
        try:
            return await self._transport.request(method, path, **how)
        except NotFoundError as error:
            self._mapper.note(path, error)
            raise

    async def resource(self, gvk: GVK) -> Resource:
        """The resource that serves a kind. Raises NotFoundError if none does."""
        return await self._mapper.resource(self._transport, gvk)

    def forget_discovered(self, api_version: str) -> None:
        """Has the next `resource` of a group and version asked of the server."""
        self._mapper.forget(api_version)

    def sends_initial_events(self, gvk: GVK) -> bool:
        """Whether a watch may begin with what there is, as far as is known."""
        return gvk.api_version not in self._silent

    def note_no_initial_events(self, gvk: GVK) -> None:
        """The server of a kind does not let a watch begin so."""
        self._silent.add(gvk.api_version)

    async def _collection(self, gvk: GVK, namespace: str, name: str) -> str:
        return await self._mapper.collection(self._transport, gvk, namespace, name)

    async def object_path(self, obj: KubeObject, subresource: str = "") -> str:
        """The URL path of an object, or of a subresource of it. Raises ApiError."""
        name = name_of(obj)
        collection = await self._collection(gvk_of(obj), namespace_of(obj), name)
        return "/".join(part for part in (collection, name, subresource) if part)

    async def get(
        self, gvk: GVK, name: str, namespace: str = "", *, metadata_only: bool = False
    ) -> KubeObject:
        """One object. Raises NotFoundError, ForbiddenError, ApiError."""
        return await self._get(gvk, name, namespace, accepted(metadata_only=metadata_only))

    async def _get(
        self,
        gvk: GVK,
        name: str,
        namespace: str,
        accept: str,
        params: Mapping[str, str] | None = None,
    ) -> KubeObject:
        path = await self._collection(gvk, namespace, name)
        answer = await self.request("GET", f"{path}/{name}", params=params, accept=accept)
        return _of_kind(gvk, answer)

    async def find(
        self, gvk: GVK, name: str, namespace: str = "", *, metadata_only: bool = False
    ) -> KubeObject | None:
        """One object, or None if it (or its kind) does not exist."""
        try:
            return await self.get(gvk, name, namespace, metadata_only=metadata_only)
        except NotFoundError:
            return None

    async def find_recent(
        self, gvk: GVK, name: str, namespace: str = "", *, metadata_only: bool = False
    ) -> KubeObject | None:
        """As `find`, but what the server has in memory, a moment old, is not asked of etcd."""
        accept = accepted(metadata_only=metadata_only)
        try:
            return await self._get(gvk, name, namespace, accept, {"resourceVersion": "0"})
        except NotFoundError:
            return await self.find(gvk, name, namespace, metadata_only=metadata_only)

    async def list_all(  # noqa: PLR0913 - what a list can be asked for
        self,
        gvk: GVK,
        namespace: str = "",
        *,
        labels: str = "",
        fields: str = "",
        metadata_only: bool = False,
        not_older_than: str = "",
        page_size: int = 0,
        keep: Callable[[KubeObject], KubeObject] = _whole,
    ) -> tuple[list[KubeObject], str]:
        """All objects, and the resource version to watch from.

        As they are at the moment, page by page. With `not_older_than`, a resource version, as they
        were then or later, at once: the server has them in memory, but asks etcd for pages. `keep`
        makes of each object what is wanted of it, so that no more than a page is held whole.
        """
        path = (await self.resource(gvk)).path(namespace)
        accept = METADATA_LIST if metadata_only else JSON_TYPE
        selectors = {"labelSelector": labels, "fieldSelector": fields}
        params = {k: v for k, v in selectors.items() if v}
        pages = params | {"limit": str(page_size or PAGE_SIZE)}

        def wanted(item: KubeObject) -> KubeObject:
            return keep(_of_kind(gvk, item))

        begun = params | _since(not_older_than) if not_older_than else pages
        try:
            items, version = await self._pages(path, begun, accept, wanted)
        except GoneError:  # while we were reading, the first page became too old for the next
            items, version = await self._pages(path, params, accept, wanted)
        except ApiError as error:
            if not not_older_than or error.status != 504:
                raise
            # The server is not there yet, or never will be: etcd was restored from a backup.
            items, version = await self._pages(path, pages, accept, wanted)
        return items, version

    async def _pages(
        self,
        path: str,
        params: Mapping[str, str],
        accept: str,
        wanted: Callable[[KubeObject], KubeObject],
    ) -> tuple[list[KubeObject], str]:
        items: list[KubeObject] = []
        token = ""
        while True:
            asked = {**params, "continue": token} if token else params
            page = await self.request("GET", path, params=asked, accept=accept)
            items += map(wanted, page.get("items") or ())
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
        """POSTs an object; what is there now, or, cheaper, its metadata only.

        Raises AlreadyExistsError if there is one of that name.
        """
        path = await self._collection(gvk_of(obj), namespace_of(obj), name_of(obj))
        params = _write_params(field_manager, dry_run=dry_run)
        return await self.request(
            "POST", path, body=obj, params=params, accept=accepted(metadata_only=metadata_only)
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
        path = await self.object_path(obj)
        params = _write_params(field_manager, dry_run=dry_run)
        params["force"] = "true" if force else "false"
        return await self.request(
            "PATCH",
            path,
            body=obj,
            params=params,
            content_type=APPLY_PATCH,
            accept=accepted(metadata_only=metadata_only),
        )

    async def update(self, obj: KubeObject, *, field_manager: str, dry_run: bool = False) -> Any:
        """PUTs an object; what is there now.

        Raises ConflictError if it has changed since its `resourceVersion` was read.
        """
        params = _write_params(field_manager, dry_run=dry_run)
        return await self.request("PUT", await self.object_path(obj), body=obj, params=params)

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
        path = await self.object_path(obj, subresource)
        return await self.request(
            "PATCH",
            path,
            body=patch,
            params=_write_params(field_manager),
            content_type=content_type,
            accept=accepted(metadata_only=metadata_only),
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

        An object that is already gone is success, as is one whose kind is. The metadata of one that
        stays for a while, because finalizers or a period of grace hold it, else None.
        """
        preconditions = {"uid": uid, "resourceVersion": resource_version}
        body = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": propagation,
            "preconditions": {key: value for key, value in preconditions.items() if value},
        }
        try:
            path = await self.object_path(obj)
            answer = await self.request("DELETE", path, body=body, accept=METADATA_OBJECT)
        except NotFoundError:
            return None
        self._mapper.note_deleted(gvk_of(obj), name_of(obj))
        if not isinstance(answer, dict) or answer.get("kind") == "Status":
            return None
        meta = answer.get("metadata") or {}
        held = meta.get("finalizers") or meta.get("deletionGracePeriodSeconds")
        return _of_kind(gvk_of(obj), answer) if held else None

    async def watch(  # noqa: PLR0913 - what a watch can be asked for
        self,
        gvk: GVK,
        namespace: str = "",
        *,
        resource_version: str,
        labels: str = "",
        fields: str = "",
        metadata_only: bool = False,
        initial: bool = False,
        opened: Callable[[], None] = lambda: None,
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Events after a resource version until the server ends the watch.

        With `initial`, first those of what there is at that version or later, and a bookmark after
        the last of them (`ends_initial_events`). `opened` is called when the server has accepted
        the watch, before the first event. Raises GoneError when the version is too old: list again,
        then watch from there; InvalidError where the server cannot begin with what there is.
        """
        path = (await self.resource(gvk)).path(namespace)
        try:
            answer = await self._transport.open_watch(
                path,
                params=_watch_params(resource_version, labels, fields, initial=initial),
                accept=accepted(metadata_only=metadata_only),
            )
            try:
                opened()
                pending = bytearray()
                async for part in answer.content:
                    lines = complete_lines(pending, part)
                    del part  # the next may come in minutes, and there are thousands of watches
                    while lines:
                        yield _named(gvk, event_of(lines.pop()))
            finally:
                answer.close()
        except NotFoundError as error:
            self._mapper.note(path, error)
            raise
        except (OSError, orjson.JSONDecodeError) as error:
            raise ApiError(f"watch of {gvk.kind} was cut: {error}") from error


def _watch_params(version: str, labels: str, fields: str, *, initial: bool) -> dict[str, str]:
    return {
        "watch": "true",
        "allowWatchBookmarks": "true",
        "resourceVersion": version,
        "timeoutSeconds": str(_watch_seconds()),
        **({"labelSelector": labels} if labels else {}),
        **({"fieldSelector": fields} if fields else {}),
        **(WITH_INITIAL_EVENTS if initial else {}),
    }


def _watch_seconds() -> int:
    spread = range(WATCH_SECONDS, 2 * WATCH_SECONDS)
    return random.choice(spread)  # noqa: S311 - nobody is to be kept from guessing it


def _since(version: str) -> dict[str, str]:
    """Parameters of a list that must not be older than a version."""
    return {"resourceVersion": version, **NOT_OLDER}


def ends_initial_events(event: Mapping[str, Any]) -> bool:
    """Whether an event of a watch says that all was sent of what there was at its beginning."""
    return event["type"] == "BOOKMARK" and INITIAL_EVENTS_END in annotations_of(event["object"])


def _write_params(field_manager: str, *, dry_run: bool = False) -> dict[str, str]:
    params = {"fieldManager": field_manager} if field_manager else {}
    return params | {"dryRun": "All"} if dry_run else params


def _named(gvk: GVK, event: dict[str, Any]) -> dict[str, Any]:
    if event["type"] != "BOOKMARK":
        _of_kind(gvk, event["object"])
    return event


def _of_kind(gvk: GVK, obj: KubeObject) -> KubeObject:
    """Names the object's own kind: lists leave it out, and of metadata only it is another."""
    obj["apiVersion"], obj["kind"] = gvk.api_version, gvk.kind
    return obj
