"""Measures catalogd: ingest, answers, restart. Prints a table; `--json FILE` writes the figures.

Everything is real: API server, registry, TLS on loopback. The catalog is generated from a seed,
with blobs as large and as alike as those of real catalogs; `--folder` takes another one. Load
comes from wrk where it is installed. `--program` measures another catalogd in the same way.

    python -m tests.bench.bench_catalogd --megabytes 132
    python -m tests.bench.bench_catalogd --megabytes 1000 --only small ingest
    python -m tests.bench.bench_catalogd --only answers --cases "all 304"
    python -m tests.bench.bench_catalogd --megabytes 132 --program PATH/TO/upstream/catalogd
"""

import argparse
import asyncio
import json
import os
import random
import statistics
import string
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlencode

import httpx
import yaml

from api.objects import condition
from e2e.harness.controlplane import ControlPlane
from e2e.harness.images import catalog_image
from e2e.harness.process import ChildProcess
from e2e.harness.registry import Registry
from e2e.olm.api import OLM
from e2e.olm.manifests import catalog
from e2e.olm.programs import Olm
from tests.bench.catalogd.load import Load, generator, measure
from tests.bench.catalogd.other import other_catalogd
from tests.bench.catalogd.usage import at_rest, memory, timed
from tests.bench.processes import pid_of

NAME = "bench"
SEED = 20260101
MEAN_BLOB = 19_000
BUNDLES_PER_PACKAGE = 21
ROUND_SECONDS = 3
SERVING_SECONDS = 600.0
OTHERS = {"bench-two": 60, "bench-three": 60, "bench-four": 60}
"""Catalogs beside the one that is measured when restarting, in MB of indented JSON."""
WORDS_ALIKE, WORDS_OWN = 1 / 9, 1 / 47.5
"""Of a bundle, by its bytes."""
SMALL, SMALL_MEGABYTES, SMALL_BLOB, SMALL_SECONDS = 6, 0.9, 1_650, 1.0
"""New small catalogs, about 400 bundles each, one after the other, so many seconds apart."""
PARTS = ("small", "ingest", "answers", "restart")
"""What may be chosen; the catalog is ingested in any case."""
SCHEMAS = ("olm.package", "olm.channel", "olm.bundle")


def generate(megabytes: float, blob: int = MEAN_BLOB) -> Iterator[bytes]:
    """FBC as indented JSON; bundles of a package repeat most of their text, as versions do.

    `blob` is how large they are, in bytes.
    """
    chance = random.Random(SEED)
    letters = string.ascii_lowercase
    words = ["".join(chance.choices(letters, k=chance.randint(3, 11))) for _ in range(4000)]
    size, number = 0, 0
    while size < megabytes * 1_000_000:
        package = f"package-{number}"
        common = " ".join(chance.choices(words, k=int(blob * WORDS_ALIKE)))
        documents: list[dict[str, Any]] = [
            {"schema": "olm.package", "name": package, "defaultChannel": "stable"},
            {
                "schema": "olm.channel",
                "package": package,
                "name": "stable",
                "entries": [_entry(package, n) for n in range(BUNDLES_PER_PACKAGE)],
            },
        ]
        for n in range(BUNDLES_PER_PACKAGE):
            own = " ".join(chance.choices(words, k=int(chance.expovariate(1 / (blob * WORDS_OWN)))))
            version = {"packageName": package, "version": f"1.{n}.0"}
            documents.append(
                {
                    "schema": "olm.bundle",
                    "package": package,
                    "name": f"{package}.v1.{n}.0",
                    "image": f"quay.io/org/{package}@sha256:{chance.randbytes(32).hex()}",
                    "properties": [
                        {"type": "olm.package", "value": version},
                        {"type": "olm.csv.metadata", "value": {"description": common + own}},
                    ],
                }
            )
        for document in documents:
            text = json.dumps(document, indent=4).encode() + b"\n"
            size += len(text)
            yield text
        number += 1


def _entry(package: str, number: int) -> dict[str, str]:
    replaced = {"replaces": f"{package}.v1.{number - 1}.0"} if number else {}
    return {"name": f"{package}.v1.{number}.0", **replaced}


