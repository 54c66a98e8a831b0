"""The rights that an extension's account needs for a change of its objects, and what it lacks."""

from collections.abc import Sequence

from api.objects import KubeObject
from olm_client.lifecycle.plan import Rights
from olm_content.rights import (
    Account,
    as_rules,
    authority_of,
    beyond,
    guessed_kinds,
    installer,
    least,
    least_while_replacing,
    needs_of,
    report,
)
from olm_rollout.phases import without
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ForbiddenError
from operator_controller.io.access import examine


async def rights_of_change(
    kube: KubeClient,
    account: Account,
    extension: str,
    old: Sequence[KubeObject],
    new: Sequence[KubeObject],
    *,
    granted: Sequence[KubeObject] = (),
) -> Rights:
    """From the objects `old`, none for an install, to `new`. `granted` are roles that come with it.

    An account without a name lacks nothing. Raises ApiError.
    """
    before, after = (
        least(needs_of(objects, guessed_kinds(objects), extension)) for objects in (old, new)
    )
    both = least_while_replacing(before, after) if old else after
    rights = Rights(
        added=as_rules(beyond(after, before)) if old else (),
        removed=as_rules(beyond(before, after)) if old else (),
        meanwhile=installer(account, as_rules(both)),
        afterwards=installer(account, as_rules(after)),
    )
    if not account.name:
        return rights
    try:
        verdict = await examine(
            kube,
            account,
            new,
            extension,
            removed=without(old, new),
            granted=authority_of(account, granted),
        )
    except ForbiddenError as error:
        return rights._replace(unknown=error.message)
    return rights._replace(missing=report(verdict), grants_help=not verdict.only_unserved)
