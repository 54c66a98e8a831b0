"""Figures of operator-controller: installs, updates, restarts, drift, deletion, rest, memory.

    python -m tests.bench.bench_controller                    # the quick parts
    python -m tests.bench.bench_controller --all --json FILE
    python -m tests.bench.bench_controller --only restart drift
    python -m tests.bench.bench_controller --all --catalogd PATH --operator-controller PATH

Everything is real: API server, registry, TLS on loopback. Bundles have a definition, a Deployment
and its rights, as small operators do.
"""

import argparse
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import yaml

from api.objects import condition, is_true, metadata
from e2e.harness.controlplane import ControlPlane
from e2e.harness.images import build_image, bundle_image, catalog_image
from e2e.harness.registry import Registry
from e2e.olm.api import OLM, Api, catalog_path, extension_path
from e2e.olm.bundles import PACKAGE_LABEL, BundleSpec
from e2e.olm.fbc import bundle_facts, catalog_files, package_blobs
from e2e.olm.manifests import catalog, extension, installer, namespace
from e2e.olm.programs import Olm
from tests.bench.bench_catalogd import generate
from tests.bench.controller_world import LOOKS, VERSIONS, World, until
from tests.bench.processes import status_mib

Figures = dict[str, float]
SINGLE = 10
FEW, MANY, HUNDREDS = 25, 100, 300
REST_SECONDS = 30.0
DRIFTS = 20
FOREIGN_CONFIGMAPS, FOREIGN_DEFINITIONS = 10_000, 500
MEGABYTES = 132
AWAITED = "package-0"
"""A package of the large catalog."""
RESOLVED = f'"{AWAITED}" not found'
"""Said of its namespace."""
REAL = "external-secrets-operator"
LARGE, LARGE_MAPS, LARGE_BYTES = "large", 20, 800 * 1024


def one(world: World) -> Figures:
    """One extension at a time."""
    seconds = [world.install([package]) for package in world.take(SINGLE)]
    return {
        f"created to Installed, median of {SINGLE} (s)": statistics.median(seconds),
        f"created to Installed, worst of {SINGLE} (s)": max(seconds),
    }


def few(world: World) -> Figures:
    """A few at once."""
    return {f"{FEW} at once (s)": world.install(world.take(FEW))}


def many(world: World) -> Figures:
    """A hundred at once, and what that costs."""
    cpu, server = world.cpu(), world.server_cpu()
    seconds = world.install(world.take(MANY))
    return {
        f"{MANY} at once (s)": seconds,
        f"{MANY} at once, CPU (s)": world.cpu() - cpu,
        f"{MANY} at once, CPU of the API server (s)": world.server_cpu() - server,
        f"{MANY} at once, most resident (MiB)": status_mib(world.controller, "VmHWM"),
    }


def update(world: World) -> Figures:
    """An update of many by a changed range."""
    packages = world.have(MANY)
    world.quiet()
    cpu = world.cpu()
    seconds = world.update(packages)
    return {f"update of {MANY} (s)": seconds, f"update of {MANY}, CPU (s)": world.cpu() - cpu}


def restart(world: World) -> Figures:
    """A restart with many installed, and a wish right after it."""
    world.have(MANY)
    world.quiet()
    world.olm.stop_operator_controller()
    started = time.monotonic()
    world.olm.start_operator_controller()
    world.install(world.take(1))
    installed = time.monotonic() - started
    world.quiet()
    return {
        f"restart with {MANY}: a new one installed (s)": installed,
        f"restart with {MANY}: quiet again, CPU (s)": world.cpu(),
    }


def settle(world: World) -> Figures:
    """A restart with many installed, and nothing to do."""
    world.have(MANY)
    world.quiet()
    world.olm.stop_operator_controller()
    started = time.monotonic()
    world.olm.start_operator_controller()
    begun = time.monotonic() - started
    return {f"restart with {MANY}: quiet again (s)": begun + world.quiet()}


def rest(world: World) -> Figures:
    """What many settled extensions cost while nothing happens."""
    world.have(MANY)
    world.run_pods()
    world.quiet()
    cpu, writes = world.cpu(), world.writes()
    time.sleep(REST_SECONDS)
    return {
        f"at rest with {MANY}: CPU (% of a core)": 100 * (world.cpu() - cpu) / REST_SECONDS,
        f"at rest with {MANY}: writes in {REST_SECONDS:.0f} s": float(world.writes() - writes),
        f"at rest with {MANY}: resident (MiB)": world.resident(),
    }


