"""What a watch costs, with a connection of its own and with shared ones.

    python -m tests.bench.bench_watches [--watches 1000]

Each is of ConfigMaps of one namespace, opened one after another over TLS on loopback.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import uvloop

from api.objects import GVK
from e2e.harness.components import ControlPlaneOptions
from e2e.harness.controlplane import ControlPlane
from olm_runtime import memory
from olm_runtime.kube import long_answers
from olm_runtime.kube.access import load_access
from olm_runtime.kube.client import KubeClient
from olm_runtime.watch.informer import Hooks, Informer, Selection
from olm_runtime.watch.packed_store import PackedStore
from tests.bench.processes import cpu_seconds, resident_mib, status_mib

CONFIG_MAP = GVK("", "v1", "ConfigMap")


async def watched(kubeconfig: str, count: int) -> dict[str, float]:
    """What so many take in this process."""
    memory.share_one_arena()
    memory.keep_large_blocks_apart()
    async with KubeClient.connect(load_access(kubeconfig)) as client:
        await client.list_all(CONFIG_MAP)
        before, cpu = resident_mib(os.getpid()), time.process_time()
        tasks = []
        for _ in range(count):
            selection = Selection(CONFIG_MAP, "default", metadata_only=True, cached=True)
            informer = Informer(client, selection, PackedStore(), Hooks())
            tasks.append(asyncio.create_task(informer.run()))
            await informer.settled.wait()
        await asyncio.sleep(2.0)
        took, during = time.process_time() - cpu, resident_mib(os.getpid())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(1.0)
        memory.return_unused()
        return {
            "KiB each": round(1024 * (during - before) / count, 1),
            "CPU ms each": round(1000 * took / count, 2),
            "MiB held afterwards": round(resident_mib(os.getpid()) - before, 1),
        }


def run(kubeconfig: str, count: int, alone: int) -> dict[str, float]:
    """In a process of its own, where so many watches have connections of their own."""
    long_answers.FEW = alone
    return uvloop.run(watched(kubeconfig, count))


def main() -> None:
    """Measure both ways, and what they take at the API server."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--watches", type=int, default=1000)
    count = parser.parse_args().watches
    options = ControlPlaneOptions(controller_manager=False)
    for way, alone in (("a connection each", count + 1), ("shared connections", 0)) * 2:
        with (
            tempfile.TemporaryDirectory(prefix="olmv1-bench-") as folder,
            ControlPlane(Path(folder), options=options) as control_plane,
        ):
            time.sleep(5.0)
            server = control_plane.children["kube-apiserver"]
            cpu, most = cpu_seconds(server), status_mib(server, "VmHWM")
            spawn = multiprocessing.get_context("spawn")
            with ProcessPoolExecutor(1, mp_context=spawn) as pool:
                found = pool.submit(run, str(control_plane.kubeconfig), count, alone).result()
            used = 1000 * (cpu_seconds(server) - cpu) / count
            grown = 1024 * (status_mib(server, "VmHWM") - most) / count
            found["API server: CPU ms each"] = round(used, 2)
            found["API server: KiB each"] = round(grown)
            print(way, json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
