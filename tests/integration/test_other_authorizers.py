"""Preauthorization where a webhook authorizer has a say, in front of RBAC.

It lists no rules, so it is asked. It allows what is about ConfigMaps and denies what is about the
Secret "sealed"; of all else it has no opinion.
"""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import pytest_asyncio
import yaml

from api.objects import KubeObject
from e2e.harness.components import ControlPlaneOptions
from e2e.harness.controlplane import ControlPlane
from olm_content.rights import Account, Permission
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ForbiddenError
from operator_controller.io.access import examine

pytestmark = pytest.mark.integration

OWNS = {
    "apiGroups": ["olm.operatorframework.io"],
    "resources": ["clusterextensions/finalizers"],
    "verbs": ["update"],
}
SECRETS = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["*"]}
RBAC = "rbac.authorization.k8s.io"


class Authorizer(BaseHTTPRequestHandler):
    """Answers SubjectAccessReviews about service accounts called installer."""

    def do_POST(self) -> None:
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps({**review, "status": _opinion(review["spec"])}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        pass


def _opinion(spec: dict[str, Any]) -> dict[str, bool]:
    asked = spec.get("resourceAttributes") or {}
    if not spec.get("user", "").endswith(":installer"):
        return {"allowed": False}
    if asked.get("resource") == "secrets" and asked.get("name") == "sealed":
        return {"allowed": False, "denied": True}
    return {"allowed": asked.get("resource") in ("configmaps", "clusterroles")}


@pytest.fixture(scope="module")
def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    folder = tmp_path_factory.mktemp("authorizers")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Authorizer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    config = folder / "webhook.yaml"
    cluster = {"server": f"http://127.0.0.1:{server.server_address[1]}/"}
    config.write_text(
        yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "authorizer", "cluster": cluster}],
                "users": [{"name": "apiserver", "user": {}}],
                "contexts": [
                    {"name": "it", "context": {"cluster": "authorizer", "user": "apiserver"}}
                ],
                "current-context": "it",
            }
        )
    )
    options = ControlPlaneOptions(
        authorizers=("Webhook", "RBAC"),
        apiserver_args=(
            f"--authorization-webhook-config-file={config}",
            "--authorization-webhook-version=v1",
        ),
    )
    with ControlPlane(folder / "control-plane", options=options) as running:
        yield running
    server.shutdown()
    server.server_close()


@pytest_asyncio.fixture
async def account(client: KubeClient, namespace: str) -> Account:
    """An account that RBAC lets own, and do anything with Secrets."""
    found = Account(namespace, "installer")
    subject = {"kind": "ServiceAccount", "name": found.name, "namespace": namespace}
    reference = {"apiGroup": RBAC, "kind": "ClusterRole", "name": namespace}
    role = {"metadata": {"name": namespace}, "rules": [OWNS, SECRETS], "kind": "ClusterRole"}
    binding = {
        "kind": "ClusterRoleBinding",
        "metadata": {"name": namespace},
        "roleRef": reference,
        "subjects": [subject],
    }
    for obj in (role, binding):
        await client.apply({"apiVersion": f"{RBAC}/v1", **obj}, field_manager="test")
    acting = client.as_service_account(namespace, found.name)
    for _ in range(100):
        if (await examine(client, found, [], "ext")).granted:
            return found
    raise TimeoutError(f"{acting} was given its rights in vain")


def obj(kind: str, name: str, namespace: str) -> KubeObject:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": namespace}}


async def may_create(client: KubeClient, account: Account, made: KubeObject) -> bool:
    acting = client.as_service_account(account.namespace, account.name)
    try:
        await acting.create(made, field_manager="test", dry_run=True)
    except ForbiddenError:
        return False
    return True


async def test_what_another_authorizer_allows_counts(client: KubeClient, account: Account) -> None:
    made = obj("ConfigMap", "settings", account.namespace)
    assert await may_create(client, account, made)
    assert (await examine(client, account, [made], "ext")).granted


async def test_what_nobody_allows_is_missing(client: KubeClient, account: Account) -> None:
    made = obj("Service", "web", account.namespace)
    assert not await may_create(client, account, made)
    verdict = await examine(client, account, [made], "ext")
    assert {p.resource for p in verdict.missing} == {"services"}


async def test_what_another_authorizer_denies_is_missing(
    client: KubeClient, account: Account
) -> None:
    open_one, sealed = (obj("Secret", n, account.namespace) for n in ("open", "sealed"))
    assert (await examine(client, account, [open_one], "ext")).granted
    verdict = await examine(client, account, [open_one, sealed], "ext")
    assert verdict.missing == {
        Permission(account.namespace, verb, "", "secrets", "sealed")
        for verb in ("get", "update", "patch", "delete")
    }


async def test_another_authorizer_gives_nobody_rights_to_hand_out(
    client: KubeClient, account: Account
) -> None:
    """It allows to write ClusterRoles, and even any verb on ConfigMaps; RBAC's rules decide."""
    role: KubeObject = {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": f"{account.namespace}-reader"},
        "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}],
    }
    # The authorizer allows every verb on ClusterRoles, "escalate" among them.
    assert await may_create(client, account, role)
    assert (await examine(client, account, [role], "ext")).granted
    narrow = {
        **role,
        "kind": "Role",
        "metadata": {"name": "reader", "namespace": account.namespace},
    }
    assert not await may_create(client, account, narrow)
    missing = (await examine(client, account, [narrow], "ext")).missing
    assert Permission(account.namespace, "get", "", "configmaps") in missing
