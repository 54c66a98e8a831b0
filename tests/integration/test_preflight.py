"""The preflight checks against the API server's own judgement.

No false "allowed", no false "missing": what we say of a role or a binding is compared with a dry
run of creating it as the account, what we say of other requests with SubjectAccessReviews.
"""

import asyncio
import contextlib
import copy
import json
import secrets
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from api.objects import GVK, KubeObject, ObjectKey, gvk_of, key_of, name_of, namespace_of
from e2e.harness.controlplane import ControlPlane
from e2e.harness.pytest_plugin import fresh_namespace
from olm_content.bundle.reader import load
from olm_content.crds import check
from olm_content.render.install import InstallRequest, install_objects
from olm_content.render.options import CertificateProvider
from olm_content.rights import (
    Account,
    Authority,
    Needs,
    Permission,
    authority_of,
    guessed_kinds,
    judge,
    least,
    needs_of,
)
from olm_content.rights.merge import without_implied
from olm_content.rights.rules import uncovered
from olm_rollout.io.definitions import unsafe_definitions
from olm_rollout.ownership import Owner
from olm_runtime.errors import OLMError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError, ForbiddenError, NotFoundError
from operator_controller.apply import owners
from operator_controller.io.access import examine, missing_permissions
from tests.integration.clusters import own_control_plane
from tests.unit.olm_content.crds.definitions import definition, version, with_field

pytestmark = pytest.mark.integration

RBAC = "rbac.authorization.k8s.io"
MANAGER = "preflight-test"
EXTENSION = "sample"

Json = dict[str, Any]


control_plane = own_control_plane()
"""These tests install bundles by hand that other tests install too."""


def rule(verbs: str, group: str, resources: str, names: str = "") -> Json:
    found: Json = {"verbs": verbs.split(), "apiGroups": [group], "resources": resources.split()}
    return {**found, "resourceNames": names.split()} if names else found


def urls(verbs: str, paths: str) -> Json:
    return {"verbs": verbs.split(), "nonResourceURLs": paths.split()}


def role(name: str, *rules: Json, namespace: str = "", **more: Any) -> KubeObject:
    kind = "Role" if namespace else "ClusterRole"
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    api = f"{RBAC}/v1"
    return {"apiVersion": api, "kind": kind, "metadata": metadata, "rules": list(rules), **more}


def binding(
    name: str, kind: str, referred: str, account: Account, namespace: str = ""
) -> KubeObject:
    subject = {"kind": "ServiceAccount", "name": account.name, "namespace": account.namespace}
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "RoleBinding" if namespace else "ClusterRoleBinding",
        "metadata": {"name": name, "namespace": namespace} if namespace else {"name": name},
        "roleRef": {"apiGroup": RBAC, "kind": kind, "name": referred},
        "subjects": [subject],
    }


