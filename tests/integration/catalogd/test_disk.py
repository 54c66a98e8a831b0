"""catalogd on a disk that is full, then read-only: it says so, serves on, and comes right."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.objects import condition, is_true
from e2e.harness.controlplane import ControlPlane
from e2e.harness.faults import Fault
from e2e.harness.images import catalog_image
from e2e.harness.machine import Machine, what_is_missing
from e2e.harness.registry import Registry
from e2e.olm.api import Api, catalog_path
from e2e.olm.manifests import catalog
from e2e.olm.programs import Olm
from tests.requirements import leave_out

pytestmark = pytest.mark.integration


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    if reason := what_is_missing():
        leave_out("machine", reason)
    with Machine(tmp_path) as machine:
        yield machine


@pytest.fixture
def olm(
    tmp_path_factory: pytest.TempPathFactory,
    control_plane: ControlPlane,
    registry: Registry,
    machine: Machine,
) -> Iterator[Olm]:
    olm = Olm(tmp_path_factory.mktemp("disk"), control_plane, registry)
    olm.install()
    try:
        olm.start_catalogd(f"--cache-dir={machine.disk}")
        yield olm
    finally:
        olm.stop()


def test_a_disk_that_cannot_be_written(olm: Olm, machine: Machine, registry: Registry) -> None:
    name = f"catalog-{secrets.token_hex(4)}"
    path = catalog_path(name)

    def push(tag: str) -> str:
        blob = b'{"schema":"olm.package","name":"%s"}' % tag.encode()
        return registry.push(catalog_image({"a.json": blob}), name, tag=tag).tag_reference

    with Api(olm.control_plane) as api:
        olm.control_plane.apply(catalog(name, push("one")))
        api.wait_condition(path, "Serving", "True")
        machine.inject(Fault.DISK_FULL)
        olm.control_plane.apply(catalog(name, push("two")))
        full = api.wait_condition(path, "Progressing", "True", message="no space left on device")
        progressing = condition(full, "Progressing")
        assert progressing is not None
        assert progressing["reason"] == "Retrying"
        assert f"{machine.disk}" in progressing["message"]
        assert "hint: free space on the volume of" in progressing["message"]
        assert is_true(full, "Serving")
        with olm.client() as client:
            url = f"/catalogs/{name}/api/v1/all"
            assert client.get(url).json()["name"] == "one"
            machine.mend()
            api.wait_condition(path, "Progressing", "True", message="Successfully unpacked")
            assert client.get(url).json()["name"] == "two"
        machine.inject(Fault.DISK_READ_ONLY)
        olm.control_plane.remove(catalog_path(name))
        api.wait_gone(path)
        machine.mend()
