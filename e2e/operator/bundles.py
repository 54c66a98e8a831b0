"""The greeter's bundles and its catalog, made and pushed with opm as an author would."""

import json
import string
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from e2e.harness.errors import CommandFailed
from e2e.harness.process import service_environment
from e2e.harness.registry import Registry
from e2e.operator.images import WORDS, image

BUNDLE = Path(__file__).parent / "bundle"
PACKAGE = "greeter"
BAD = "0.3.0"
"""A version whose image nobody has pushed."""


def publish_images(registry: Registry) -> None:
    """Pushes the operator's images. Errors: HarnessError."""
    for version in WORDS:
        registry.push(image(version), PACKAGE, tag=version)


def publish_bundles(registry: Registry) -> None:
    """Pushes the bundle of every version. Errors: CommandFailed."""
    for version in (*WORDS, BAD):
        with tempfile.TemporaryDirectory() as folder:
            _write_bundle(Path(folder), version, registry)
            _opm(registry, "build", folder, "-t", bundle_reference(registry, version), "--push")


def publish_catalog(registry: Registry, versions: Sequence[str], *, base: str = "") -> str:
    """Pushes a catalog of some versions, each replacing the one before; its reference by tag.

    With `base`, an image with opm, one that serves itself.
    """
    tag, below = ("serving", (f"--base-image={base}",)) if base else ("latest", ())
    reference = f"{registry.address}/{PACKAGE}-catalog:{tag}"
    with tempfile.TemporaryDirectory() as folder:
        written = _opm(registry, "init", PACKAGE, "--default-channel=stable")
        for version in versions:
            written += _opm(registry, "render", bundle_reference(registry, version))
        Path(folder, "catalog.json").write_text(written + json.dumps(_channel(versions)))
        _opm(registry, "build", folder, "-t", reference, "--push", *below)
    return reference


def bundle_reference(registry: Registry, version: str) -> str:
    """Where a version's bundle is."""
    return f"{registry.address}/{PACKAGE}-bundle:v{version}"


def _channel(versions: Sequence[str]) -> dict[str, object]:
    names = [f"{PACKAGE}.v{version}" for version in versions]
    entries = [{"name": names[0]}]
    entries += [{"name": name, "replaces": before} for before, name in pairwise(names)]
    return {"schema": "olm.channel", "package": PACKAGE, "name": "stable", "entries": entries}


def _write_bundle(target: Path, version: str, registry: Registry) -> None:
    values = {"version": version, "image": f"{registry.address}/{PACKAGE}:{version}"}
    for path in BUNDLE.rglob("*.yaml"):
        written = target / path.relative_to(BUNDLE)
        written.parent.mkdir(exist_ok=True)
        written.write_text(string.Template(path.read_text()).substitute(values))


def _opm(registry: Registry, *arguments: str) -> str:
    argv = (str(Path(sys.executable).with_name("opm")), *arguments)
    environment = service_environment(SSL_CERT_FILE=str(registry.ca_file))
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CommandFailed(
            argv, returncode=done.returncode, stdout=done.stdout, stderr=done.stderr
        )
    return done.stdout