class Holder:
    """A service account, and what it is given."""

    def __init__(self, client: KubeClient, namespace: str) -> None:
        self.client = client
        self.account = Account(namespace, f"installer-{secrets.token_hex(4)}")
        self.acting = client.as_service_account(namespace, self.account.name)
        self._made: dict[ObjectKey, KubeObject] = {}
        self._given: set[str] = set()
        """The namespaces whose rules have been given, "" for the cluster."""

    async def give(self, cluster: Iterable[Json] = (), namespaced: Iterable[Json] = ()) -> None:
        """Gives the rules and no others, and waits until the API server acts upon them."""
        await self._give("", "ClusterRole", list(cluster))
        await self._give(self.account.namespace, "Role", list(namespaced))

    async def _give(self, namespace: str, kind: str, rules: list[Json]) -> None:
        if not rules and namespace not in self._given:
            return
        name, mark = self.account.name, f"mark-{secrets.token_hex(4)}"
        await self.make(role(name, *rules, rule("get", "test", mark), namespace=namespace))
        if namespace not in self._given:
            await self.make(binding(name, kind, name, self.account, namespace))
            self._given.add(namespace)
        await self._until_allowed(Permission(namespace, "get", "test", mark))

    async def make(self, obj: KubeObject) -> None:
        await self.client.apply(obj, field_manager=MANAGER)
        self._made[key_of(obj)] = obj

    async def clean_up(self) -> None:
        """What nobody else can be hindered by stays with its account or its namespace."""
        for obj in self._made.values():
            if not namespace_of(obj):
                await self.client.delete(obj)

    async def _until_allowed(self, permission: Permission) -> None:
        for _ in range(1000):
            if await self.is_allowed(permission):
                return
            await asyncio.sleep(0.01)
        raise TimeoutError(f"{permission} was given in vain")

    async def is_allowed(self, permission: Permission) -> bool:
        """The API server's own answer."""
        resource, _, subresource = permission.resource.partition("/")
        attributes = {
            "namespace": permission.namespace,
            "verb": permission.verb,
            "group": permission.group,
            "resource": resource,
            "subresource": subresource,
            "name": permission.name,
        }
        spec = {
            "user": self.account.user,
            "groups": sorted(self.account.groups),
            "resourceAttributes": attributes,
        }
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": spec,
        }
        path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
        return bool((await self.client.request("POST", path, body=body))["status"]["allowed"])

    async def may_create(self, obj: KubeObject) -> bool:
        """What the API server says to the write itself."""
        try:
            await self.acting.create(obj, field_manager=MANAGER, dry_run=True)
        except (ForbiddenError, NotFoundError):
            return False
        return True

    async def lacks(self, *objects: KubeObject) -> set[Permission]:
        """What we say is missing."""
        return set((await examine(self.client, self.account, objects, EXTENSION)).missing)


@pytest_asyncio.fixture
async def holder(client: KubeClient, namespace: str) -> AsyncIterator[Holder]:
    made = Holder(client, namespace)
    yield made
    await made.clean_up()


@pytest.fixture(scope="module")
def shared_namespace(control_plane: ControlPlane) -> str:
    """For accounts that are given different rights in it, and make nothing else there."""
    return fresh_namespace(control_plane)


@pytest_asyncio.fixture
async def account(client: KubeClient, shared_namespace: str) -> AsyncIterator[Holder]:
    """A holder in a namespace of many."""
    made = Holder(client, shared_namespace)
    yield made
    await made.clean_up()


# Escalation: roles


MAY_WRITE = rule("create", RBAC, "roles clusterroles rolebindings clusterrolebindings")
PODS = rule("get list", "", "pods")


@dataclass(frozen=True, slots=True)
class Case:
    """What the account holds, in the cluster and in its namespace, and what a role gives."""

    gives: list[Json]
    cluster: list[Json] = field(default_factory=list)
    namespaced: list[Json] = field(default_factory=list)
    more: Json = field(default_factory=dict)


EVERYTHING = [rule("*", "*", "*"), urls("*", "*")]
AGGREGATED = {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"no": "such-label"}}]}}

