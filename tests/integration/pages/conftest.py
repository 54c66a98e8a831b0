"""Somebody who reads the pages, with the chart on a real API server.

Pods are processes (e2e/olm/kubelet.py). Commands that need true ones are run by tests/node.
"""

from collections.abc import Iterator

import pytest
import yaml

from e2e.harness.controlplane import ControlPlane
from e2e.harness.registry import PasswordAuth, Registry
from e2e.olm.api import Api
from e2e.olm.chart import NAMESPACE
from e2e.olm.kubelet import Kubelet
from e2e.olm.reader import Reader
from tests.integration.clusters import own_control_plane
from tests.integration.pages.world import (
    FEWER,
    LAST,
    MIRROR,
    NO_NETWORK,
    PUBLIC,
    page,
    publish_catalog,
)

control_plane = own_control_plane("package")
"""Helm takes over nothing that others have made."""


@pytest.fixture(scope="package")
def public(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    """What the pages call registry.example.com."""
    with Registry(tmp_path_factory.mktemp("public"), names=[PUBLIC]) as running:
        yield running


@pytest.fixture(scope="package")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    """What they call mirror.example.org: another CA, and a password."""
    with Registry(tmp_path_factory.mktemp("mirror"), auth=PasswordAuth()) as running:
        yield running


@pytest.fixture(scope="package")
def reader(
    tmp_path_factory: pytest.TempPathFactory,
    control_plane: ControlPlane,
    public: Registry,
    mirror: Registry,
) -> Iterator[Reader]:
    """Has installed the product as install.md says, with what it needs for the other pages."""
    publish_catalog(public)
    folder = tmp_path_factory.mktemp("reader")
    values = folder / "fewer.yaml"
    values.write_text(yaml.safe_dump(FEWER | NO_NETWORK))
    authorities = {r: r.ca_file.read_bytes() for r in (public, mirror) if r.ca_file}
    (folder / "mirror-ca.pem").write_bytes(authorities[mirror])
    (folder / "password").write_text((mirror.credentials or PasswordAuth().credentials).password)
    (folder / "system-cas.pem").write_bytes(authorities[public])
    reader = Reader(
        folder,
        control_plane,
        names={PUBLIC: public.address, MIRROR: mirror.address},
        values=values,
        authorities=b"".join(authorities.values()),
    )
    pods = Kubelet(
        folder / "pods",
        control_plane,
        NAMESPACE,
        environment={"SSL_CERT_FILE": str(folder / "system-cas.pem")},
    )
    with pods:
        reader.follow(page("install", but=LAST))
        yield reader


@pytest.fixture
def api(control_plane: ControlPlane) -> Iterator[Api]:
    with Api(control_plane) as api:
        yield api
