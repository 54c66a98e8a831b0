"""GraphQL queries by package: how long they take, and what memory catalogd takes for them.

    python -m tests.bench.bench_graphql [--megabytes 132] [--folder CATALOG]
    python -m tests.bench.bench_graphql --brief --json FILE

A folder's packages are repeated under other names until there are 330 or more.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from olm_content.fbc.records import Record
from opm.io.references import Reading, read_reference
from opm.text import json_text
from tests.bench.bench_catalogd import NAME, Bench, generate, graphql_queries, metas
from tests.bench.catalogd.load import Load, generator, measure
from tests.bench.catalogd.usage import at_rest

PACKAGES = 330
SECONDS = 5
LIMITED = (("first", 8), ("later", 8))
"""Loads that have limits, with their clients."""
OFF, ON = "GraphQLCatalogQueries=false", "GraphQLCatalogQueries=true"


def repeated(folder: Path) -> Iterator[bytes]:
    """The records of a catalog, its packages renamed until there are enough."""
    records = read_reference(str(folder), Reading(bundles_allowed=False))
    packages = len({each.package for each in records})
    for number in range(-(-PACKAGES // packages)):
        for each in records:
            yield json_text(_renamed(each, f"{each.package}-{number}"))


def _renamed(record: Record, package: str) -> dict[str, object]:
    field = "name" if record.schema == "olm.package" else "package"
    return {**record.value, field: package}


def main() -> None:
    """Prints latencies at the first time of each query and later, and resident memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=132)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--brief", action="store_true", help="only what has a limit")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    figures: dict[str, Any] = {}
    content = b"".join(repeated(given.folder) if given.folder else generate(given.megabytes))
    more = "relatedImages { image }" if given.folder else "properties { type }"
    with Bench(graphql=True) as running:
        running.ingest(NAME, {"catalog.json": content})
        port, ca = int(running.olm.catalogs_url.rpartition(":")[2]), str(running.olm.catalogs_ca)
        with running.olm.client() as client:
            lines = client.get(metas(schema="olm.package")).text.splitlines()
        packages = [orjson.loads(line)["name"] for line in lines]
        print(f"{len(packages)} packages, {len(content) / 1e6:.0f} MB, load from {generator()}")
        plain = tuple(metas(package=package) for package in packages)
        queries = graphql_queries(packages, more)
        for gate in (OFF, ON):
            running.stop()
            running.start(graphql=gate == ON)
            running.wait([NAME])
            measure(Load(port, ca, plain, (), 8, SECONDS))
            figures[gate] = at_rest(running.pid)["mib"]
            print(f"{gate}, after queries by metas: {figures[gate]} MiB", flush=True)
        for title, clients in LIMITED if given.brief else (*LIMITED, ("later", 1)):
            found = measure(Load(port, ca, queries, (), clients, SECONDS))
            figures[f"{title}, {clients}"] = found
            print(f"graphql by package, {clients} clients, {title}: {found}", flush=True)
        if not given.brief:
            print(f"after queries by graphql: {at_rest(running.pid)['mib']} MiB")
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