CASES = {
    "nothing held": Case([PODS]),
    "nothing given": Case([]),
    "held as given": Case([PODS], [PODS]),
    "held in the namespace only": Case([PODS], namespaced=[PODS]),
    "verbs held in two rules": Case([PODS], [rule("get", "", "pods"), rule("list", "", "pods")]),
    "one held here, one there": Case([PODS], [rule("get", "", "pods")], [rule("list", "", "pods")]),
    "a verb short": Case([PODS], [rule("get", "", "pods")]),
    "another group": Case([PODS], [rule("get list", "apps", "pods")]),
    "every verb held": Case([PODS], [rule("*", "", "pods")]),
    "every verb given": Case([rule("*", "", "pods")], [PODS]),
    "every verb held and given": Case([rule("*", "", "pods")], [rule("*", "", "pods")]),
    "every group held": Case([PODS], [rule("get list", "*", "pods")]),
    "every group given": Case([rule("get", "*", "pods")], [PODS]),
    "every resource held": Case([PODS], [rule("get list", "", "*")]),
    "every resource given": Case([rule("get", "", "*")], [PODS]),
    "subresource not held": Case([rule("get", "", "pods/log")], [PODS]),
    "subresource held": Case([rule("get", "", "pods/log")], [rule("get", "", "pods/log")]),
    "subresource of all held": Case([rule("get", "", "pods/log")], [rule("get", "", "*/log")]),
    "subresource of all given": Case([rule("get", "", "*/log")], [rule("get", "", "pods/log")]),
    "resource by its subresources": Case([PODS], [rule("get list", "", "pods/*")]),
    "names within those held": Case(
        [rule("get", "", "pods", "a")], [rule("get", "", "pods", "a b")]
    ),
    "names beyond those held": Case(
        [rule("get", "", "pods", "a b")], [rule("get", "", "pods", "a")]
    ),
    "names held in two rules": Case(
        [rule("get", "", "pods", "a b")],
        [rule("get", "", "pods", "a"), rule("get", "", "pods", "b")],
    ),
    "all names given, one held": Case([PODS], [rule("get list", "", "pods", "a")]),
    "names given, all held": Case([rule("get", "", "pods", "a")], [PODS]),
    "several groups and resources": Case(
        [{"verbs": ["get"], "apiGroups": ["", "apps"], "resources": ["pods", "deployments"]}],
        [{"verbs": ["get"], "apiGroups": ["apps"], "resources": ["deployments", "pods"]}],
    ),
    "aggregation without everything": Case([], [PODS], more=AGGREGATED),
    "aggregation with everything": Case([], EVERYTHING, more=AGGREGATED),
    "aggregation with all resources only": Case([], [rule("*", "*", "*")], more=AGGREGATED),
    "aggregation with escalate": Case(
        [], [rule("escalate", RBAC, "clusterroles")], more=AGGREGATED
    ),
    "everything given and held": Case(EVERYTHING[:1], EVERYTHING),
    "escalate": Case([PODS], [rule("escalate", RBAC, "roles clusterroles")]),
    "escalate in the namespace": Case([PODS], namespaced=[rule("escalate", RBAC, "roles")]),
    "escalate for the role's name": Case(
        [PODS], [rule("escalate", RBAC, "roles clusterroles", "given")]
    ),
}

URL_CASES = {
    "url not held": Case([urls("get", "/metrics")]),
    "url held": Case([urls("get", "/metrics")], [urls("get", "/metrics")]),
    "url below one held": Case([urls("get", "/a/b")], [urls("get", "/a/*")]),
    "urls below, one held": Case([urls("get", "/a/*")], [urls("get", "/a/b")]),
    "all urls held": Case([urls("get", "/a/*")], [urls("get", "*")]),
    "url with a verb short": Case([urls("get post", "/a")], [urls("get", "/a")]),
    "resources are no urls": Case([urls("get", "/a")], [rule("*", "*", "*")]),
}


CLUSTER_CASES: dict[str, Case] = {**CASES, **URL_CASES}


@pytest.mark.parametrize("case", CLUSTER_CASES.values(), ids=CLUSTER_CASES)
async def test_cluster_role(account: Holder, case: Case) -> None:
    await account.give([MAY_WRITE, *case.cluster], case.namespaced)
    await agrees(account, role("given", *case.gives, **case.more))


NAMESPACED = {name: case for name, case in CASES.items() if not case.more}


@pytest.mark.parametrize("case", NAMESPACED.values(), ids=NAMESPACED)
async def test_role(account: Holder, case: Case) -> None:
    await account.give([MAY_WRITE, *case.cluster], case.namespaced)
    await agrees(account, role("given", *case.gives, namespace=account.account.namespace))


async def agrees(holder: Holder, obj: KubeObject) -> None:
    """We let an object pass exactly if the API server does; create itself is granted to all."""
    verdict = await examine(holder.client, holder.account, [obj], EXTENSION)
    missing = {p for p in verdict.missing if not _is_about(p, obj)}
    assert await holder.may_create(obj) == (not missing and not verdict.errors), missing


def _is_about(permission: Permission, obj: KubeObject) -> bool:
    """Whether a permission is needed for the object itself, not for what it gives."""
    plural = gvk_of(obj).kind.lower() + "s"
    return permission.resource in (plural, "clusterextensions/finalizers")


# Escalation: bindings


@dataclass(frozen=True, slots=True)
class Binding:
    """What the account holds, and to which role a binding refers; GIVEN exists and gives PODS."""

    kind: str
    referred: str
    namespaced: bool
    cluster: list[Json] = field(default_factory=list)
    here: list[Json] = field(default_factory=list)


