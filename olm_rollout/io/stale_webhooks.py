"""Webhooks of an older revision that nobody answers, and that refuse what is to replace it."""

import asyncio
import logging
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from api.objects import KubeObject, key_of, metadata
from olm_rollout.adoption import Situation, situation_of
from olm_rollout.ownership import Owner
from olm_rollout.webhooks import CONFIGURATIONS, configures, uncallable
from olm_runtime.errors import OLMError, TransientError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ForbiddenError

PATIENCE_SECONDS = 20.0
"""Who should answer may only be starting again; after so long it does not come back by itself."""
AFTER_REMOVAL_SECONDS = 0.5

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Refusal:
    """Since when, by the loop's clock, webhooks that nobody answers refuse what is written."""

    since: float | None = None


async def remove_stale_webhooks(
    client: KubeClient, owner: Owner, refusal: Refusal, error: OLMError
) -> OLMError:
    """Removes webhooks of older revisions, once they have refused a newer one for long.

    `error` is what the work ended with; the answer is the error to end with instead. What the
    revision has of the webhooks itself it makes again.
    """
    webhooks, now = uncallable(error.message), asyncio.get_running_loop().time()
    if not webhooks:
        refusal.since = None
        return error
    refusal.since = refusal.since or now
    left = refusal.since + PATIENCE_SECONDS - now
    if left > 0:
        return TransientError(error.message, hint=error.hint, within=left)
    try:
        removed = await _remove(client, owner, webhooks)
    except OLMError as failure:
        return TransientError(f"{error.message}\n{failure.message}", hint=failure.hint)
    for key in removed:
        log.warning(
            "%s is removed: nobody answers, and it holds up revision %d", key, owner.revision
        )
    return TransientError(error.message, within=AFTER_REMOVAL_SECONDS) if removed else error


async def _remove(client: KubeClient, owner: Owner, webhooks: Iterable[str]) -> list[str]:
    """Deletes configurations that an older revision applied last; which. Raises ApiError.

    Who may not list those of a kind has applied none.
    """
    broken = frozenset(webhooks)
    removed = []
    found: list[KubeObject] = []
    for gvk in CONFIGURATIONS:
        with suppress(ForbiddenError):
            found += (await client.list_all(gvk, labels=owner.selector))[0]
    for live in found:
        if configures(live, broken) and situation_of(live, owner) is Situation.OURS_OLDER:
            await _delete(client, live)
            removed.append(str(key_of(live)))
    return removed


async def _delete(client: KubeClient, live: KubeObject) -> None:
    meta = metadata(live)
    await client.delete(live, uid=meta["uid"], resource_version=meta["resourceVersion"])