class Bench:
    """A cluster, a registry and the program that is measured."""

    def __init__(self, program: Path | None = None, *, graphql: bool = False) -> None:
        """`graphql`: whether our own program serves GraphQL, which is off by default."""
        self._program = program
        self._graphql = graphql and program is None
        self._open = ExitStack()

    def __enter__(self) -> Self:
        work = Path(self._open.enter_context(tempfile.TemporaryDirectory()))
        self.control_plane = self._open.enter_context(ControlPlane(work / "k"))
        self.registry = self._open.enter_context(Registry(work / "r"))
        self.olm = Olm(work / "olm", self.control_plane, self.registry)
        self.olm.install()
        # The first object of a definition that is new takes the API server two seconds.
        first = catalog("first", "registry.example.com/first:v1")
        self.control_plane.kubectl("create", "--dry-run=server", "-f", "-", stdin=first)
        self._open.callback(self.stop)
        self._child: ChildProcess | None = None
        self.start()
        while not self._status(NAME):
            time.sleep(0.05)
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def start(self, *, graphql: bool | None = None) -> None:
        """`graphql` is as given to the constructor, unless it is said."""
        if self._program is None:
            served = self._graphql if graphql is None else graphql
            gate = f"GraphQLCatalogQueries={str(served).lower()}"
            self.olm.start_catalogd(f"--feature-gates={gate}")
            self._child = self.olm.catalogd
        else:
            self._child = other_catalogd(self._program, self.olm, self.control_plane)
            self._child.start()

    def stop(self) -> None:
        if self._child is not None:
            self._child.stop()

    @property
    def pid(self) -> int:
        return pid_of(self._child)

    def ingest(self, name: str, files: dict[str, bytes]) -> dict[str, float]:
        """From the creation of the catalog to Serving."""
        reference = self.registry.push(catalog_image(files), name, tag="v1").tag_reference
        body = yaml.safe_load(catalog(name, reference))
        with self.control_plane.client() as client:

            async def work() -> None:
                client.post(f"{OLM}/clustercatalogs", json=body).raise_for_status()
                await asyncio.to_thread(_until_serving, client, name)

            return asyncio.run(timed(self.pid, work))

    def drop(self, name: str) -> None:
        """Deletes a catalog, so that what follows is measured without it."""
        with self.control_plane.client() as client:
            client.delete(f"{OLM}/clustercatalogs/{name}").raise_for_status()

    def small(self) -> dict[str, float]:
        """New small catalogs: the first, for which nothing may be loaded yet, and later ones."""
        files = {"catalog.json": b"".join(generate(SMALL_MEGABYTES, SMALL_BLOB))}
        took = []
        for number in range(SMALL):
            time.sleep(SMALL_SECONDS)
            took.append(self.ingest(f"small-{number}", files))
            self.drop(f"small-{number}")
        later = took[1:]
        return {
            "first": took[0]["seconds"],
            "median": statistics.median(each["seconds"] for each in later),
            "cpu_s": round(statistics.median(each["cpu_s"] for each in later), 2),
            "peak_mib": max(each["peak_mib"] for each in took),
            "peak_pss_mib": max(each["peak_pss_mib"] for each in took),
        }

    def answers(self, cases: Sequence[str] = ()) -> dict[str, Any]:
        """Of each case and number of clients, or of those that begin with one of `cases`."""
        port, ca = int(self.olm.catalogs_url.rpartition(":")[2]), str(self.olm.catalogs_ca)
        found = {}
        for title, targets, headers, clients in self._cases():
            for count in clients:
                case = f"{title}, {count}"
                if not cases or case.startswith(tuple(cases)):
                    load = Load(port, ca, targets, headers, count, ROUND_SECONDS)
                    found[case] = measure(load)
        return found

    def _cases(self) -> list[tuple[str, tuple[str, ...], tuple[str, ...], tuple[int, ...]]]:
        everything = f"/catalogs/{NAME}/api/v1/all"
        with self.olm.client() as client:
            plain = client.head(everything, headers={"Accept-Encoding": "identity"}).headers
            channels = client.get(metas(schema="olm.channel")).text.splitlines()
            bundles = client.get(metas(schema="olm.bundle")).text.splitlines()[:500]
        packages = sorted({json.loads(line)["package"] for line in channels})
        by_package = tuple(metas(package=package) for package in packages)
        found = [json.loads(line) for line in bundles]
        by_name = tuple(
            metas(schema="olm.bundle", package=b["package"], name=b["name"]) for b in found
        )
        named = any("relatedImages" in bundle for bundle in found)
        queries = graphql_queries(
            packages, "relatedImages { image }" if named else "properties { type }"
        )
        # What the catalog is recognised by; upstream's knows only the time.
        seen = f"If-None-Match: {plain['etag']}" if "etag" in plain else ""
        known = seen or f"If-Modified-Since: {plain['last-modified']}"
        zipped, zstd = ("Accept-Encoding: gzip",), ("Accept-Encoding: zstd",)
        return [
            ("all plain", (everything,), (), (1, 8)),
            ("all gzip", (everything,), zipped, (1, 8)),
            *([("all zstd", (everything,), zstd, (1, 8))] if self._program is None else []),
            ("all 304", (everything,), (known,), (1, 8)),
            ("metas package", by_package, (), (1, 8, 100)),
            ("metas package gzip", by_package, zipped, (1, 8, 100)),
            ("metas name", by_name, (), (1, 8, 100)),
            *((f"metas {schema}", (metas(schema=schema),), (), (1, 8)) for schema in SCHEMAS),
            *([("graphql package", queries, (), (1, 8))] if self._graphql else []),
        ]

    def restart(self, names: list[str]) -> dict[str, float]:
        """From the start of the process until all catalogs can be read.

        The registry is off, except for another program, which may need it.
        """
        self.stop()
        if self._program is None:
            self.registry.stop()
        started = time.perf_counter()
        self.start()
        self.wait(names)
        return {"catalogs": len(names), "seconds": round(time.perf_counter() - started, 2)}

    def wait(self, names: list[str]) -> None:
        """Until all catalogs can be read."""
        for name in names:
            while self._status(name) != httpx.codes.OK:
                time.sleep(0.01)

    def _status(self, name: str) -> int:
        """What is answered for a catalog; 0 while nobody listens."""
        try:
            with self.olm.client() as client:
                return client.head(f"/catalogs/{name}/api/v1/all").status_code
        except httpx.TransportError:
            return 0


