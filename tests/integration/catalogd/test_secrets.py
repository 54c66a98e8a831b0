"""catalogd and a registry that asks for credentials."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.harness.controlplane import ControlPlane
from e2e.harness.images import catalog_image
from e2e.harness.registry import Registry, TokenAuth
from e2e.olm.api import OLM, Api, catalog_path
from e2e.olm.programs import SYSTEM_NAMESPACE, Olm

pytestmark = pytest.mark.integration

NAME = "locked-catalog"
SECRET = "catalog-pull-secret"


@pytest.fixture
def locked(tmp_path: Path, control_plane: ControlPlane) -> Iterator[tuple[Olm, Registry]]:
    with Registry(tmp_path / "registry", auth=TokenAuth()) as registry:
        olm = Olm(tmp_path / "olm", control_plane, registry)
        olm.install()
        allow_reading_the_secret(control_plane)
        olm.start_catalogd(f"--global-pull-secret={SYSTEM_NAMESPACE}/{SECRET}")
        yield olm, registry
        with Api(control_plane) as api:
            api.delete(catalog_path(NAME))
            api.wait_gone(catalog_path(NAME))
        olm.stop()


def allow_reading_the_secret(control_plane: ControlPlane) -> None:
    """As the chart does for `globalPullSecret`."""
    kubectl, space = control_plane.kubectl, ("-n", SYSTEM_NAMESPACE)
    rights = ("--verb=get", "--resource=secrets", f"--resource-name={SECRET}")
    account = f"--serviceaccount={SYSTEM_NAMESPACE}:catalogd-controller-manager"
    kubectl("create", "role", SECRET, *rights, *space)
    kubectl("create", "rolebinding", SECRET, f"--role={SECRET}", account, *space)


def test_a_catalog_waits_for_its_pull_secret_and_heals(
    locked: tuple[Olm, Registry], control_plane: ControlPlane
) -> None:
    olm, registry = locked
    pushed = registry.push(catalog_image({"a.json": b'{"schema":"s"}'}), "cat", tag="v1")
    body = {
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterCatalog",
        "metadata": {"name": NAME},
        "spec": {"source": {"type": "Image", "image": {"ref": pushed.tag_reference}}},
    }
    config = base64.b64encode(json.dumps(registry.docker_config()).encode()).decode()
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": SECRET, "namespace": SYSTEM_NAMESPACE},
        "type": "kubernetes.io/dockerconfigjson",
        "data": {".dockerconfigjson": config},
    }
    path = catalog_path(NAME)
    with control_plane.client() as client, Api(control_plane) as api:
        client.post(f"{OLM}/clustercatalogs", json=body).raise_for_status()
        refused = f"registry {registry.address} refuses access"
        api.wait_condition(path, "Progressing", "True", message=refused)

        secrets = f"/api/v1/namespaces/{SYSTEM_NAMESPACE}/secrets"
        client.post(secrets, json=secret).raise_for_status()
        found = api.wait_condition(path, "Serving", "True")
        client.delete(f"{secrets}/{SECRET}").raise_for_status()
    password = registry.docker_config()["auths"][registry.address]["auth"]
    assert password not in json.dumps(found)
    log = (olm.work_dir / "logs" / "catalogd.log").read_text()
    assert password not in log
