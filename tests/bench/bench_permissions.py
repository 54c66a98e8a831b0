"""Preauthorization against a real API server with 2 000 roles: print figures.

Run: PYTHONPATH=. .venv/bin/python tests/bench/bench_permissions.py
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path

from api.objects import KubeObject
from e2e.harness.controlplane import ControlPlane
from olm_content.rights import Account, as_rules, guessed_kinds, installer, least, needs_of
from olm_runtime.kube.access import load_access
from olm_runtime.kube.client import KubeClient
from operator_controller.io.access import missing_permissions

ACCOUNT = Account("big", "big-installer")
DEFINITIONS = 50
ROLES = 2000
RUNS = 15
RBAC = "rbac.authorization.k8s.io/v1"


def obj(api: str, kind: str, name: str, namespace: str = "", **fields: object) -> KubeObject:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **fields}


def bound(
    name: str, rules: Sequence[object], account: str, namespace: str = ""
) -> list[KubeObject]:
    """A role and its binding."""
    kind = "Role" if namespace else "ClusterRole"
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}
    subject = {"kind": "ServiceAccount", "name": account, "namespace": ACCOUNT.namespace}
    return [
        obj(RBAC, kind, name, namespace, rules=rules),
        obj(RBAC, f"{kind}Binding", name, namespace, roleRef=reference, subjects=[subject]),
    ]


def bundle() -> list[KubeObject]:
    """50 definitions, an operator for them, the roles that generators write for each."""
    api = "apiextensions.k8s.io/v1"
    verbs = ["create", "delete", "get", "list", "patch", "update", "watch"]
    definitions = [
        obj(api, "CustomResourceDefinition", f"things{i}.example.com") for i in range(DEFINITIONS)
    ]
    manager = [
        {"apiGroups": ["example.com"], "resources": [f"things{i}{part}"], "verbs": verbs}
        for i in range(DEFINITIONS)
        for part in ("", "/status", "/finalizers")
    ]
    people = [
        obj(RBAC, "ClusterRole", f"things{i}-{who}", rules=manager[3 * i : 3 * i + 2])
        for i in range(DEFINITIONS)
        for who in ("admin", "edit")
    ]
    return [
        *definitions,
        obj("apps/v1", "Deployment", "operator", ACCOUNT.namespace),
        obj("v1", "Service", "operator", ACCOUNT.namespace),
        obj("v1", "ServiceAccount", "operator", ACCOUNT.namespace),
        *bound("manager", manager, "operator"),
        *people,
    ]


def crowd() -> list[KubeObject]:
    """2 000 roles: half of them the account's own, in its namespace and everywhere; none of use."""
    found: list[KubeObject] = []
    for i in range(ROLES):
        rules = [{"apiGroups": [""], "resources": [f"others{i}"], "verbs": ["get", "list"]}]
        account = ACCOUNT.name if i % 2 else f"somebody-{i}"
        found += bound(f"other-{i}", [*rules], account, ACCOUNT.namespace if i % 4 > 1 else "")
    return found


async def write(client: KubeClient, objects: Iterable[KubeObject]) -> None:
    """Applies all of it, side by side."""
    slots = asyncio.Semaphore(32)

    async def one(obj: KubeObject) -> None:
        async with slots:
            await client.apply(obj, field_manager="bench")

    await asyncio.gather(*map(one, objects))


async def milliseconds(what: Callable[[], Awaitable[object]]) -> list[float]:
    taken = []
    for _ in range(RUNS):
        started = time.perf_counter()
        await what()
        taken.append((time.perf_counter() - started) * 1000)
    return taken


def show(name: str, taken: list[float]) -> None:
    print(f"{name:46} median {statistics.median(taken):7.1f} ms  worst {max(taken):7.1f} ms")


async def measure(kubeconfig: Path) -> None:
    objects = bundle()

    async with KubeClient.connect(load_access(str(kubeconfig))) as client:

        async def check() -> str | None:
            return await missing_permissions(client, ACCOUNT, objects, "big")

        account = installer(
            ACCOUNT, as_rules(least(needs_of(objects, guessed_kinds(objects), "big")))
        )
        await write(client, [account[0].obj])
        await write(client, [account[1].obj])
        started = time.perf_counter()
        await check()
        print(
            f"{'first of all, with discovery':46} {(time.perf_counter() - started) * 1000:7.1f} ms"
        )
        show("few roles, nothing granted", await milliseconds(check))
        await write(client, crowd())
        await asyncio.sleep(2)
        show(f"{ROLES} roles, nothing granted", await milliseconds(check))
        await write(client, [document.obj for document in account])
        while await check():
            pass
        show(f"{ROLES} roles, everything granted", await milliseconds(check))
    taken = []
    for _ in range(RUNS):
        started = time.perf_counter()
        least(needs_of(objects, guessed_kinds(objects), "big"))
        taken.append((time.perf_counter() - started) * 1000)
    show("the least rights, written (olm rbac)", taken)


def main() -> None:
    """Print the figures."""
    objects = bundle()
    print(f"{DEFINITIONS} definitions, {len(objects)} objects")
    with (
        tempfile.TemporaryDirectory(prefix="olmv1-bench-") as folder,
        ControlPlane(Path(folder)) as control_plane,
    ):
        asyncio.run(measure(control_plane.kubeconfig))


if __name__ == "__main__":
    main()