def look(world: World) -> Figures:
    """What it costs to look at a settled extension, which is asked for by an annotation."""
    packages = world.have(FEW)
    world.run_pods()
    reads = world.reads()
    return {
        "a look at a settled extension: CPU (ms)": world.look(packages),
        "a look at a settled extension: reads": (world.reads() - reads) / (LOOKS * FEW),
    }


def drift(world: World) -> Figures:
    """A deleted Deployment is made again."""
    world.quiet()
    seconds = [_restored(world, package) for package in world.have(DRIFTS)]
    return {
        f"drift: Deployment back, median of {DRIFTS} (s)": statistics.median(seconds),
        f"drift: Deployment back, worst of {DRIFTS} (s)": max(seconds),
    }


def _restored(world: World, package: str) -> float:
    path = f"/apis/apps/v1/namespaces/{package}/deployments/{package}-operator"
    uid = metadata(world.api.get(path) or {})["uid"]
    world.api.delete(path)
    started = time.monotonic()
    while True:
        found = world.api.get(path)
        if found is not None and metadata(found)["uid"] != uid:
            return time.monotonic() - started


def real(world: World) -> Figures:
    """A real bundle with 17 definitions, where the corpus is present."""
    folder = corpus() / "bundles" / REAL
    if not folder.is_dir():
        return {}
    version = max(path for path in folder.iterdir() if path.is_dir())
    registry = world.olm.registry
    pushed = registry.push(bundle_image(version), f"bundles/{REAL}", tag="bench")
    facts = bundle_facts(version, pushed.tag_reference)
    image = catalog_image(catalog_files([package_blobs([facts])]))
    reference = registry.push(image, f"catalogs/{REAL}", tag="latest").tag_reference
    world.apply(catalog(REAL, reference))
    world.api.wait_condition(catalog_path(REAL), "Serving", "True")
    world.apply(namespace(REAL), installer(REAL))
    world.quiet()
    server, started = world.server_cpu(), time.monotonic()
    world.create_many(f"{OLM}/clusterextensions", [yaml.safe_load(extension(facts.package))])
    world.api.wait_installed(facts.package, facts.version)
    return {
        "a real bundle with 17 CRDs (s)": time.monotonic() - started,
        "a real bundle with 17 CRDs, CPU of the API server (s)": world.server_cpu() - server,
    }


