"""What people wait for: commands of `olm` over a cluster with a catalog of 330 packages.

Run: python -m tests.bench.bench_commands [--runs N]

Seconds from the start of the program to its end beside the target, and processor time, which other
work on the machine changes less. Python's own cache of compiled modules must be allowed.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random

import orjson

from e2e.demo.bundles import own, publish
from e2e.harness.controlplane import ControlPlane
from e2e.harness.images import catalog_image
from e2e.harness.registry import Registry
from e2e.olm.api import Api, catalog_path
from e2e.olm.fbc import catalog_files, package_blobs
from e2e.olm.manifests import catalog, with_administrator
from e2e.olm.programs import Olm
from tests.bench.bench_opm import cost, typical
from tests.bench.bench_search import package

PACKAGES, INSTALLED = 330, "hello-operator"
COMPLETION = {"_OLM_COMPLETE": "bash_complete", "COMP_WORDS": "olm show pack", "COMP_CWORD": "2"}
COMMANDS: Mapping[str, tuple[int, Sequence[str]]] = {
    "olm --help": (80, ["olm", "--help"]),
    "olm status": (150, ["olm", "status"]),
    "olm search": (150, ["olm", "search", "operator", "storage"]),
    "TAB": (150, ["olm"]),
    "olm plan": (400, ["olm", "plan", INSTALLED, "--version", "0.2.0"]),
    "olm why": (400, ["olm", "why", INSTALLED]),
    "catalogd --help": (250, ["catalogd", "--help"]),
    "operator-controller --help": (0, ["operator-controller", "--help"]),
    "opm --help": (0, ["opm", "--help"]),
}
"""Milliseconds, of issue 18; 0 where it names none."""


@contextmanager
def world(work: Path) -> Iterator[dict[str, str]]:
    """A cluster with the catalog and an installed extension; the environment of its user."""
    with ExitStack() as stack:
        control_plane = stack.enter_context(ControlPlane(work / "k"))
        registry = stack.enter_context(Registry(work / "r"))
        olm = stack.enter_context(Olm(work / "olm", control_plane, registry))
        noise = Random(18)
        generated = [list(package(at, noise)) for at in range(PACKAGES - 1)]
        hello = package_blobs(publish(registry, own()))
        image = catalog_image(catalog_files([*generated, hello]))
        reference = registry.push(image, "bench/catalog", tag="v1").tag_reference
        apply = control_plane.kubectl
        apply("apply", "-f", "-", stdin=catalog("bench", reference))
        with Api(control_plane) as api:
            api.wait_condition(catalog_path("bench"), "Serving", "True")
            apply("apply", "-f", "-", stdin=with_administrator(INSTALLED, "0.1.0"))
            api.wait_installed(INSTALLED, "0.1.0")
        trusted = work / "ca.pem"
        files = [olm.catalogs_ca, *([registry.ca_file] if registry.ca_file else [])]
        trusted.write_bytes(b"".join(file.read_bytes() for file in files))
        variables = {"KUBECONFIG": str(control_plane.kubeconfig), "SSL_CERT_FILE": str(trusted)}
        own_files = {"HOME": str(work), "XDG_CACHE_HOME": str(work / "cache")}
        environment = {**os.environ, **variables, **own_files}
        for name in ("PYTHONDONTWRITEBYTECODE", "SSL_CERT_DIR"):  # a folder of roots is read whole
            environment.pop(name, None)
        yield environment


def main() -> None:
    """Prints a line for each command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    programs = Path(sys.executable).parent
    with tempfile.TemporaryDirectory(prefix="olm-bench-") as name, world(Path(name)) as environment:
        for title, (target, (program, *arguments)) in COMMANDS.items():
            command = [str(programs / program), *arguments]
            more = environment | (COMPLETION if title == "TAB" else {})
            cost(command, more)  # what is kept is kept
            found = typical([cost(command, more) for _ in range(runs)])
            line = f"{title:28} {found.wall * 1000:6.0f} ms {found.cpu * 1000:6.0f} CPU ms"
            print(line + (f"   target {target} ms" if target else ""), flush=True)
    print(orjson.dumps({"load": os.getloadavg()[0]}).decode())


if __name__ == "__main__":
    main()
