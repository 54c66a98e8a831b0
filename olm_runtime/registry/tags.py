"""The tags of a repository, as registries list them. Mirrors are not asked: theirs are others."""

from collections.abc import Callable
from functools import partial

import orjson

from olm_runtime.images.oci import ImageContentError
from olm_runtime.images.reference import ImageRef
from olm_runtime.images.registries_conf import Source
from olm_runtime.registry.calls import Call, read_bounded, refusal
from olm_runtime.registry.client import RESOLVE_SECONDS, within
from olm_runtime.registry.errors import ImageNotFoundError
from olm_runtime.registry.http import RegistryHttp, retrying
from olm_runtime.registry.registries_file import read_registries
from olm_runtime.registry.settings import PullSettings, registry_http

PAGE = 1000
"""Tags asked for at once; registries may give fewer."""
MAX_PAGE_BYTES = 8 << 20
MAX_TAGS = 200_000


async def list_tags(
    settings: PullSettings, repository: ImageRef, *, jitter: Callable[[], float]
) -> list[str]:
    """All tags of a repository; none of one that there is not.

    Raises RegistryError, ImageContentError, RegistryBlockedError, RegistriesConfError.
    """
    *_, home = read_registries(settings.registries_conf).sources(repository)
    http = registry_http(settings)
    try:
        return await within(RESOLVE_SECONDS, home, lambda source: _pages(http, source, jitter))
    except ImageNotFoundError:
        return []
    finally:
        await http.aclose()


async def _pages(http: RegistryHttp, source: Source, jitter: Callable[[], float]) -> list[str]:
    found: list[str] = []
    where = f"/v2/{source.ref.repository}/tags/list?n={PAGE}"
    while where:
        tags, where = await retrying(partial(_page, http, source, where), jitter)
        found += tags
        if len(found) > MAX_TAGS:
            raise ImageContentError(f'"{source.ref}" has more than {MAX_TAGS} tags')
    return found


async def _page(http: RegistryHttp, source: Source, where: str) -> tuple[list[str], str]:
    """The tags of a page, and where the next one is; empty for nowhere."""
    what = f'list of tags of "{source.ref}"'
    async with http.exchange(source, where, Call(headers={"Accept": "application/json"})) as answer:
        if answer.status_code != 200:
            raise await refusal(answer, source.ref)
        body = await read_bounded(answer, MAX_PAGE_BYTES, what)
        following = answer.links.get("next", {}).get("url", "")
    return _names(body, what), following


def _names(body: bytes, what: str) -> list[str]:
    try:
        tags = orjson.loads(body)["tags"] or []
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise ImageContentError(f"{what} is none: {error}") from error
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise ImageContentError(f"{what} is none")
    return tags
