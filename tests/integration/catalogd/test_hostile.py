"""Hostile catalogs next to a good one: each says what is wrong, and the good one goes on."""

import secrets
import tarfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from e2e.harness.controlplane import ControlPlane, wait_until
from e2e.harness.images import Image, build_image, catalog_image
from e2e.harness.registry import Registry
from e2e.olm.api import Api, catalog_path
from e2e.olm.manifests import catalog as catalog_manifest
from e2e.olm.programs import CONFIG, Olm
from tests.fuzz.test_hostile_fbc import DEEP, LAUGHS

pytestmark = pytest.mark.integration

LABEL = "operators.operatorframework.io.index.configs.v1"
SERVING_MIB, LEFT_MIB = 160, 64


def bomb() -> bytes:
    """A tar of blanks; compressed it is a thousandth of that."""
    info = tarfile.TarInfo("configs/a.json")
    info.size = 128 << 20
    return info.tobuf() + b" " * info.size + bytes(1024)


def hostile() -> dict[str, tuple[Image, str]]:
    """Images, and what is said of each; made by who needs them: a second, and 128 MiB."""
    return {
        "bomb": (build_image([bomb()], labels={LABEL: "/configs"}), "more than 300 times its size"),
        "aliases": (
            catalog_image({"a.yaml": LAUGHS.encode()}),
            "configs/a.yaml: document 1, line ",
        ),
        "depth": (catalog_image({"a.json": b'{"a":' + b"[" * DEEP}), "configs/a.json: document 1"),
        "values": (
            catalog_image(
                {"a.json": b'{"schema":"s","a":[' + b",".join([b"{}"] * 1_000_000) + b"]}"}
            ),
            "holds more than 1000000 values",
        ),
        "colliding": (catalog_image({"a.json": b'{"schema":"s","SCHEMA":"t"}'}), "duplicate keys"),
        "no tar": (build_image([b"no tar at all" * 99], labels={LABEL: "/configs"}), "layer[0]"),
    }


@pytest.fixture
def olm(tmp_path: Path, control_plane: ControlPlane, registry: Registry) -> Iterator[Olm]:
    running = Olm(tmp_path, control_plane, registry)
    running.install()
    running.start_catalogd()
    yield running
    running.stop()


class Watcher(threading.Thread):
    """Asks for the good catalog all the time; notes what is not as it should be."""

    def __init__(self, olm: Olm, name: str) -> None:
        super().__init__()
        self._olm, self._path = olm, f"/catalogs/{name}/api/v1/all"
        self.stop = threading.Event()
        self.answers, self.faults = 0, list[str]()

    def run(self) -> None:
        with self._olm.client() as client:
            while not self.stop.wait(0.01):
                answer = client.get(self._path)
                self.answers += 1
                if answer.text != '{"schema":"good"}\n':
                    self.faults.append(f"{answer.status_code} {answer.text[:100]}")


def test_hostile_catalogs_say_why_and_the_good_one_is_unharmed(
    olm: Olm, registry: Registry, control_plane: ControlPlane
) -> None:
    run, images = secrets.token_hex(4), hostile()
    good, names = f"good-{run}", {kind: f"{kind.replace(' ', '-')}-{run}" for kind in images}
    pushed = registry.push(catalog_image({"a.json": b'{"schema":"good"}'}), good, tag="v1")
    with Api(control_plane) as api:
        control_plane.apply(catalog_manifest(good, pushed.tag_reference))
        api.wait_condition(catalog_path(good), "Serving", "True")
        watcher = Watcher(olm, good)
        watcher.start()
        try:
            for kind, (image, _) in images.items():
                reference = registry.push(image, names[kind], tag="v1").tag_reference
                manifest = catalog_manifest(names[kind], reference)
                control_plane.apply(manifest)
            for kind, (_, fault) in images.items():
                path = catalog_path(names[kind])
                api.wait_condition(path, "Progressing", "True", message=fault)
            # Not at each moment: one of them may be pulled again.
            wait_until(lambda: bytes_left(olm) < LEFT_MIB << 20, what="what failed to be gone")
        finally:
            watcher.stop.set()
            watcher.join()
            pid = olm.catalogd.pid if olm.catalogd else None
            for name in (good, *names.values()):
                api.delete(catalog_path(name))
                api.wait_gone(catalog_path(name))
    assert watcher.answers > 10
    assert not watcher.faults
    assert pid is not None
    assert resident_mib(pid) < SERVING_MIB


def bytes_left(olm: Olm) -> int:
    found = 0
    for file in olm.work_dir.rglob("catalogd/**/*"):
        with suppress(FileNotFoundError):  # it went meanwhile
            found += file.stat().st_size if file.is_file() else 0
    return found


def resident_mib(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def test_a_catalog_that_cannot_be_read_is_reported(olm: Olm, control_plane: ControlPlane) -> None:
    name = f"unreadable-{secrets.token_hex(4)}"
    crd = "clustercatalogs.olm.operatorframework.io"
    required = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/required"
    lax = f'[{{"op": "remove", "path": "{required}"}}]'
    manifest = f"""
apiVersion: olm.operatorframework.io/v1
kind: ClusterCatalog
metadata: {{name: {name}}}
spec: {{}}
"""

    def taken() -> bool:
        try:
            control_plane.apply(manifest)
        except httpx.HTTPStatusError:
            return False
        return True

    control_plane.kubectl("patch", "crd", crd, "--type=json", "-p", lax)
    try:
        with Api(control_plane) as api:
            wait_until(taken, what="the API server takes a catalog without source")
            message = f'ClusterCatalog "{name}" cannot be read'
            api.wait_condition(catalog_path(name), "Progressing", "False", message=message)
    finally:
        control_plane.end(catalog_path(name))
        control_plane.apply(CONFIG / "crd")
