"""Whoever looks at pages: how the API server is asked in their name, and what they may do.

The console has no rights of its own: each request carries the credentials of its user, and so does
each watch that keeps their pages up to date.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, Self

from api.objects import GVK, KubeObject, name_of, namespace_of
from console.changes import CONNECTION, Changes
from console.facts_cache import FactsCache
from console.summary_cache import SummaryCache
from console.works import Works
from olm_client.lifecycle.overview import extension_facts, urgent_first
from olm_client.reach import ClusterOptions
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError, NotFoundError, is_away
from olm_runtime.watch.followed import Followed
from olm_runtime.watch.informer import Selection

REVIEW = GVK("authorization.k8s.io", "v1", "SelfSubjectAccessReview")
REMEMBERED_SECONDS = 10.0
"""For which an answer about rights, or about a kind that is served, counts."""
LIST_PAGE = 100
"""Objects: a list that is read whole takes memory that is not given back."""
LOOKING = "look"
VERSION_PATH = "/version"
"""Whoever may ask for nothing else may ask for this."""


@dataclass(slots=True)
class User:
    """One identity, and what is watched for its pages.

    options    how the stages of the command line reach the cluster in their name
    kube       the API server, in their name
    changes    notifies open pages of what changed
    summaries  packages that were read, by this user or another
    extensions facts of the extensions that pages list, the most urgent first
    works      what goes on without a page
    """

    name: str
    options: ClusterOptions
    kube: KubeClient
    changes: Changes = field(default_factory=Changes)
    summaries: SummaryCache = field(default_factory=SummaryCache)
    now: Callable[[], float] = time.monotonic
    works: Works = field(init=False)
    extensions: FactsCache = field(
        default_factory=lambda: FactsCache(extension_facts, urgent_first)
    )
    _watched: dict[GVK, Followed[KubeObject]] = field(default_factory=dict)
    _sorted: dict[GVK, Sequence[KubeObject]] = field(default_factory=dict)
    _answers: dict[tuple[str, ...], tuple[float, bool]] = field(default_factory=dict)
    _lost: str = ""

    def __post_init__(self) -> None:
        self.works = Works(self.now)

    @classmethod
    def connect(cls, name: str, options: ClusterOptions) -> Self:
        """Must be called inside a running loop. Raises TerminalError for what is no access."""
        return cls(name, options, KubeClient.connect(options.reach.access()))

    async def close(self) -> None:
        """Ends the watches, the works, the connections, and what notifies pages of changes."""
        self.changes.end()
        await self.works.close()
        await asyncio.gather(*(each.close() for each in self._watched.values()))
        await self.kube.close()

    async def objects(self, gvk: GVK) -> Sequence[KubeObject]:
        """All objects of a kind, by namespace and name, from memory once they were listed.

        It is the same list until one of them changes.

        There are none where the kind is not served. Raises ApiError where they cannot be read.
        """
        watched = self._watched.get(gvk)
        if watched is None:
            watched = self._watched[gvk] = self._follow(gvk)
        await watched.start()
        if not watched.running and await self.serves(gvk):
            # The watch has ended with an error; asking once more says which.
            return (await self.kube.list_all(gvk))[0]
        if gvk not in self._sorted:
            found = sorted(watched.store.items(), key=itemgetter(0))
            self._sorted[gvk] = [each for _, each in found]
        return self._sorted[gvk]

    def _follow(self, gvk: GVK) -> Followed[KubeObject]:
        async def changed() -> None:
            self._sorted.pop(gvk, None)
            self.changes.note(gvk.kind)

        selection = Selection(gvk, page_size=LIST_PAGE, keep=_without_fields)
        return Followed(self.kube, selection, _same, changed, lambda: self.changes.note(CONNECTION))

    @property
    def away(self) -> str:
        """Why pages may be old: what is wrong with a watch; empty while all go on."""
        running = [each for each in self._watched.values() if each.running]
        return next(filter(None, (each.trouble for each in running)), "" if running else self._lost)

    def begin_to_look(self) -> None:
        """Begins to ask whether the API server is there."""
        self.works.begin(LOOKING, self.look)

    async def look(self) -> None:
        """Asks whether the API server is there, where no watch would notice."""
        if any(each.running for each in self._watched.values()):
            return
        try:
            await self.kube.request("GET", VERSION_PATH)
        except ApiError as error:
            self._note(error.message if is_away(error) else "")
        else:
            self._note("")

    def _note(self, lost: str) -> None:
        if bool(lost) != bool(self._lost):
            self.changes.note(CONNECTION)
        self._lost = lost

    async def object(self, gvk: GVK, name: str, namespace: str = "") -> KubeObject:
        """One of them. Raises NotFoundError, ApiError."""
        for each in await self.objects(gvk):
            if (namespace_of(each), name_of(each)) == (namespace, name):
                return each
        return await self.kube.get(gvk, name, namespace)

    async def serves(self, gvk: GVK) -> bool:
        """Whether the cluster has a kind."""

        async def ask() -> bool:
            try:
                await self.kube.resource(gvk)
            except NotFoundError:
                return False
            return True

        return await self._remembered(("kind", gvk.api_version, gvk.kind), ask)

    async def may(
        self, verb: str, gvk: GVK, namespace: str = "", name: str = "", subresource: str = ""
    ) -> bool:
        """Whether they may do something; False, too, where the API server does not say.

        Raises ApiError while it is away, unless it has said so before.
        """

        async def ask() -> bool:
            try:
                resource = await self.kube.resource(gvk)
                attributes = {
                    "verb": verb,
                    "group": gvk.group,
                    "resource": resource.plural,
                    "subresource": subresource,
                    "namespace": namespace,
                    "name": name,
                }
                review = {
                    "apiVersion": REVIEW.api_version,
                    "kind": REVIEW.kind,
                    "metadata": {},
                    "spec": {"resourceAttributes": attributes},
                }
                answer = await self.kube.create(review, field_manager="")
            except ApiError as error:
                if is_away(error):
                    raise
                return False
            return bool((answer.get("status") or {}).get("allowed"))

        asked = (verb, gvk.api_version, gvk.kind, namespace, name, subresource)
        return await self._remembered(asked, ask)

    async def may_all(self, *asked: tuple[str, GVK]) -> Sequence[bool]:
        """The same of several, in their order."""
        return await asyncio.gather(*(self.may(verb, gvk) for verb, gvk in asked))

    async def _remembered(self, key: tuple[str, ...], ask: Callable[[], Any]) -> bool:
        known = self._answers.get(key)
        if known is not None and self.now() - known[0] <= REMEMBERED_SECONDS:
            return known[1]
        try:
            answer: bool = await ask()
        except ApiError as error:
            if is_away(error):
                self._note(error.message)
                if known is not None:
                    return known[1]
            raise
        self._note("")
        self._answers[key] = (self.now(), answer)
        return answer


def _same(obj: KubeObject) -> KubeObject:
    return obj


def _without_fields(obj: KubeObject) -> KubeObject:
    """Nobody looks at who wrote which field, which is half of a small object."""
    (obj.get("metadata") or {}).pop("managedFields", None)
    return obj
