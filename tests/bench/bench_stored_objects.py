"""Objects in a cluster under a new definition: how long the preflight asks about them.

Run: python -m tests.bench.bench_stored_objects
"""

import asyncio
import tempfile
import time
from pathlib import Path

from api.objects import GVK, KubeObject
from e2e.harness.controlplane import ControlPlane
from olm_content.crds.stored import Question
from olm_rollout.io.stored_objects import Bounds, examine
from olm_runtime.kube.access import load_access
from olm_runtime.kube.client import KubeClient
from tests.bench.bench_permissions import write
from tests.bench.limits import spread

KIND = GVK("bench.example.com", "v1", "Sample")
COUNTS = 500, 2250
RUNS = 5
BOUNDS = Bounds(objects=10_000, seconds=60)


def schema(**changes: object) -> KubeObject:
    """Of an object with a number and some words; `changes` are those of the number."""
    words = {"type": "array", "maxItems": 10, "items": {"type": "string", "maxLength": 100}}
    fields = {"count": {"type": "integer", **changes}, "words": words}
    spec = {"type": "object", "properties": fields}
    return {"type": "object", "properties": {"spec": spec}}


def definition() -> KubeObject:
    """Of the kind."""
    version = {"name": "v1", "served": True, "storage": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"samples.{KIND.group}"},
        "spec": {
            "group": KIND.group,
            "scope": "Namespaced",
            "names": {"plural": "samples", "singular": "sample", "kind": KIND.kind},
            "versions": [version | {"schema": {"openAPIV3Schema": schema()}}],
        },
    }


def sample(number: int) -> KubeObject:
    """One object."""
    metadata = {"name": f"s{number:04}", "namespace": "default"}
    spec = {"count": number % 7, "words": ["one", "two"]}
    return {"apiVersion": KIND.api_version, "kind": KIND.kind, "metadata": metadata, "spec": spec}


async def measure(control_plane: ControlPlane) -> None:
    """Prints a line for each number of objects."""
    question = Question(f"samples.{KIND.group}", KIND, "v1", schema(maximum=5))
    control_plane.apply([definition()])
    async with KubeClient.connect(load_access(str(control_plane.kubeconfig))) as client:
        there = 0
        for count in COUNTS:
            await write(client, map(sample, range(there, count)))
            there = count
            taken = []
            for _ in range(RUNS):
                started = time.perf_counter()
                (found,) = await examine(client, [question], BOUNDS)
                taken.append(time.perf_counter() - started)
            if found.checked != count or found.stopped:
                raise RuntimeError(f"{found.checked} of {count}: {found.stopped}")
            print(f"{count} objects, {found.invalid} refused: {spread(taken)} s", flush=True)


def main() -> None:
    """Print the figures."""
    with (
        tempfile.TemporaryDirectory(prefix="olmv1-bench-") as folder,
        ControlPlane(Path(folder)) as control_plane,
    ):
        asyncio.run(measure(control_plane))


if __name__ == "__main__":
    main()
