"""Writes what an install needs: first the account, then the extension."""

import re
from collections.abc import AsyncIterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from api.objects import KubeObject, ObjectKey, gvk_of, key_of, metadata, name_of, namespace_of
from api.olm.v1 import names
from olm_client.extension import not_served
from olm_client.field_manager import FIELD_MANAGER, OF_KUBECTL
from olm_content.rights.installer import is_written_by_olm
from olm_runtime.errors import TerminalError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError, ConflictError, ForbiddenError, NotFoundError

_MANAGER = r'conflict with "([^"]+)"'

_ONLY_CREATED = frozenset({"Namespace", names.CLUSTER_EXTENSION})
"""`olm` creates these and does not go on applying them. Changing a namespace needs rights, and an
extension belongs to those who change its spec later."""


class Result(StrEnum):
    """What became of an object."""

    CREATED = "created"
    CHANGED = "changed"
    UNCHANGED = "unchanged"


class Applied(NamedTuple):
    """An object and what became of it."""

    key: ObjectKey
    result: Result

    def facts(self) -> dict[str, str]:
        """As data."""
        return {
            "apiVersion": self.key.gvk.api_version,
            "kind": self.key.gvk.kind,
            **({"namespace": self.key.namespace} if self.key.namespace else {}),
            "name": self.key.name,
            "result": self.result.value,
        }


class Hints(NamedTuple):
    """What to do where an object may not be written, and where somebody else keeps it otherwise."""

    forbidden: str
    conflict: str


OF_INSTALL = Hints(
    forbidden="with --dry-run the command prints what somebody with these rights can apply; "
    "--no-account leaves namespace, account and roles out",
    conflict="somebody else keeps it otherwise; give another --service-account, or "
    "--no-account if it is right as it is",
)


async def check_acceptable(kube: KubeClient, extension: KubeObject) -> None:
    """Checks by a dry run that the server accepts the extension. Raises OLMError."""
    try:
        await kube.create(extension, field_manager=FIELD_MANAGER, dry_run=True)
    except NotFoundError as error:
        raise not_served() from error
    except ApiError as error:
        raise _refusal(extension, error) from error


async def apply_all(
    kube: KubeClient, objects: Sequence[KubeObject], hints: Hints = OF_INSTALL
) -> AsyncIterator[Applied]:
    """Applies objects one after the other; yields each when it is done. Raises OLMError."""
    for obj in objects:
        try:
            yield Applied(key_of(obj), await _written(kube, obj))
        except ApiError as error:
            raise _refusal(obj, error, hints) from error


async def _written(kube: KubeClient, obj: KubeObject) -> Result:
    gvk = gvk_of(obj)
    before = await kube.find(gvk, name_of(obj), namespace_of(obj))
    if gvk.kind in _ONLY_CREATED:
        if before is None:
            await kube.create(obj, field_manager=FIELD_MANAGER)
        return Result.UNCHANGED if before else Result.CREATED
    after = await apply(kube, obj)
    if before is None:
        return Result.CREATED
    same = metadata(after).get("resourceVersion") == metadata(before).get("resourceVersion")
    return Result.UNCHANGED if same else Result.CHANGED


async def apply(kube: KubeClient, obj: KubeObject, *, dry_run: bool = False) -> KubeObject:
    """Applies an object; takes over what `olm` itself wrote, or printed for kubectl to apply.

    Raises ConflictError where another field manager owns a field, ApiError.
    """
    try:
        return await _apply(kube, obj, force=False, dry_run=dry_run)
    except ConflictError as error:
        if not await _is_own(kube, obj, _managers(error)):
            raise
    return await _apply(kube, obj, force=True, dry_run=dry_run)


async def _apply(kube: KubeClient, obj: KubeObject, *, force: bool, dry_run: bool) -> KubeObject:
    found: KubeObject = await kube.apply(
        obj, field_manager=FIELD_MANAGER, force=force, dry_run=dry_run
    )
    return found


def _managers(error: ConflictError) -> set[str]:
    """The field managers that own the fields in conflict."""
    found = (re.search(_MANAGER, cause.message) for cause in error.causes)
    return {match[1] for match in found if match}


async def _is_own(kube: KubeClient, obj: KubeObject, managers: set[str]) -> bool:
    """Whether what is there comes from `olm`, by its field managers or by its label."""
    if not managers or not managers <= {FIELD_MANAGER, *OF_KUBECTL}:
        return False
    live = await kube.find(gvk_of(obj), name_of(obj), namespace_of(obj))
    return managers == {FIELD_MANAGER} or (live is not None and is_written_by_olm(live))


def _refusal(obj: KubeObject, error: ApiError, hints: Hints = OF_INSTALL) -> TerminalError:
    return TerminalError(f"{key_of(obj)}: {error.message}", hint=_hint(error, hints))


def _hint(error: ApiError, hints: Hints) -> str:
    match error:
        case ForbiddenError():
            return hints.forbidden
        case ConflictError():
            return hints.conflict
        case _:
            return ""
