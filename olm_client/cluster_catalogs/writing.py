"""Writes ClusterCatalogs, and says what is in the way of that."""

from collections.abc import Mapping
from typing import Any

from api.objects import KubeObject, metadata, name_of
from olm_client.cluster_catalogs.reading import not_served
from olm_client.field_manager import FIELD_MANAGER
from olm_client.lifecycle.applying import apply
from olm_runtime.errors import TerminalError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError, ConflictError, ForbiddenError, NotFoundError


async def write_catalog(kube: KubeClient, wanted: KubeObject) -> KubeObject:
    """Applies a whole catalog; as the server answered it. Raises OLMError."""
    try:
        return await apply(kube, wanted)
    except NotFoundError as error:
        raise not_served() from error
    except ApiError as error:
        raise _refusal(wanted, error) from error


async def patch_catalog(kube: KubeClient, raw: KubeObject, patch: Mapping[str, Any]) -> KubeObject:
    """Merges fields into a catalog, others' too; as the server answered it. Raises OLMError.

    No apply: that would take away all that `olm` wrote of it and this does not name.
    """
    try:
        patched: KubeObject = await kube.patch(raw, patch, field_manager=FIELD_MANAGER)
    except ApiError as error:
        raise _refusal(raw, error) from error
    return patched


async def delete_catalog(kube: KubeClient, raw: KubeObject) -> None:
    """Deletes the very catalog that was read. Raises OLMError."""
    try:
        await kube.delete(raw, uid=str(metadata(raw)["uid"]))
    except ConflictError as error:
        raise TerminalError(
            f"{name_of(raw)} was made anew meanwhile", hint="run the command again"
        ) from error
    except ApiError as error:
        raise _refusal(raw, error) from error


def _refusal(obj: KubeObject, error: ApiError) -> TerminalError:
    return TerminalError(f"clustercatalog {name_of(obj)}: {error.message}", hint=_hint(error))


def _hint(error: ApiError) -> str:
    match error:
        case ForbiddenError():
            return "somebody with the right to write clustercatalogs has to do it"
        case ConflictError():
            return "somebody else keeps it otherwise: change it where they do"
        case _:
            return ""
