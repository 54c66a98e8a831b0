"""Webhooks of the version before that nobody answers, and that refuse what is to replace it."""

import asyncio
import logging
from collections.abc import Iterable

from olm_shared.errors import OLMError, TransientError
from olm_shared.kube_object import KubeObject, key_of, metadata
from olm_shared.runtime.kube import KubeClient
from operator_controller.apply.ownership import Owner, Situation, situation_of
from operator_controller.apply.revisions import owner_labels
from operator_controller.apply.webhooks import CONFIGURATIONS, configures, uncallable
from operator_controller.io.rollout import Memory

PATIENCE_SECONDS = 20.0
"""Who should answer may only be starting again; after so long it does not come back by itself."""
AFTER_REMOVAL_SECONDS = 0.5

log = logging.getLogger(__name__)


async def clear_the_way(
    client: KubeClient, owner: Owner, memory: Memory, error: OLMError
) -> OLMError:
    """Removes webhooks of older revisions, once they have kept a rollout from going on for long.

    `error` is what the rollout ended with; the answer is what to tell instead. What the revision
    has of the webhooks itself it makes again.
    """
    webhooks, now = uncallable(error.message), asyncio.get_running_loop().time()
    if not webhooks:
        memory.refused_since = None
        return error
    memory.refused_since = memory.refused_since or now
    left = memory.refused_since + PATIENCE_SECONDS - now
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
    """Deletes configurations that an older revision applied last; which. Raises ApiError."""
    names = frozenset(webhooks)
    labels = ",".join(f"{k}={v}" for k, v in owner_labels(owner.kind, owner.name).items())
    removed = []
    for gvk in CONFIGURATIONS:
        found, _ = await client.list_all(gvk, labels=labels)
        for live in found:
            if configures(live, names) and situation_of(live, owner) is Situation.OURS_OLDER:
                await _delete(client, live)
                removed.append(str(key_of(live)))
    return removed


async def _delete(client: KubeClient, live: KubeObject) -> None:
    meta = metadata(live)
    await client.delete(live, uid=meta["uid"], resource_version=meta["resourceVersion"])
