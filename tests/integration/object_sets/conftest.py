"""operator-controller as a process on a control plane that writes down who asks for what.

The process has the rights of config/rbac only and acts as the service account of each set.
"""

import secrets
from collections.abc import Iterator

import pytest

from e2e.harness.components import AuditLevel
from e2e.olm import manifests
from e2e.olm.api import OLM, Api
from e2e.olm.programs import Olm
from tests.integration.clusters import own_control_plane, own_olm
from tests.integration.object_sets.world import World

control_plane = own_control_plane("package", audit=AuditLevel.METADATA)
product = own_olm("package", catalogd=False)  # nothing here needs a catalog or an image


@pytest.fixture
def api(product: Olm) -> Iterator[Api]:
    with Api(product.control_plane) as api:
        yield api


@pytest.fixture
def world(product: Olm, api: Api) -> Iterator[World]:
    namespace = f"test-{secrets.token_hex(4)}"
    control_plane = product.control_plane
    control_plane.apply(manifests.namespace(namespace) + "---" + manifests.installer(namespace))
    yield World(product, api, namespace)
    for found in api.list(f"{OLM}/clusterobjectsets"):
        if found["metadata"]["name"].startswith(namespace):
            control_plane.remove(f"{OLM}/clusterobjectsets/{found['metadata']['name']}")