def _until_serving(client: httpx.Client, name: str) -> None:
    """By a watch, which tells at once and does not keep the API server busy."""
    asked = {"watch": "true", "fieldSelector": f"metadata.name={name}"}
    path = f"{OLM}/clustercatalogs"
    with client.stream("GET", path, params=asked, timeout=SERVING_SECONDS) as events:
        for line in events.iter_lines():
            serving = condition(json.loads(line)["object"], "Serving")
            if serving is not None and serving["status"] == "True":
                return
    raise TimeoutError(f"catalog {name} is not served")


def graphql_queries(packages: Iterable[str], more: str) -> tuple[str, ...]:
    """Of the bundles of each package, as targets of a load."""
    asked = "{ olmbundles(package: %s) { name image %s } }"
    return tuple(
        f"/catalogs/{NAME}/api/v1/graphql "
        + json.dumps({"query": asked % (json.dumps(package), more)})
        for package in packages
    )


def metas(**query: str) -> str:
    return f"/catalogs/{NAME}/api/v1/metas?{urlencode(query)}"


def bench(
    files: dict[str, bytes],
    *,
    program: Path | None = None,
    only: Sequence[str] = PARTS,
    cases: Sequence[str] = (),
    graphql: bool = False,
) -> dict[str, Any]:
    found: dict[str, Any] = {"machine": machine()}
    with Bench(program, graphql=graphql) as running:
        if program is None and "small" in only:
            found["small"] = running.small()
        found["ingest"] = running.ingest(NAME, files)
        if "answers" in only:
            found["answers"] = running.answers(cases)
        if "answers" in only and not cases:
            found["under load"] = {"mib": round(memory(running.pid), 1)}
            found["after load"] = at_rest(running.pid)
        if "restart" in only:
            for name, megabytes in OTHERS.items():
                running.ingest(name, {"catalog.json": b"".join(generate(megabytes))})
            found["four served"] = at_rest(running.pid)
            found["restart"] = running.restart([NAME, *OTHERS])
            found["restart"] |= at_rest(running.pid)
    return found


def machine() -> dict[str, Any]:
    """What the figures depend on besides the program."""
    return {
        "cores": os.cpu_count(),
        "load_average": round(os.getloadavg()[0], 1),
        "load_from": generator(),
    }


def table(found: dict[str, Any]) -> str:
    lines = [f"{part:24} {figures}" for part, figures in found.items() if part != "answers"]
    if "answers" not in found:
        return "\n".join(lines)
    columns = ("1/s", "MB/s", "p50 ms", "p99 ms")
    lines.append(f"{'answers, clients':24} " + " ".join(f"{title:>9}" for title in columns))
    for title, row in found["answers"].items():
        lines.append(f"{title:24} " + " ".join(f"{value:9}" for value in row.values()))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=132)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="these parts")
    parser.add_argument(
        "--cases",
        nargs="+",
        default=(),
        help="only answers whose titles begin so, and no memory after load",
    )
    parser.add_argument("--graphql", action="store_true", help="serve GraphQL, and ask for it")
    parser.add_argument("--program", type=Path, help="another catalogd, such as upstream's")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    if given.folder and not given.folder.is_dir():
        parser.error(f"{given.folder} is no folder")
    if given.folder:
        root: Path = given.folder
        found = (path for path in root.rglob("*") if path.is_file())
        files = {path.relative_to(root).as_posix(): path.read_bytes() for path in found}
    else:
        files = {"catalog.json": b"".join(generate(given.megabytes))}
    figures = bench(
        files,
        program=given.program,
        only=given.only,
        cases=given.cases,
        graphql=given.graphql,
    )
    sys.stdout.write(table(figures) + "\n")
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
