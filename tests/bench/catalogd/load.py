"""Generates load: with wrk where it is installed, else with clients in Python.

The clients share the machine's cores with the server, so what they cost is lost to it. wrk costs
least; the Python clients take about as much as catalogd itself for small answers.
"""

import asyncio
import json
import os
import random
import shutil
import ssl
import statistics
import subprocess
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import uvloop

PROCESSES = 2
"""Threads of wrk, or client processes."""


@dataclass(frozen=True, slots=True)
class Load:
    """GETs of random `targets` with the header lines `headers`, over kept-alive connections.

    A target is a path; what follows a space is the body of a POST.
    """

    port: int
    ca: str
    targets: tuple[str, ...]
    headers: tuple[str, ...]
    connections: int
    seconds: float


def generator() -> str:
    """What makes the load here."""
    return "wrk" if shutil.which("wrk") else "python"


def measure(load: Load) -> dict[str, Any]:
    """Answers a second, MB a second, and milliseconds at the median and the 99th percentile.

    Raises RuntimeError when answers were not 200 or 304.
    """
    found = _with_wrk(load) if generator() == "wrk" else _with_python(load)
    if found.pop("errors", 0):
        raise RuntimeError(f"not every answer was a success: {load.targets[0]}")
    return found


def _with_wrk(load: Load) -> dict[str, Any]:
    with tempfile.NamedTemporaryFile("w", suffix=".targets") as targets:
        targets.write("\n".join(load.targets) + "\n")
        targets.flush()
        threads = min(load.connections, PROCESSES)
        command = ["wrk", f"-t{threads}", f"-c{load.connections}", f"-d{load.seconds}s"]
        for header in load.headers:
            command += ["-H", header]
        script = str(Path(__file__).with_name("load.lua"))
        command += ["--timeout", "30s", "-s", script, f"https://localhost:{load.port}"]
        environment = {**os.environ, "TARGETS": targets.name}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def _with_python(load: Load) -> dict[str, Any]:
    workers = min(load.connections, PROCESSES)
    each = Load(
        load.port,
        load.ca,
        load.targets,
        load.headers,
        max(1, load.connections // workers),
        load.seconds,
    )
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        list(pool.map(abs, range(workers)))  # started before anything is timed
        started = time.perf_counter()
        results = list(pool.map(_run_clients, [each] * workers))
        took = time.perf_counter() - started
    times = sorted(t for found, _ in results for t in found)
    return {
        "per_second": round(len(times) / took, 1),
        "mb_per_second": round(sum(size for _, size in results) / took / 1e6, 1),
        "p50_ms": round(statistics.median(times) * 1000, 2),
        "p99_ms": round(times[int(len(times) * 0.99)] * 1000, 2),
    }


def _run_clients(load: Load) -> tuple[list[float], int]:
    """Latencies in seconds and bytes of bodies, of one client process."""
    return uvloop.run(_clients(load))


async def _clients(load: Load) -> tuple[list[float], int]:
    trusted = ssl.create_default_context(cafile=load.ca)
    end = time.perf_counter() + load.seconds
    done = await asyncio.gather(*(_client(load, trusted, end, n) for n in range(load.connections)))
    return [t for times, _ in done for t in times], sum(size for _, size in done)


async def _client(
    load: Load, trusted: ssl.SSLContext, end: float, number: int
) -> tuple[list[float], int]:
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", load.port, ssl=trusted, server_hostname="localhost", limit=4 << 20
    )
    chance = random.Random(number)
    lines = "".join(f"{header}\r\n" for header in load.headers)
    times, size = [], 0
    while time.perf_counter() < end:
        path, _, body = chance.choice(load.targets).partition(" ")
        method, length = ("POST", f"Content-Length: {len(body)}\r\n") if body else ("GET", "")
        head_lines = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{length}{lines}\r\n"
        started = time.perf_counter()
        writer.write(f"{head_lines}{body}".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        if not head.startswith((b"http/1.1 200", b"http/1.1 304")):
            raise RuntimeError(head.decode())
        if head.startswith(b"http/1.1 200"):
            size += await _skip_body(reader, head)
        times.append(time.perf_counter() - started)
    writer.close()
    return times, size


async def _skip_body(reader: asyncio.StreamReader, head: bytes) -> int:
    size = left = int(head.partition(b"content-length: ")[2].split(b"\r\n")[0])
    while left:
        left -= len(await reader.read(min(left, 1 << 20)))
    return size
