"""Figures of rounds over the manifests of a release, on an empty control plane, and of the program.

Run: python -m tests.bench.bench_cluster_version [--manifests 800] [--rest 420] [--foreign 0]

The release has components of eight manifests each on ten runlevels: namespace, CRD, account, role,
binding, ConfigMap, Service, Deployment. Nothing runs its pods, and nothing is waited for. The
program is given the same manifests on another control plane. `--foreign` is for ConfigMaps of
others on both.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from api.objects import KubeObject, metadata
from cluster_version.io.applying import Applier
from cluster_version.io.rounds import TRIES, Round
from cluster_version.operator.settings import INTERVAL
from cluster_version.payload.manifests import Manifest
from cluster_version.payload.task_graph import State
from config.generate import CLUSTER_VERSION_CRD_FOLDER
from e2e.harness.controlplane import ControlPlane
from e2e.harness.registry import Registry
from e2e.olm.cluster_updates import ClusterUpdates
from e2e.olm.releases import PROFILE, ReleaseSpec
from olm_runtime.kube.access import load_access
from olm_runtime.kube.client import KubeClient
from tests.bench.processes import cpu_seconds, status_mib

RUNLEVELS, IN_COMPONENT = 10, 8
AT_ONCE = 50
SCHEMA = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def main() -> None:
    """Measures and prints a table, then the same as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--manifests", type=int, default=800)
    parser.add_argument("--rest", type=float, default=420.0, help="seconds for which it is at rest")
    parser.add_argument("--foreign", type=int, default=0, help="ConfigMaps of others")
    given = parser.parse_args()
    release = list(manifests(given.manifests // IN_COMPONENT))
    with tempfile.TemporaryDirectory(prefix="olmv1-bench-") as name:
        with ControlPlane(Path(name, "rounds")) as control_plane:
            control_plane.kubectl("apply", "-f", str(CLUSTER_VERSION_CRD_FOLDER))
            control_plane.kubectl("wait", "--for=condition=Established", "crd", "--all")
            asyncio.run(fill(control_plane, given.foreign))
            figures = asyncio.run(measure(control_plane, release))
        with ControlPlane(Path(name, "program")) as control_plane:
            asyncio.run(fill(control_plane, given.foreign))
            figures |= of_program(Path(name), control_plane, release, given.rest)
    for key, value in figures.items():
        print(f"{key:64} {value:8.1f}")
    print(json.dumps(figures))


async def fill(control_plane: ControlPlane, count: int) -> None:
    """Makes objects that no release has."""
    async with KubeClient.connect(load_access(str(control_plane.kubeconfig))) as client:
        for start in range(0, count, AT_ONCE):
            names = (f"foreign-{number}" for number in range(start, min(start + AT_ONCE, count)))
            maps = (
                made("v1", "ConfigMap", name, "default", data={"a": "b" * 500}) for name in names
            )
            await asyncio.gather(*(client.create(each, field_manager="bench") for each in maps))


async def measure(control_plane: ControlPlane, release: list[Manifest]) -> dict[str, float]:
    async with KubeClient.connect(load_access(str(control_plane.kubeconfig))) as client:
        version = {
            "apiVersion": "config.openshift.io/v1",
            "kind": "ClusterVersion",
            "metadata": {"name": "version"},
            "spec": {"clusterID": "11111111-2222-3333-4444-555555555555"},
        }
        owner = await client.apply(version, field_manager="bench")
        applier = Applier(client, metadata(owner)["uid"])
        figures: dict[str, float] = {"manifests": len(release)}
        for state in (State.INITIALIZING, State.UPDATING, State.RECONCILING):
            began, used, asked = time.monotonic(), time.process_time(), client.answers.total()
            done = Round(release, state, applier, nothing_to_wait_for, TRIES[state])
            errors = await done.run()
            if errors:
                raise errors[0]
            figures |= {
                f"{state}, s": time.monotonic() - began,
                f"{state}, processor time, s": time.process_time() - used,
                f"{state}, requests": client.answers.total() - asked,
                f"{state}, objects written": done.written,
            }
    return figures


def of_program(
    folder: Path, control_plane: ControlPlane, release: list[Manifest], rest: float
) -> dict[str, float]:
    """Of cluster-version-operator with its own intervals between rounds."""
    spec = ReleaseSpec("1.0.0", {each.file.name: included(each.object) for each in release})
    with (
        Registry(folder / "registry") as registry,
        ClusterUpdates(folder / "operator", control_plane, registry) as cluster,
    ):
        cluster.install()
        began = time.monotonic()
        cluster.start(spec, f"--round-interval={INTERVAL}")
        cluster.report(spec.version)
        cluster.wait_condition("Progressing", "False", timeout=rest)
        level, program = time.monotonic() - began, cluster.program
        assert program is not None
        used = cpu_seconds(program)
        time.sleep(rest)
        return {
            "program, from its start until level, s": level,
            "program until level, processor time, s": used,
            "program at rest, % of a core": 100 * (cpu_seconds(program) - used) / rest,
            "program, resident, MiB": status_mib(program, "VmRSS"),
            "program, most resident, MiB": status_mib(program, "VmHWM"),
        }


def included(obj: KubeObject) -> KubeObject:
    return {**obj, "metadata": {**obj["metadata"], "annotations": PROFILE}}


async def nothing_to_wait_for(_manifest: Manifest, _live: KubeObject | None) -> None:
    """Every manifest is well as soon as it is applied."""


def manifests(components: int) -> Iterator[Manifest]:
    for number in range(components):
        level = number * RUNLEVELS // components * 10
        for place, obj in enumerate(component(f"component-{number}")):
            yield Manifest(f"0000_{level:02}_component-{number}_{place:02}.yaml", obj)


def component(name: str) -> list[KubeObject]:
    labels = {"app": name}
    container = {"name": "operator", "image": "example.com/operator:1", "ports": [port(8443)]}
    pod = {"serviceAccountName": "operator", "containers": [container]}
    template = {"metadata": {"labels": labels}, "spec": pod}
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"]}]
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
    subjects = [{"kind": "ServiceAccount", "name": "operator", "namespace": name}]
    rbac = "rbac.authorization.k8s.io/v1"
    service = {"selector": labels, "ports": [{"name": "https", "port": 443, "targetPort": 8443}]}
    workload = {"selector": {"matchLabels": labels}, "template": template}
    return [
        made("v1", "Namespace", name, ""),
        definition(f"{name}.example.com"),
        made("v1", "ServiceAccount", "operator", name),
        made(rbac, "ClusterRole", name, "", rules=rules),
        made(rbac, "ClusterRoleBinding", name, "", roleRef=role, subjects=subjects),
        made("v1", "ConfigMap", "settings", name, data={"settings.yaml": "level: 1\n" * 100}),
        made("v1", "Service", "operator", name, spec=service),
        made("apps/v1", "Deployment", "operator", name, spec=workload),
    ]


def port(number: int) -> dict[str, object]:
    return {"name": "https", "containerPort": number}


def definition(group: str) -> KubeObject:
    served = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": SCHEMA}}
    spec = {
        "group": group,
        "scope": "Namespaced",
        "names": {"plural": "things", "kind": "Thing"},
        "versions": [served],
        "conversion": {"strategy": "None"},
    }
    api_version = "apiextensions.k8s.io/v1"
    return made(api_version, "CustomResourceDefinition", f"things.{group}", "", spec=spec)


def made(api_version: str, kind: str, name: str, namespace: str, **parts: object) -> KubeObject:
    meta = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": api_version, "kind": kind, "metadata": meta, **parts}


if __name__ == "__main__":
    main()
