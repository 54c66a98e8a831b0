"""Figures of the whole: created to Installed, updates, many at once, memory. `make bench`."""

import json
import statistics
import tempfile
import time
from pathlib import Path

from e2e.harness.controlplane import ControlPlane
from e2e.harness.images import catalog_image
from e2e.harness.registry import Registry
from e2e.olm.api import Api, catalog_path, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.fbc import catalog_files, package_blobs
from e2e.olm.manifests import catalog, extension, installer, namespace
from e2e.olm.programs import Olm

SINGLE = 10
MANY = 25
VERSIONS = ("1.0.0", "1.1.0")


def main() -> None:
    """Measure and print a table, then the same as JSON."""
    with tempfile.TemporaryDirectory(prefix="olmv1-bench-") as name:
        folder = Path(name)
        with (
            ControlPlane(folder / "control-plane") as control_plane,
            Registry(folder / "registry") as registry,
            Olm(folder / "olm", control_plane, registry) as olm,
            Api(control_plane) as api,
        ):
            figures = measure(olm, api)
    for key, value in figures.items():
        print(f"{key:55} {value:8.2f}")
    print(json.dumps(figures))


def measure(olm: Olm, api: Api) -> dict[str, float]:
    """Seconds (and MiB) by name."""
    packages = [f"pkg-{i:03}" for i in range(SINGLE + MANY)]
    serve(olm, api, packages)
    kubectl = olm.control_plane.kubectl
    prepared = "---".join(namespace(p) + "---" + installer(p) for p in packages)
    kubectl("apply", "-f", "-", stdin=prepared)
    time.sleep(3)
    single = [install(olm, api, package) for package in packages[:SINGLE]]
    cpu = cpu_seconds(olm)
    started = time.monotonic()
    many = packages[SINGLE:]
    kubectl("apply", "-f", "-", stdin="---".join(extension(p, "1.0.0") for p in many))
    wait_all(api, many, "1.0.0")
    installed = time.monotonic() - started
    started = time.monotonic()
    for package in many:
        patch = {"spec": {"source": {"catalog": {"version": "1.1.0"}}}}
        api.patch(extension_path(package), patch)
    wait_all(api, many, "1.1.0")
    updated = time.monotonic() - started
    return {
        "created to Installed, median of 10 (s)": statistics.median(single),
        "created to Installed, worst of 10 (s)": max(single),
        f"{MANY} at once, installed (s)": installed,
        f"{MANY} at once, updated (s)": updated,
        "operator-controller CPU for both (s)": cpu_seconds(olm) - cpu,
        "operator-controller resident (MiB)": resident(olm.operator_controller),
        "catalogd resident (MiB)": resident(olm.catalogd),
    }


def serve(olm: Olm, api: Api, packages: list[str]) -> None:
    blobs = []
    for package in packages:
        group = f"{package}.example.com"
        specs = [BundleSpec(package=package, version=v, crd_group=group) for v in VERSIONS]
        blobs.append(package_blobs([spec.publish(olm.registry) for spec in specs]))
    image = olm.registry.push(catalog_image(catalog_files(blobs)), "bench/catalog", tag="latest")
    olm.control_plane.kubectl("apply", "-f", "-", stdin=catalog("bench", image.tag_reference))
    api.wait_condition(catalog_path("bench"), "Serving", "True")


def install(olm: Olm, api: Api, package: str) -> float:
    olm.control_plane.kubectl("apply", "-f", "-", stdin=extension(package, "1.0.0"))
    started = time.monotonic()
    api.wait_installed(package, "1.0.0")
    return time.monotonic() - started


def wait_all(api: Api, packages: list[str], version: str) -> None:
    for package in packages:
        api.wait_installed(package, version, timeout=300)


def cpu_seconds(olm: Olm) -> float:
    child = olm.operator_controller
    fields = Path(f"/proc/{child.pid if child else 0}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def resident(child: object) -> float:
    pid = getattr(child, "pid", None)
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


if __name__ == "__main__":
    main()
