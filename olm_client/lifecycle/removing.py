"""Finds out what deleting an extension would delete. Writes nothing."""

from collections.abc import Mapping
from dataclasses import replace

from api.objects import KubeObject, key_of, metadata, name_of
from api.olm.v1.kinds import EXTENSION
from olm_client.history import Record, content_of
from olm_client.lifecycle.account_reading import SERVICE_ACCOUNT, find_left_account, read_account
from olm_client.lifecycle.account_removal import AccountRemoval, account_removal
from olm_client.lifecycle.instance_reading import instances_of
from olm_client.lifecycle.removal import Removal
from olm_client.lifecycle.side_by_side import side_by_side
from olm_content.rights import Account
from olm_rollout.ownership import controller_of
from olm_rollout.phases import Identity, identity
from olm_runtime.errors import OLMError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError

Found = KubeObject | None | OLMError
"""A live object; None if absent; the error if it could not be read."""


async def preview_removal(kube: KubeClient, record: Record) -> Removal:
    """What would be deleted and what would stay; errors of reading are part of the answer."""
    exists = await _account_exists(kube, record)
    try:
        content = await _objects(kube, record)
    except OLMError as error:
        unknown = AccountRemoval(fault="what is deleted before is not known")
        return Removal(record.raw, exists, after=unknown, fault=error.message)
    found = await _live(kube, content)
    uid = metadata(record.raw).get("uid")
    live = {key: obj for key, obj in found.items() if isinstance(obj, dict)}
    deleted = [obj for obj in live.values() if (controller_of(obj) or {}).get("uid") == uid]
    definitions = [await instances_of(kube, obj) for obj in deleted]
    removal = Removal(
        record.raw,
        exists,
        deleted=deleted,
        retained=[obj for obj in live.values() if obj not in deleted],
        unknown=[
            (content[key], error.message)
            for key, error in found.items()
            if isinstance(error, OLMError)
        ],
        instances=[each for each in definitions if each is not None],
    )
    return replace(removal, after=await preview_account(kube, removal))


async def preview_rest(kube: KubeClient, name: str) -> Removal | None:
    """What is left of an extension that is gone; None if nothing is. Raises ApiError."""
    account = await find_left_account(kube, name)
    if account is None:
        return None
    extension = {
        "apiVersion": EXTENSION.api_version,
        "kind": EXTENSION.kind,
        "metadata": {"name": name},
        "spec": {"namespace": account.namespace, "serviceAccount": {"name": account.name}},
    }
    removal = Removal(extension, account_exists=True, gone=True)
    return replace(removal, after=await preview_account(kube, removal))


async def preview_account(kube: KubeClient, removal: Removal) -> AccountRemoval:
    """What becomes of the account once all else of the removal is gone."""
    namespace, name = removal.account
    if not name:
        return AccountRemoval()
    try:
        found = await read_account(kube, Account(namespace, name), name_of(removal.extension))
    except ApiError as error:
        return AccountRemoval(fault=error.message)
    return account_removal(found, [*removal.deleted, *removal.custom_resources])


async def _account_exists(kube: KubeClient, record: Record) -> bool:
    spec = record.extension.spec
    try:
        found = await kube.find(SERVICE_ACCOUNT, spec.service_account_name, spec.namespace)
    except ApiError:
        return True  # not readable: no warning about it
    return found is not None


async def _objects(kube: KubeClient, record: Record) -> Mapping[Identity, KubeObject]:
    """The objects of all revisions of which something may be left, in the order of deletion."""
    found: dict[Identity, KubeObject] = {}
    for revision in reversed(record.revisions.unfinished):
        what_for = "what would be deleted is what revisions hold"
        for obj in reversed(await content_of(kube, revision, what_for=what_for)):
            found.setdefault(identity(obj), obj)
    return found


async def _live(kube: KubeClient, content: Mapping[Identity, KubeObject]) -> dict[Identity, Found]:

    async def one(obj: KubeObject) -> Found:
        key = key_of(obj)
        try:
            return await kube.find(key.gvk, key.name, key.namespace)
        except ApiError as error:
            return error

    found = await side_by_side(one, content.values())
    return dict(zip(content, found, strict=True))
