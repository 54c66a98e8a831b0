"""Asks the API server what an account may do, for the preauthorization check.

The account is asked about itself (SelfSubjectRulesReview, one request for each namespace), so the
answer is the server's own, costs the same with thousands of roles, and the controller needs no
right to read everybody's roles and bindings. Only roles that a bundle refers to but does not have
are read. Authorizers that cannot list their rules (webhooks) are asked about what the rules lack,
one permission at a time; and, once nothing is missing, about all the rest, as they may deny what
rules allow.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, TypeVar

from api.objects import GVK, KubeObject, gvk_of
from olm_content.rights import (
    Account,
    Authority,
    Kind,
    Needs,
    Permission,
    RoleKey,
    Verdict,
    judge,
    needs_of,
    report,
    rules_of,
    unresolved,
)
from olm_content.rights.judge import RoleContent
from olm_content.rights.rules import uncovered
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ForbiddenError, NotFoundError

REVIEWS = "/apis/authorization.k8s.io/v1"
RBAC_API = ("rbac.authorization.k8s.io", "v1")

NO_NAMESPACE = "-"
"""No namespace can have this name, so what is held "there" is held in the whole cluster."""

PARALLEL_REQUESTS = 16
MAX_SINGLE_QUESTIONS = 400
"""Permissions asked about one by one; what is beyond it and not given by rules is missing."""

NOTHING = Authority()

T = TypeVar("T")
R = TypeVar("R")


async def missing_permissions(
    client: KubeClient,
    account: Account | None,
    objects: Sequence[KubeObject],
    extension: str,
    *,
    removed: Sequence[KubeObject] = (),
) -> str | None:
    """Why `account` may not install and manage `objects` for a ClusterExtension; None if it may.

    Nor remove those that are `removed`. The text is the documents' report (1.20). `client` acts as
    the controller, which is also the one examined where `account` is None. Raises ApiError where
    the API server gives no answer.
    """
    return report(await examine(client, account, objects, extension, removed=removed)) or None


async def examine(
    client: KubeClient,
    account: Account | None,
    objects: Sequence[KubeObject],
    extension: str,
    *,
    removed: Sequence[KubeObject] = (),
    granted: Authority = NOTHING,
) -> Verdict:
    """The same as data; `granted` is what the account is about to get as well."""
    acting = client.as_service_account(account.namespace, account.name) if account else client
    kinds = await _kinds(client, (*objects, *removed))
    needs = await asyncio.to_thread(needs_of, objects, kinds, extension, removed=removed)
    authority, complete = await _authority(acting, needs)
    authority = authority.with_rules_of(granted)
    referred = unresolved(needs, authority)
    contents = await _in_parallel(lambda role: _role(client, acting, role), referred)
    roles = dict(zip(referred, contents, strict=True))
    verdict = await asyncio.to_thread(judge, needs, authority, roles)
    if complete or not verdict.granted:
        return verdict
    return Verdict(await _denied(acting, needs, authority))


async def _kinds(client: KubeClient, objects: Iterable[KubeObject]) -> dict[GVK, Kind]:
    """The kinds of the objects, as far as they are served."""
    kinds: dict[GVK, Kind] = {}
    for gvk in {gvk_of(obj) for obj in objects}:
        try:
            resource = await client.resource(gvk)
        except NotFoundError:
            continue
        kinds[gvk] = Kind(resource.plural, resource.namespaced)
    return kinds


async def _authority(acting: KubeClient, needs: Needs) -> tuple[Authority, bool]:
    """What the account holds, and whether its rules are all there is to it."""
    places = [NO_NAMESPACE, *needs.namespaces]
    cluster, *namespaces = await _in_parallel(lambda place: _rules_review(acting, place), places)
    authority = Authority(
        cluster=_rules(cluster),
        namespaces={
            place: _rules(review) for place, review in zip(places[1:], namespaces, strict=True)
        },
    )
    if not any(review.get("incomplete") for review in (cluster, *namespaces)):
        return authority, True
    return await _with_other_authorizers(acting, needs, authority), False


async def _rules_review(acting: KubeClient, namespace: str) -> dict[str, Any]:
    body = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectRulesReview",
        "spec": {"namespace": namespace},
    }
    answer = await acting.request("POST", f"{REVIEWS}/selfsubjectrulesreviews", body=body)
    return answer.get("status") or {}


def _rules(review: dict[str, Any]) -> Any:
    resources = review.get("resourceRules") or []
    return rules_of([*resources, *(review.get("nonResourceRules") or [])])


async def _with_other_authorizers(
    acting: KubeClient, needs: Needs, authority: Authority
) -> Authority:
    allowed, _ = await _answers(acting, _doubtful(needs, authority))
    return Authority(authority.cluster, authority.namespaces, allowed)


async def _denied(acting: KubeClient, needs: Needs, authority: Authority) -> frozenset[Permission]:
    """Requests that rules would let by, and another authorizer does not."""
    planned = {p for action in needs.actions for p in uncovered(action.namespace, action.rule, ())}
    _, denied = await _answers(acting, planned - authority.otherwise)
    return denied


async def _answers(
    acting: KubeClient, permissions: Iterable[Permission]
) -> tuple[frozenset[Permission], frozenset[Permission]]:
    """Which permissions are allowed and which denied; those beyond the bound are neither."""
    asked = sorted(permissions)[:MAX_SINGLE_QUESTIONS]
    answers = await _in_parallel(lambda permission: _is_allowed(acting, permission), asked)
    allowed = frozenset(p for p, yes in zip(asked, answers, strict=True) if yes)
    return allowed, frozenset(asked) - allowed


def _doubtful(needs: Needs, authority: Authority) -> set[Permission]:
    """What the rules do not give, and another authorizer may."""
    found = {
        permission
        for action in needs.actions
        for permission in authority.lacks(action.namespace, action.rule)
    }
    return found | {g.instead for g in needs.grants if not authority.allows(g.instead)}


async def _is_allowed(acting: KubeClient, permission: Permission) -> bool:
    resource, _, subresource = permission.resource.partition("/")
    attributes = {
        "namespace": permission.namespace,
        "verb": permission.verb,
        "group": permission.group,
        "resource": resource,
        "subresource": subresource,
        "name": permission.name,
    }
    body = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }
    answer = await acting.request("POST", f"{REVIEWS}/selfsubjectaccessreviews", body=body)
    return bool((answer.get("status") or {}).get("allowed"))


async def _role(client: KubeClient, acting: KubeClient, role: RoleKey) -> RoleContent:
    """The rules of a role in the cluster, read by the controller or by the account."""
    if role.kind not in ("Role", "ClusterRole"):
        return "is no role"
    gvk = GVK(*RBAC_API, role.kind)
    for reader in (client, acting):
        try:
            found = await reader.find(gvk, role.name, role.namespace)
        except ForbiddenError:
            continue
        return None if found is None else rules_of(found.get("rules"))
    return "may be read neither by the service account nor by operator-controller"


async def _in_parallel(ask: Callable[[T], Awaitable[R]], items: Iterable[T]) -> list[R]:
    slots = asyncio.Semaphore(PARALLEL_REQUESTS)

    async def one(item: T) -> R:
        async with slots:
            return await ask(item)

    return await asyncio.gather(*(one(item) for item in items))