def large(world: World) -> Figures:
    """A bundle whose objects fill several Secrets, and that has definitions to wait for."""
    chance = random.Random(LARGE)  # what is all the same would compress to nothing
    spec = BundleSpec(package=LARGE, version=VERSIONS[0], crd_group=f"{LARGE}.example.com")
    maps = {
        f"manifests/map-{i:02}.yaml": json.dumps(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": f"map-{i:02}"},
                "data": {"text": chance.randbytes(LARGE_BYTES // 2).hex()},
            }
        ).encode()
        for i in range(LARGE_MAPS)
    }
    registry = world.olm.registry
    bundle = build_image([spec.files() | maps], labels={PACKAGE_LABEL: LARGE})
    pushed = registry.push(bundle, f"bundles/{LARGE}", tag="bench").tag_reference
    image = catalog_image(catalog_files([package_blobs([spec.as_published(pushed)])]))
    reference = registry.push(image, f"catalogs/{LARGE}", tag="latest").tag_reference
    world.apply(catalog(LARGE, reference))
    world.api.wait_condition(catalog_path(LARGE), "Serving", "True")
    world.apply(namespace(LARGE), installer(LARGE))
    world.quiet()
    cpu, started = world.cpu(), time.monotonic()
    world.create_many(f"{OLM}/clusterextensions", [yaml.safe_load(extension(LARGE))])
    world.api.wait_installed(LARGE, VERSIONS[0])
    seconds = time.monotonic() - started
    world.quiet()
    mebibytes = LARGE_MAPS * LARGE_BYTES >> 20
    return {
        f"a bundle of {mebibytes} MiB (s)": seconds,
        f"a bundle of {mebibytes} MiB, CPU (s)": world.cpu() - cpu,
    }


def corpus() -> Path:
    """Real bundles and a real catalog, where they are."""
    return Path(os.environ.get("OLMV1_CORPUS") or "../shared/corpus")


def new_catalog(world: World) -> Figures:
    """The first resolution from a new large catalog, for which an extension waits.

    Its namespace is missing, so that what follows the resolution is another message.
    """
    path = extension_path(AWAITED)
    world.apply(extension(AWAITED))
    world.api.wait_condition(path, "Progressing", "True", message="no bundles found")
    registry = world.olm.registry
    files = {"big/catalog.json": b"".join(generate(MEGABYTES))}
    reference = registry.push(catalog_image(files), "bench/big", tag="latest").tag_reference
    cpu = world.cpu()
    world.apply(catalog("big", reference))
    served = catalog_path("big")
    until(lambda: is_true(world.api.get(served) or {}, "Serving"), "Serving", poll=0.005)
    started = time.monotonic()
    until(lambda: RESOLVED in _progress(world, path), "resolved", poll=0.005)
    seconds = time.monotonic() - started
    world.api.delete(path)
    return {
        f"first resolution with a new {MEGABYTES} MB catalog (s)": seconds,
        f"first resolution with a new {MEGABYTES} MB catalog, CPU (s)": world.cpu() - cpu,
    }


def _progress(world: World, path: str) -> str:
    found = condition(world.api.get(path) or {}, "Progressing")
    return str(found["message"]) if found else ""


def foreign(world: World) -> Figures:
    """Memory while the cluster fills with what is not ours."""
    world.have(FEW)
    world.quiet()
    before = world.resident()
    configmaps = [
        {"metadata": {"name": f"foreign-{i}"}, "data": {"text": "x" * 1000}}
        for i in range(FOREIGN_CONFIGMAPS)
    ]
    world.create_many("/api/v1/namespaces/default/configmaps", configmaps)
    definitions = [_definition(f"foreign{i}") for i in range(FOREIGN_DEFINITIONS)]
    world.create_many("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definitions)
    world.quiet()
    growth = 100 * (world.resident() - before) / before
    return {"foreign objects: growth of memory (%)": growth}


def _definition(plural: str) -> dict[str, object]:
    schema = {"openAPIV3Schema": {"type": "object"}}
    return {
        "metadata": {"name": f"{plural}.foreign.example.com"},
        "spec": {
            "group": "foreign.example.com",
            "names": {"plural": plural, "kind": plural.capitalize()},
            "scope": "Namespaced",
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }


def delete(world: World) -> Figures:
    """Many are deleted."""
    packages = world.have(MANY)
    world.quiet()
    cpu = world.cpu()
    seconds = world.delete(packages)
    return {f"delete {MANY} (s)": seconds, f"delete {MANY}, CPU (s)": world.cpu() - cpu}


def hundreds(world: World) -> Figures:
    """Three hundred, installed and updated in one run."""
    packages = world.take(HUNDREDS)
    installed = world.install(packages)
    return {
        f"{HUNDREDS} at once (s)": installed,
        f"update of {HUNDREDS} (s)": world.update(packages),
        f"{HUNDREDS}, most resident (MiB)": status_mib(world.controller, "VmHWM"),
    }


PARTS: tuple[Callable[[World], Figures], ...] = (
    one, few, many, update, restart, settle, rest, look, drift, real, large, new_catalog, delete,
    foreign, hundreds,
)  # fmt: skip
QUICK = ("one", "few")
POOL = {"one": SINGLE, "few": FEW, "many": MANY, "restart": 1, "hundreds": HUNDREDS}


def main() -> None:
    """Measure, print a table; JSON where it was asked for."""
    given = _arguments()
    chosen = [part for part in PARTS if given.all or part.__name__ in (given.only or QUICK)]
    pool = sum(POOL.get(part.__name__, 0) for part in chosen) + FEW
    pool += 0 if many in chosen else MANY
    figures: Figures = {}
    with tempfile.TemporaryDirectory(prefix="olmv1-bench-") as name:
        folder = Path(name)
        with (
            ControlPlane(folder / "control-plane") as control_plane,
            Registry(folder / "registry") as registry,
            Olm(folder / "olm", control_plane, registry, programs=_programs(given)) as olm,
            Api(control_plane) as api,
        ):
            # The garbage collector learns of new kinds at its start, else every half minute.
            control_plane.restart_controller_manager()
            world = World(olm, api, pool)
            world.publish()
            for part in chosen:
                for key, value in part(world).items():
                    print(f"{key:60} {value:8.2f}", flush=True)
                    figures[key] = round(value, 3)
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2) + "\n")
    else:
        print(json.dumps(figures))


def _programs(given: argparse.Namespace) -> dict[str, str]:
    found = {"catalogd": given.catalogd, "operator-controller": given.operator_controller}
    return {name: path for name, path in found.items() if path}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    names = [part.__name__ for part in PARTS]
    parser.add_argument("--only", nargs="+", choices=names, help="these parts")
    parser.add_argument("--all", action="store_true", help="every part")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    parser.add_argument("--catalogd", default="", help="another program in place of ours")
    parser.add_argument("--operator-controller", default="", help="another program")
    return parser.parse_args()


if __name__ == "__main__":
    main()