GIVEN, ABSENT = "given-to-bind", "no-such-role"
BIND_CLUSTER_ROLES, BIND_ROLES = rule("bind", RBAC, "clusterroles"), rule("bind", RBAC, "roles")
BINDINGS = {
    "cluster role, nothing held": Binding("ClusterRole", GIVEN, False),
    "cluster role, rules held": Binding("ClusterRole", GIVEN, False, [PODS]),
    "cluster role, rules held here only": Binding("ClusterRole", GIVEN, False, here=[PODS]),
    "cluster role, bind": Binding("ClusterRole", GIVEN, False, [BIND_CLUSTER_ROLES]),
    "cluster role, bind here only": Binding("ClusterRole", GIVEN, False, here=[BIND_CLUSTER_ROLES]),
    "cluster role, bind for roles": Binding("ClusterRole", GIVEN, False, [BIND_ROLES]),
    "cluster role, bind by name": Binding(
        "ClusterRole", GIVEN, False, [rule("bind", RBAC, "clusterroles", GIVEN)]
    ),
    "cluster role, bind another": Binding(
        "ClusterRole", GIVEN, False, [rule("bind", RBAC, "clusterroles", "other")]
    ),
    "cluster role, escalate": Binding(
        "ClusterRole", GIVEN, False, [rule("escalate", RBAC, "clusterroles")]
    ),
    "absent cluster role": Binding("ClusterRole", ABSENT, False, EVERYTHING[1:]),
    "absent cluster role, bind": Binding("ClusterRole", ABSENT, False, [BIND_CLUSTER_ROLES]),
    "cluster role here, nothing held": Binding("ClusterRole", GIVEN, True),
    "cluster role here, rules held here": Binding("ClusterRole", GIVEN, True, here=[PODS]),
    "cluster role here, bind here": Binding("ClusterRole", GIVEN, True, here=[BIND_CLUSTER_ROLES]),
    "role, nothing held": Binding("Role", GIVEN, True),
    "role, rules held here": Binding("Role", GIVEN, True, here=[PODS]),
    "role, bind here": Binding("Role", GIVEN, True, here=[BIND_ROLES]),
    "role, bind for cluster roles": Binding("Role", GIVEN, True, here=[BIND_CLUSTER_ROLES]),
    "absent role": Binding("Role", ABSENT, True),
    "absent role, bind": Binding("Role", ABSENT, True, here=[BIND_ROLES]),
}


@pytest.fixture(scope="module")
def _roles_to_bind(control_plane: ControlPlane, shared_namespace: str) -> None:
    control_plane.apply([role(GIVEN, PODS), role(GIVEN, PODS, namespace=shared_namespace)])


@pytest.mark.usefixtures("_roles_to_bind")
@pytest.mark.parametrize("case", BINDINGS.values(), ids=BINDINGS)
async def test_binding(account: Holder, case: Binding) -> None:
    await account.give([MAY_WRITE, *case.cluster], case.here)
    where = account.account.namespace if case.namespaced else ""
    await agrees(account, binding("given", case.kind, case.referred, account.account, where))


async def test_a_role_that_is_nowhere_is_named(holder: Holder) -> None:
    finalizers = rule("update", "olm.operatorframework.io", "clusterextensions/finalizers")
    await holder.give([rule("*", RBAC, "clusterrolebindings"), finalizers])
    lost = binding("lost", "ClusterRole", ABSENT, holder.account)
    assert await missing_permissions(holder.client, holder.account, [lost], EXTENSION) == (
        'pre-authorization failed: permission evaluation error: ClusterRoleBinding "lost" refers '
        f'to ClusterRole "{ABSENT}", which is neither in the cluster nor in the bundle'
    )


# Whole bundles


BUNDLES = (
    "argocd-operator/0.18.0",
    "external-secrets-operator/0.11.0",
    "kube-green/0.7.0",
    "prometheus/0.56.3",
)
"""Others, as strimzi, are installed with exactly what is reported by test_least_rights.py."""


def rendered(folder: Path, namespace: str) -> list[KubeObject]:
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    bundle = load(files)
    watched = None if "AllNamespaces" in bundle.csv.install_modes else namespace
    config = {"watchNamespace": watched} if watched else None
    request = InstallRequest(
        install_namespace=namespace,
        config=config,
        certificate_provider=CertificateProvider.SELF,
    )
    return install_objects(bundle, request)


