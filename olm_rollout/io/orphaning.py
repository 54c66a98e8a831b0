"""Takes an owner off its objects, which stay, as `kubectl delete --cascade=orphan` asks.

The garbage collector does so for the objects that it has seen. It may not have seen those that
were applied a moment before, and would delete them once their owner is gone.
"""

import logging
from collections.abc import Iterable

from api.objects import KubeObject, metadata
from olm_rollout.io.objects import TRIES, find_metadata, naming
from olm_rollout.io.together import outcomes, raise_together
from olm_runtime.errors import OLMError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ConflictError, ForbiddenError, NotFoundError

log = logging.getLogger(__name__)


async def set_free(client: KubeClient, owner_uid: str, objects: Iterable[KubeObject]) -> None:
    """Removes the owner with this uid from those of `objects` that have it still.

    What the client may not change is logged and left. Raises TransientError with a line for each
    object that could not be written.
    """
    failed: list[OLMError] = []
    for result in await outcomes(_set_one_free(client, owner_uid, obj) for obj in objects):
        if isinstance(result, ForbiddenError):
            log.warning("an object stays with its deleted owner: %s", result.message)
        elif isinstance(result, OLMError):
            failed.append(result)
    raise_together(failed)


async def _set_one_free(client: KubeClient, owner_uid: str, obj: KubeObject) -> None:
    for tries_left in reversed(range(TRIES)):
        live = await find_metadata(client, obj)
        owners = metadata(live).get("ownerReferences") or () if live is not None else ()
        others = [reference for reference in owners if reference.get("uid") != owner_uid]
        if live is None or len(others) == len(owners):
            return
        as_read = {key: metadata(live)[key] for key in ("uid", "resourceVersion")}
        try:
            with naming(obj):
                patch = {"metadata": {**as_read, "ownerReferences": others}}
                await client.patch(obj, patch, metadata_only=True)
        except NotFoundError:
            return
        except ConflictError:
            if not tries_left:
                raise
        else:
            return
