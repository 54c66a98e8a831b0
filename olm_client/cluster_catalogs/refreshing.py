"""Has catalogd look at registries at once, and reports what is new."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from api.objects import KubeObject, condition, name_of
from api.olm.v1.conditions import ConditionType
from api.olm.v1.names import ANNOTATION_REFRESH_REQUESTED
from api.olm.v1.refresh import said_of
from olm_client.catalogs.cache import ContentCache
from olm_client.catalogs.cluster import Cluster, Served
from olm_client.catalogs.comparing import compare
from olm_client.catalogs.content import Content
from olm_client.cluster_catalogs.reading import named, read_catalogs
from olm_client.cluster_catalogs.waiting import CatalogWait
from olm_client.cluster_catalogs.writing import patch_catalog
from olm_client.display import Display
from olm_client.lifecycle.overview import Phase, State
from olm_client.reach import ClusterOptions, cluster
from olm_runtime.errors import OLMError, TerminalError

Facts = dict[str, Any]


def request_at(moment: datetime) -> str:
    """What names a request that is made then."""
    return moment.isoformat().replace("+00:00", "Z")


def refresh_patch(moment: datetime) -> dict[str, Any]:
    """The merge patch by which catalogd is asked to look at a registry."""
    return _patch(request_at(moment))


def _patch(request: str) -> dict[str, Any]:
    return {"metadata": {"annotations": {ANNOTATION_REFRESH_REQUESTED: request}}}


async def chosen_catalogs(catalogs: Sequence[str], given: Mapping[str, Any]) -> list[KubeObject]:
    """The catalogs of these names; without any, all in use. Raises TerminalError."""
    async with cluster(given["reach"]) as kube:
        every = await read_catalogs(kube)
    if not catalogs:
        return [raw for raw in every if Served.of(raw).available]
    chosen = [named(name, every) for name in catalogs]
    off = [name_of(raw) for raw in chosen if not Served.of(raw).available]
    if off:
        raise TerminalError(
            f"{', '.join(off)} {'is' if len(off) == 1 else 'are'} switched off",
            hint=f"olm catalog enable {' '.join(off)}",
        )
    return chosen


async def request_refresh(
    chosen: Sequence[KubeObject],
    request: str,
    given: Mapping[str, Any],
    display: Display,
    *,
    wait: bool,
) -> dict[str, KubeObject]:
    """The catalogs by name, when all requests are answered if asked to wait. Raises OLMError."""

    def answered(raw: KubeObject) -> bool:
        return _answer(raw, request)[1] is not None

    async with cluster(given["reach"]) as kube:
        patch = _patch(request)
        found = {name_of(raw): await patch_catalog(kube, raw, patch) for raw in chosen}
        if not wait:
            return found
        waiting = CatalogWait(
            kube,
            tuple(found),
            given["timeout"],
            display,
            doing="its registry is being asked",
            hint="check that catalogd runs; upstream's looks at its interval only",
        )
        return await waiting.until_all(answered, "not refreshed")


def _answer(raw: KubeObject, request: str) -> tuple[str, str | None]:
    """Whether a request was met (as a status), and what was said of it; None for nothing yet."""
    answer = condition(raw, ConditionType.REFRESHED) or {}
    return str(answer.get("status")), said_of(request, str(answer.get("message", "")))


def content_now(raw: KubeObject, options: ClusterOptions) -> Content | OLMError:
    """What the catalog has, to compare with, or why that is not known."""
    try:
        return Cluster(options).content(Served.of(raw), ContentCache.of_user())
    except OLMError as error:
        return error


def result_of(
    before: KubeObject,
    after: KubeObject,
    request: str,
    compared: tuple[Content | OLMError, ClusterOptions],
) -> Facts:
    """What came of it, as data; `compared` is the content before, and how to get that after."""
    old, new = Served.of(before).digest, Served.of(after).digest
    status, said = _answer(after, request)
    facts = {"name": name_of(after), "digest": new, "previousDigest": old}
    if status != "True":
        state = State.of_message(Phase.RETRYING, said or "")
        return {**facts, "result": "failed", "message": state.message, "hint": state.hint}
    if new == old:
        return {**facts, "result": "unchanged"}
    facts["result"] = "updated"
    content, options = compared
    if not old:
        return facts
    if isinstance(content, OLMError):
        return {**facts, "differenceUnknown": content.message}
    newer = content_now(after, options)
    if isinstance(newer, OLMError):
        return {**facts, "differenceUnknown": newer.message}
    return {**facts, "difference": compare(content, newer)}