def served(objects: Iterable[KubeObject]) -> list[KubeObject]:
    """Without what only other operators' definitions make known."""
    foreign = ("monitoring.coreos.com", "cert-manager.io", "console.openshift.io")
    return [obj for obj in objects if gvk_of(obj).group not in foreign]


def as_rules(permissions: Iterable[Permission]) -> list[Json]:
    """One rule for each resource and name, as an administrator would write them."""
    verbs: dict[tuple[str, str, str, str], list[str]] = {}
    for p in sorted(permissions):
        verbs.setdefault((p.group, p.resource, p.name, p.url), []).append(p.verb)
    return [
        urls(" ".join(words), url) if url else rule(" ".join(words), group, resource, name)
        for (group, resource, name, url), words in verbs.items()
    ]


async def granted_exactly(holder: Holder, missing: set[Permission]) -> tuple[list[Json], ...]:
    assert {p.namespace for p in missing} <= {"", holder.account.namespace}
    given = (
        as_rules(p for p in missing if not p.namespace),
        as_rules(p for p in missing if p.namespace),
    )
    await holder.give(*given)
    return given


ASKED = 7
"""Of the permissions that all packages need the API server is asked for each seventh; `make faults`
asks for all."""
SAMPLED = 20
"""So many permissions of a bundle are asked for before they are given."""
ESCALATE = Permission("", "escalate", RBAC, "clusterroles")
"""Some bundles hand it out; who has it need hold nothing else of what they hand out."""


