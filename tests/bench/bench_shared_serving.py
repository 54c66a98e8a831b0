"""Measures the shared serving of catalogs: four of 330 packages, as generated for catalogd.

The registry is real. Prints from nothing to served, a start with what is on disk, memory of the
process that serves, and what clients wait for.

    python -m tests.bench.bench_shared_serving
"""

import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import grpc

from e2e.harness.images import catalog_image
from e2e.harness.registry import Registry
from olm_catalogs.registry import registry_pb2 as messages
from olm_classic.io.catalog_listener import Ports
from olm_classic.io.shared_serving import Pulls, SharedServing, Wanted
from olm_runtime.clocks import utc_now
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.cluster_access import ClusterAccess
from olm_runtime.memory import share_one_arena
from olm_runtime.registry.settings import PullSettings
from tests.bench.bench_catalogd import BUNDLES_PER_PACKAGE, generate
from tests.bench.catalogd.usage import memory, timed

CATALOGS, MEGABYTES = 4, 132
REQUESTS, STREAMS = 2000, 5


async def serve(folder: Path, authorities: Path, images: list[str]) -> None:
    """Serves until standard input ends; prints the ports once all catalogs are served."""
    ready = asyncio.Event()

    async def settings() -> PullSettings:
        return PullSettings(cas_dir=authorities)

    async with KubeClient.connect(ClusterAccess(server="https://127.0.0.1:1")) as client:
        serving = SharedServing(
            Pulls(client=client, cache_dir=folder, settings=settings),
            Ports("127.0.0.1", (0,)),
            lambda _: ready.set(),
            clock=utc_now,
        )
        wanted = [
            Wanted(key=("olm", f"catalog-{number}"), uid="u", image=image)
            for number, image in enumerate(images)
        ]
        while True:
            found = [await serving.ensure(each) for each in wanted]
            if problems := [each.problem for each in found if each.problem]:
                sys.exit("\n".join(problems))
            if all(each.port for each in found):
                break
            await ready.wait()
            ready.clear()
        print(json.dumps([each.port for each in found]), flush=True)
        await asyncio.to_thread(sys.stdin.read)
        await serving.close()


async def started(*arguments: str) -> asyncio.subprocess.Process:
    """The process that serves."""
    pipe = asyncio.subprocess.PIPE
    module = "tests.bench.bench_shared_serving"
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, "serve", *arguments, stdin=pipe, stdout=pipe
    )


async def ports_of(process: asyncio.subprocess.Process) -> list[int]:
    """Where it serves, as soon as it does."""
    if process.stdout is None:
        raise RuntimeError("the process has no output")
    ports: list[int] = json.loads(await process.stdout.readline())
    return ports


async def p50(count: int, work: Callable[[int], Awaitable[Any]]) -> float:
    """Milliseconds that a call takes, the median."""
    took = []
    for number in range(count):
        begin = time.perf_counter()
        await work(number)
        took.append((time.perf_counter() - begin) * 1000)
    return round(statistics.median(took), 2)


async def answers(port: int) -> dict[str, float]:
    """What a client waits for, in milliseconds."""
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        package = channel.unary_unary("/api.Registry/GetPackage")
        bundle = channel.unary_unary("/api.Registry/GetBundle")
        bundles = channel.unary_stream("/api.Registry/ListBundles")

        def name(number: int) -> str:
            return f"package-{number % 200}"

        async def listed(_: int) -> None:
            found = [each async for each in bundles(b"")]
            if len(found) < BUNDLES_PER_PACKAGE * 200:
                raise RuntimeError(f"only {len(found)} bundles are listed")

        def head(number: int) -> bytes:
            request = messages.GetBundleRequest(
                pkgName=name(number), channelName="stable", csvName=f"{name(number)}.v1.20.0"
            )
            serialized: bytes = request.SerializeToString()
            return serialized

        def named(number: int) -> bytes:
            serialized: bytes = messages.GetPackageRequest(name=name(number)).SerializeToString()
            return serialized

        return {
            "GetPackage, p50 ms": await p50(REQUESTS, lambda n: package(named(n))),
            "GetBundle, p50 ms": await p50(REQUESTS, lambda n: bundle(head(n))),
            "ListBundles, p50 ms": await p50(STREAMS, listed),
        }


async def bench(work: Path, registry: Registry) -> dict[str, Any]:
    """All figures."""
    image = catalog_image({"catalog.json": b"".join(generate(MEGABYTES))})
    images = [
        registry.push(image, f"bench-{number}", tag="v1").tag_reference
        for number in range(CATALOGS)
    ]
    authorities = registry.ca_file.parent if registry.ca_file else work
    arguments = (str(work / "cache"), str(authorities), *images)
    found: dict[str, Any] = {}
    for what in ("from nothing", "from disk"):
        process = await started(*arguments)

        async def until_served() -> None:
            found["ports"] = await ports_of(process)  # noqa: B023 - called at once

        took = await timed(process.pid, until_served)
        found |= {f"{what}, {key}": value for key, value in took.items()}
        if what == "from disk":
            found["resident MiB"] = round(memory(process.pid))
            for port in found["ports"]:
                found |= await answers(port)
            found["resident MiB after the requests"] = round(memory(process.pid))
        await process.communicate(b"")
    del found["ports"]
    return found


def main() -> None:
    """Prints the figures."""
    if sys.argv[1:2] == ["serve"]:
        share_one_arena()
        folder, authorities, *images = sys.argv[2:]
        asyncio.run(serve(Path(folder), Path(authorities), images))
        return
    with tempfile.TemporaryDirectory() as folder, Registry(Path(folder, "registry")) as registry:
        for name, value in asyncio.run(bench(Path(folder), registry)).items():
            print(f"| {name} | {value} |")


if __name__ == "__main__":
    main()
