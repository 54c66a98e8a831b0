"""What refers to an image, as registries list it: signatures, attestations, SBOMs.

(Source: OCI distribution specification 1.1, listing referrers.)
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import orjson

from olm_runtime.images.oci import OCI_INDEX, ImageContentError, entries
from olm_runtime.images.registries_conf import Source
from olm_runtime.registry.calls import Call, read_bounded, refusal
from olm_runtime.registry.http import RegistryHttp, retrying

MAX_PAGE_BYTES = 4 << 20
MAX_REFERRERS = 1000
"""Of an image; each is fetched."""
NO_LIST = frozenset({400, 403, 404, 405, 406, 501})
"""What registries answer that know no such list; the specification has 404."""


async def list_referrers(
    http: RegistryHttp, source: Source, jitter: Callable[[], float]
) -> bytes | None:
    """An index of all that refers to the image of a digest; None where the registry lists none.

    Raises RegistryError, ImageContentError.
    """
    ref = source.ref
    found: list[Any] = []
    where = f"/v2/{ref.repository}/referrers/{ref.digest}"
    while where:
        page = await retrying(partial(_page, http, source, where), jitter)
        if page is None:
            return None
        more, where = page
        found += more
        if len(found) > MAX_REFERRERS:
            raise ImageContentError(f'more than {MAX_REFERRERS} images refer to "{ref}"')
    return orjson.dumps({"schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": found})


async def _page(http: RegistryHttp, source: Source, where: str) -> tuple[Sequence[Any], str] | None:
    """The entries of a page, and where the next one is, empty for nowhere; None without a list."""
    what = f'list of what refers to "{source.ref}"'
    async with http.exchange(source, where, Call(headers={"Accept": OCI_INDEX})) as answer:
        if answer.status_code in NO_LIST:
            return None
        if answer.status_code != 200:
            raise await refusal(answer, source.ref)
        body = await read_bounded(answer, MAX_PAGE_BYTES, what)
        following = answer.links.get("next", {}).get("url", "")
    return entries(body), following