@pytest.mark.corpus
@pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")
@pytest.mark.parametrize("bundle", BUNDLES)
async def test_what_is_reported_is_what_installing_needs(
    holder: Holder, corpus: Path, bundle: str
) -> None:
    """Granting exactly the report makes every request of an install succeed."""
    objects = served(rendered(corpus / "bundles" / bundle, holder.account.namespace))
    missing = await holder.lacks(*objects)
    asked = sorted(permission for permission in missing if not permission.url)
    for permission in asked[:: max(1, len(asked) // SAMPLED)]:
        assert not await holder.is_allowed(permission), permission
    cluster, namespaced = await granted_exactly(holder, without_implied(missing))
    assert await holder.lacks(*objects) == set()
    await install_and_remove(holder, objects)
    for rules in (cluster, namespaced):
        for left_out in rules[:: max(1, len(rules) // 4)]:
            rest = [r for r in rules if r is not left_out]
            given = (rest, namespaced) if rules is cluster else (cluster, rest)
            await holder.give(*given)
            assert await holder.lacks(*objects) or await holder.is_allowed(ESCALATE)


@pytest.mark.corpus
@pytest.mark.parametrize("each", [ASKED, pytest.param(1, marks=pytest.mark.faults)])
async def test_requests_are_judged_as_the_api_server_does(
    each: int, holder: Holder, corpus: Path
) -> None:
    """Over the newest bundle of each package, for an account that has every other right."""
    namespace = holder.account.namespace
    needs = []
    for package in sorted((corpus / "bundles").iterdir()):
        try:
            objects = served(rendered(max(package.iterdir()), namespace))
        except OLMError:
            continue  # it cannot be installed at all
        needs.append(needs_of(objects, guessed_kinds(objects), EXTENSION))
    assert len(needs) > 15
    whole = Needs(
        actions=tuple(dict.fromkeys(a for n in needs for a in n.actions)),
        grants=tuple(g for n in needs for g in n.grants),
        unserved=(),
    )
    needed = least(whole)
    cluster = as_rules(p for p in needed if not p.namespace)[::2]
    here = as_rules(p for p in needed if p.namespace == namespace)[::2]
    await holder.give(cluster, here)
    held = await _held(holder)
    missing = judge(whole, held, {}).missing
    planned = {p for a in whole.actions for p in uncovered(a.namespace, a.rule, ())}
    asked = sorted(p for p in planned | missing if not p.url)
    assert 200 < len(missing) < len(asked) - 200
    asked = asked[::each]
    slots = asyncio.Semaphore(16)

    async def agrees(permission: Permission) -> bool:
        async with slots:
            return await holder.is_allowed(permission) == (permission not in missing)

    answers = await asyncio.gather(*map(agrees, asked))
    assert [p for p, same in zip(asked, answers, strict=True) if not same] == []


async def _held(holder: Holder) -> Authority:
    """What the account holds, from the roles and bindings of the cluster."""
    client = holder.client
    kinds = ("Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding")
    lists = [await client.list_all(GVK(RBAC, "v1", kind)) for kind in kinds]
    objects = [
        {**obj, "apiVersion": f"{RBAC}/v1", "kind": kind}
        for kind, (found, _) in zip(kinds, lists, strict=True)
        for obj in found
    ]
    return authority_of(holder.account, objects)


async def install_and_remove(holder: Holder, objects: list[KubeObject]) -> None:
    """All that the controller does with an object, as the account.

    Definitions, of which some take seconds, are written as dry runs: rights are judged alike.
    """
    acting, made = holder.acting, []
    rank = ("Namespace", "ServiceAccount", "CustomResourceDefinition", "ClusterRole", "Role")
    ordered = sorted(objects, key=lambda o: (*(o["kind"] != kind for kind in rank),))
    try:
        for obj in ordered:
            made.append(obj)
            dry_run = obj["kind"] == "CustomResourceDefinition"
            await acting.create(obj, field_manager=MANAGER, dry_run=dry_run)
            where = gvk_of(obj), name_of(obj), namespace_of(obj)
            assert await acting.find(*where, metadata_only=True) or dry_run
            labelled = copy.deepcopy(obj)
            labelled["metadata"].setdefault("labels", {})["seen"] = "yes"
            await acting.apply(labelled, field_manager=MANAGER, dry_run=dry_run)
            await acting.list_all(gvk_of(obj), namespace_of(obj), labels="seen=yes")
    finally:
        for obj in made:
            await acting.delete(obj)


async def test_the_documents_form(holder: Holder) -> None:
    namespace = holder.account.namespace
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "operator", "namespace": namespace},
    }
    service = {**deployment, "apiVersion": "v1", "kind": "Service"}
    await holder.give(
        [rule("update", "olm.operatorframework.io", "clusterextensions/finalizers", EXTENSION)],
        [
            rule("list watch", "apps", "deployments"),
            rule("*", "apps", "deployments", "operator"),
            rule("create get update patch delete", "", "services"),
        ],
    )
    objects = [deployment, service]
    text = await missing_permissions(holder.client, holder.account, objects, EXTENSION)
    assert text == (
        "pre-authorization failed: service account requires the following permissions to manage "
        "cluster extension:\n"
        f'  Namespace:"{namespace}" APIGroups:["apps"] Resources:[deployments] Verbs:[create]\n'
        f'  Namespace:"{namespace}" APIGroups:[] Resources:[services] Verbs:[list,watch]'
    )


# Definitions


async def test_definitions_are_compared_with_those_in_the_cluster(
    client: KubeClient, holder: Holder
) -> None:
    crd = _installable(with_field({"type": "string"}))
    assert await unsafe_definitions(client, [crd]) is None
    await holder.make(crd)
    await _until_served(client, GVK("test.example.com", "v1", "Sample"))
    assert await unsafe_definitions(client, [crd]) is None
    other = _installable(with_field({"type": "integer"}))
    assert await unsafe_definitions(client, [other, {"apiVersion": "v1", "kind": "Pod"}]) == (
        'validating upgrade for CRD "samples.test.example.com" failed: CustomResourceDefinition '
        "samples.test.example.com failed upgrade safety validation. "
        '"ChangeValidator" validation failed: version "v1", field "^.spec.field": '
        'type changed from "string" to "integer"\n'
        "stored objects of samples.test.example.com as v1: there are none"
    )


async def test_a_definition_goes_only_if_nothing_is_known_to_be_stored_of_it(
    client: KubeClient, holder: Holder, owned: KubeObject
) -> None:
    owner = owned["metadata"]["ownerReferences"][0]["uid"]
    name = name_of(owned)

    async def reported(acting: KubeClient = client, owner: str = owner) -> str:
        who = Owner(owners.APPLIER, "ConfigMap", "any", owner, (), 1)
        return await unsafe_definitions(acting, [], [owned], who) or ""

    assert await reported() == ""
    await holder.make(_sample_of(owned, holder.account.namespace))
    assert (await reported()).endswith(
        '"NoStoredObjectRemoved" validation failed: the bundle that comes does not have it, and '
        f"1 object would be deleted with it: {holder.account.namespace}/one"
    )
    assert await reported(owner="somebody else") == ""
    unknown = "how many objects would be deleted with it is not known: "
    assert f'{unknown}customresourcedefinitions.apiextensions.k8s.io "{name}" is forb' in (
        await reported(holder.acting)
    )
    await holder.give([rule("get", "apiextensions.k8s.io", "customresourcedefinitions")])
    found = await reported(holder.acting)
    assert f"{unknown}{name} is forbidden" in found
    assert 'cannot list resource "samples"' in found


async def test_a_stored_version_is_served_while_there_are_objects(
    client: KubeClient, holder: Holder, owned: KubeObject
) -> None:
    schema = {"type": "object"}
    versions = [version("v2", schema), version("v1", schema, served=False)]
    new = _installable(definition(*versions, name=name_of(owned)))
    assert await unsafe_definitions(client, [new]) is None
    await holder.make(_sample_of(owned, holder.account.namespace))
    found = await unsafe_definitions(client, [new])
    assert found is not None
    assert found.endswith(
        '"NoStoredVersionUnserved" validation failed: stored version "v1" would no longer be '
        f"served, and 1 object may be stored in it: {holder.account.namespace}/one"
    )


@pytest_asyncio.fixture
async def owned(client: KubeClient, holder: Holder) -> KubeObject:
    """A definition with one version, in the cluster, that the holder's namespace owns."""
    place = await client.get(GVK("", "v1", "Namespace"), holder.account.namespace)
    reference = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "name": name_of(place),
        "uid": place["metadata"]["uid"],
        "controller": True,
    }
    group = f"{holder.account.namespace}.example.com"
    versions = [version("v1", {"type": "object"})]
    crd = _installable(definition(*versions, name=f"samples.{group}"))
    crd["metadata"]["ownerReferences"] = [reference]
    await holder.make(crd)
    await _until_served(client, GVK(group, "v1", "Sample"))
    return crd


def _sample_of(crd: KubeObject, namespace: str) -> KubeObject:
    return {
        "apiVersion": f"{crd['spec']['group']}/v1",
        "kind": "Sample",
        "metadata": {"name": "one", "namespace": namespace},
    }


async def _until_served(client: KubeClient, kind: GVK) -> None:
    for _ in range(1000):
        with contextlib.suppress(NotFoundError):
            await client.resource(kind)
            return
        await asyncio.sleep(0.01)
    raise TimeoutError(f"{kind} is not served")


def _installable(crd: KubeObject) -> KubeObject:
    names = {"plural": "samples", "singular": "sample", "kind": "Sample", "listKind": "SampleList"}
    result: KubeObject = json.loads(json.dumps(crd))
    result["spec"]["names"] = names
    return result


@pytest.mark.corpus
@pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")
@pytest.mark.parametrize("bundle", ["prometheus/0.56.3", "flux/2.3.0", "kepler-operator/0.24.0"])
async def test_what_is_installed_may_be_installed_again(
    client: KubeClient, shared_namespace: str, corpus: Path, bundle: str
) -> None:
    """Through the API server and back, a definition is the same to the check.

    What it answers to a dry run is what it would store; to serve two dozen takes seconds.
    """
    objects = rendered(corpus / "bundles" / bundle, shared_namespace)
    definitions = [obj for obj in objects if obj["kind"] == "CustomResourceDefinition"]
    assert definitions
    for crd in definitions:
        answered = await client.apply(crd, field_manager=MANAGER, dry_run=True)
        assert check(answered, crd) == ()


async def test_a_definition_that_may_not_be_read_is_an_error(holder: Holder) -> None:
    crd = _installable(with_field({"type": "string"}))
    with pytest.raises(ApiError, match=r"samples\.test\.example\.com"):
        await unsafe_definitions(holder.acting, [crd])
