"""Which address serves which kind, as discovery says; client-go's RESTMapper."""

import asyncio
from collections.abc import Mapping

from api.objects import CRD_KIND, GVK
from olm_runtime.errors import bounded
from olm_runtime.kube.discovery import Resource, api_version_of, parse_resources, root_of
from olm_runtime.kube.errors import ApiError, NoMatchError, NotFoundError
from olm_runtime.kube.transport import Transport


class _Question:
    """What a group and version has, for all who want to know at the same time."""

    def __init__(self) -> None:
        self.turn = asyncio.Lock()
        self.answer: dict[str, Resource] | None = None


class RestMapper:
    """What discovery said, by `apiVersion` and kind; shared by all identities."""

    def __init__(self, known: Mapping[str, dict[str, Resource]] | None = None) -> None:
        """`known` is not asked for, until a kind is wanted that it lacks."""
        self._discovered = dict(known or {})
        self._asking: dict[str, _Question] = {}

    async def resource(self, transport: Transport, gvk: GVK) -> Resource:
        """The resource that serves a kind. Raises NoMatchError if none does."""
        known = self._discovered.get(gvk.api_version, {})
        if gvk.kind not in known:
            known = await self._discover(transport, gvk)
        if gvk.kind not in known:
            raise NoMatchError(
                f'no matches for kind "{gvk.kind}" in version "{gvk.api_version}"', status=404
            )
        return known[gvk.kind]

    async def _discover(self, transport: Transport, gvk: GVK) -> dict[str, Resource]:
        """Asks the server, once for all who want to know at the same time."""
        version = gvk.api_version
        question = self._asking.setdefault(version, _Question())
        async with question.turn:
            if question.answer is None:
                try:
                    question.answer = await _discover(transport, gvk)
                finally:
                    if self._asking.get(version) is question:
                        del self._asking[version]
                self.forget(version)
                if question.answer:  # else groups that are gone would pile up
                    self._discovered[version] = question.answer
        return question.answer

    async def collection(self, transport: Transport, gvk: GVK, namespace: str, name: str) -> str:
        """The URL path of the collection that an object is in. Raises InvalidError."""
        resource = await self.resource(transport, gvk)
        if resource.namespaced and not namespace:  # or was it, and is no more?
            self.forget(gvk.api_version)
            resource = await self.resource(transport, gvk)
        return resource.home(namespace, name)

    def forget(self, api_version: str) -> None:
        """Has the next `resource` of a group and version asked of the server."""
        self._discovered.pop(api_version, None)

    def note_deleted(self, gvk: GVK, name: str) -> None:
        """Forgets the group of a definition that is deleted: it may never be asked for again."""
        if gvk.kind == CRD_KIND:
            _, _, group = name.partition(".")
            for api_version in [v for v in self._discovered if v.startswith(f"{group}/")]:
                self.forget(api_version)

    def note(self, path: str, error: NotFoundError) -> None:
        """Forgets what is no longer so: a CRD is gone, or was replaced by another."""
        if not error.names_object:
            self.forget(api_version_of(path))


async def _discover(transport: Transport, gvk: GVK) -> dict[str, Resource]:
    try:
        answer = await transport.request("GET", root_of(gvk))
    except NotFoundError:
        return {}
    try:
        return parse_resources(gvk, answer)
    except (AttributeError, KeyError, TypeError) as error:
        # An API service may be anybody's, and what it says comes to us as it is.
        problem = f"{root_of(gvk)} does not say which kinds it serves: {answer!r}"
        raise ApiError(bounded(problem)) from error
