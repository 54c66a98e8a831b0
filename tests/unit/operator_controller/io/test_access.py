"""Which questions are asked of the API server, and of whom; its real answers are tested there."""

from dataclasses import dataclass, field
from typing import Any, cast

from api.objects import GVK, KubeObject
from olm_content.rights import Account, Permission, Verdict
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.discovery import Resource
from olm_runtime.kube.errors import ForbiddenError, NotFoundError
from operator_controller.io import access
from operator_controller.io.access import MAX_SINGLE_QUESTIONS, examine

RBAC = "rbac.authorization.k8s.io"
ACCOUNT = Account("ns", "installer")
BINDING: KubeObject = {
    "apiVersion": f"{RBAC}/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": "b"},
    "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "view"},
}
PODS = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}
EVERYTHING = {"verbs": ["*"], "apiGroups": [RBAC, "olm.operatorframework.io"], "resources": ["*"]}
MAY_BIND = {"verbs": ["bind"], "apiGroups": [RBAC], "resources": ["clusterroles"]}


@dataclass
class Server:
    """An API server with a role, rules by namespace, and an authorizer that lists none."""

    rules: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    incomplete: bool = False
    allows: set[str] = field(default_factory=set)
    readers: set[str] = field(default_factory=lambda: {"controller", "account"})
    roles: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: {"view": [PODS]})
    asked: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Client:
    """The part of KubeClient that asking needs."""

    server: Server
    identity: str = "controller"

    def as_service_account(self, namespace: str, name: str) -> "Client":
        assert (namespace, name) == (ACCOUNT.namespace, ACCOUNT.name)
        return Client(self.server, "account")

    async def resource(self, gvk: GVK) -> Resource:
        if gvk.group != RBAC:
            raise NotFoundError("no such kind", status=404)
        return Resource(gvk, gvk.kind.lower() + "s", gvk.kind in ("Role", "RoleBinding"))

    async def find(self, gvk: GVK, name: str, namespace: str = "") -> KubeObject | None:
        self.server.asked.append((self.identity, f"read {name}"))
        if self.identity not in self.server.readers:
            raise ForbiddenError("no", status=403)
        rules = self.server.roles.get(name)
        return None if rules is None else {"rules": rules}

    async def request(self, method: str, path: str, *, body: Any) -> Any:
        kind, spec = body["kind"], body["spec"]
        self.server.asked.append((self.identity, kind))
        if kind == "SelfSubjectRulesReview":
            rules = self.server.rules.get(spec["namespace"], [])
            return {"status": {"resourceRules": rules, "incomplete": self.server.incomplete}}
        attributes = spec["resourceAttributes"]
        return {"status": {"allowed": attributes["verb"] in self.server.allows}}


async def ask(server: Server, *objects: KubeObject, account: Account | None = ACCOUNT) -> Verdict:
    return await examine(cast("KubeClient", Client(server)), account, objects or (BINDING,), "ext")


async def test_a_role_outside_the_bundle_is_read_by_the_controller() -> None:
    server = Server({"-": [EVERYTHING | {"verbs": ["create", "list", "watch"]}]})
    verdict = await ask(server)
    assert Permission("", "get", "", "pods") in verdict.missing
    assert server.asked == [("account", "SelfSubjectRulesReview"), ("controller", "read view")]


async def test_no_role_is_read_where_bind_is_held() -> None:
    server = Server({"-": [EVERYTHING]})
    assert (await ask(server)).granted
    assert server.asked == [("account", "SelfSubjectRulesReview")]


async def test_the_account_reads_what_the_controller_may_not() -> None:
    server = Server(readers={"account"})
    assert Permission("", "get", "", "pods") in (await ask(server)).missing


async def test_a_role_that_nobody_may_read_is_reported() -> None:
    server = Server(readers=set())
    assert (await ask(server)).errors == (
        (
            'ClusterRoleBinding "b" refers to ClusterRole "view", which may be read neither by the '
            "service account nor by operator-controller"
        ),
    )


async def test_the_controller_is_asked_about_itself_where_there_is_no_account() -> None:
    server = Server({"-": [EVERYTHING]})
    assert (await ask(server, account=None)).granted
    assert server.asked == [("controller", "SelfSubjectRulesReview")]


async def test_other_authorizers_are_asked_what_the_rules_do_not_give() -> None:
    server = Server(
        {"-": [EVERYTHING | {"verbs": ["create", "list", "watch"]}]},
        incomplete=True,
        allows={"get", "update", "patch", "delete", "bind"},
    )
    verdict = await ask(server)
    # update of finalizers, four verbs on the binding, bind; then those that the rules give.
    assert server.asked.count(("account", "SelfSubjectAccessReview")) == 6 + 3
    assert {p.verb for p in verdict.missing} == {"create", "list", "watch"}
    server.allows |= {"create", "list", "watch"}
    assert (await ask(server)).granted


async def test_a_denial_of_other_authorizers_stands() -> None:
    server = Server(incomplete=True, allows={"get"})
    verbs = {p.verb for p in (await ask(server)).missing if p.resource == "clusterrolebindings"}
    assert verbs == {"create", "list", "watch", "update", "patch", "delete"}


async def test_single_questions_are_bounded() -> None:
    server = Server(incomplete=True)
    many = [
        {
            "apiVersion": f"{RBAC}/v1",
            "kind": "Role",
            "metadata": {"name": "r", "namespace": f"n{i}"},
        }
        for i in range(200)
    ]
    assert not (await ask(server, *many)).granted
    questions = server.asked.count(("account", "SelfSubjectAccessReview"))
    assert questions == MAX_SINGLE_QUESTIONS


async def test_kinds_that_are_not_served_are_reported() -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "ns"}}
    verdict = await ask(Server({"-": [EVERYTHING]}), service)
    assert verdict.errors == ('no matches for kind "Service" in version "v1"',)
    assert await access.missing_permissions(
        cast("KubeClient", Client(Server({"-": [EVERYTHING]}))), ACCOUNT, [service], "ext"
    ) == (
        "pre-authorization failed: permission evaluation error: "
        'no matches for kind "Service" in version "v1"'
    )
