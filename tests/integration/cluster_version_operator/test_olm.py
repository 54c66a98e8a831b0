"""What OLM has installed holds back minor updates of the cluster, v1 and Classic alike."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from api.objects import KubeObject
from e2e.harness.controlplane import wait_until
from e2e.harness.registry import Registry
from e2e.olm.api import PATIENCE_SECONDS, Api
from e2e.olm.bundles import LimitedBundle
from e2e.olm.classic import Classic, Place
from e2e.olm.cluster_updates import ClusterUpdates
from e2e.olm.manifests import with_administrator
from e2e.olm.programs import Olm
from e2e.olm.releases import ReleaseSpec
from tests.integration.cluster_version_operator.signing import KEYS, sign
from tests.integration.clusters import running_olm
from tests.openpgp import Signer

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("gates")]

CLASSIC_OPERATOR = "operator-lifecycle-manager"
LIMIT = "olm.maxOpenShiftVersion"
CSV = "legacy.v1.0.0"

Serve = Callable[[str, str], None]
Publish = Callable[..., str]
Release = Callable[[str], str]


@pytest.fixture
def release(cluster: ClusterUpdates, store: Path, signer: Signer, keys: KubeObject) -> Release:
    """Pushes the signed release of a version; its image. The cluster begins with 4.18.0."""
    cluster.begin(ReleaseSpec("4.18.0", {KEYS: keys}))

    def publish(version: str) -> str:
        image = ReleaseSpec(version, {KEYS: keys}).publish(cluster.registry)
        sign(store, signer, image)
        return image

    return publish


@pytest.fixture
def olm(cluster: ClusterUpdates, tmp_path: Path, registry: Registry) -> Iterator[Olm]:
    """OLM v1 in the cluster that is updated."""
    with running_olm(tmp_path / "olm", cluster.control_plane, registry) as olm:
        yield olm


@pytest.fixture
def api(olm: Olm) -> Iterator[Api]:
    """The API server of the cluster that is updated."""
    with Api(olm.control_plane) as api:
        yield api


@pytest.fixture
def place(cluster: ClusterUpdates, tmp_path: Path, registry: Registry) -> Iterator[Place]:
    """A namespace of OLM Classic, whose olm-operator is of the release 4.18.0 as OpenShift's is."""
    classic = Classic(tmp_path / "classic", cluster.control_plane, registry, whole=True)
    classic.install()
    classic.environment = {"RELEASE_VERSION": "4.18.0"}
    try:
        classic.start_operator(f"--writeStatusName={CLASSIC_OPERATOR}")
        yield classic.place()
    finally:
        classic.stop()
        classic.api.__exit__(None, None, None)


def limited(package: str, version: str, latest: str) -> LimitedBundle:
    return LimitedBundle(package=package, version=version, latest=latest)


def refused(cluster: ClusterUpdates, text: str) -> None:
    """Waits until the update that is asked for is refused, for a reason."""

    def is_refused() -> bool:
        status, reason, message = cluster.condition("ReleaseAccepted")
        failed = 'Precondition "ClusterVersionUpgradeable" failed' in message and text in message
        return (status, reason, failed) == ("False", "PreconditionChecks", True)

    wait_until(is_refused, what=f"refused for {text}", timeout=PATIENCE_SECONDS)


def is_absent(cluster: ClusterUpdates, kind: str, text: str) -> bool:
    """Whether a condition does not name something."""
    return text not in cluster.condition(kind)[2]


def updated(cluster: ClusterUpdates, version: str) -> None:
    """Waits until the update that is asked for is accepted and done."""
    cluster.wait_condition("ReleaseAccepted", "True", version, timeout=PATIENCE_SECONDS)
    cluster.report(version)
    cluster.wait_level(version)


def test_what_olm_has_installed_holds_back_minor_updates(
    cluster: ClusterUpdates,
    release: Release,
    olm: Olm,
    api: Api,
    place: Place,
    package: str,
    publish_catalog: Publish,
    serve_catalog: Serve,
) -> None:
    bundles = (limited(package, "1.0.0", "4.18"), limited(package, "1.1.0", "4.19"))
    serve_catalog(package, publish_catalog(*bundles))
    olm.control_plane.apply(with_administrator(package, "1.0.0"))
    api.wait_installed(package, "1.0.0")
    properties = {"properties": [{"type": LIMIT, "value": "4.18"}]}
    place.csv(CSV, annotations={"operatorframework.io/properties": json.dumps(properties)})
    of_extension = f'ClusterExtension "{package}" (bundle "{package}.v1.0.0", {LIMIT} 4.18)'
    of_csv = f"maximum supported OCP version for {place.name}/{CSV} is 4.18"

    # Both are named, by the condition and to whoever asks for the minor version.
    cluster.wait_condition("Upgradeable", "False", of_csv)
    message = cluster.wait_condition("Upgradeable", "False", of_extension)
    assert of_csv in message
    assert cluster.condition("Upgradeable")[1] == "MultipleReasons"
    minor = release("4.19.0")
    cluster.ask(image=minor)
    refused(cluster, of_extension)
    assert of_csv in cluster.condition("ReleaseAccepted")[2]
    assert cluster.version["status"]["desired"]["version"] == "4.18.0"

    # A patch passes, and changes nothing of that.
    cluster.ask(image=release("4.18.1"))
    updated(cluster, "4.18.1")
    cluster.ask(image=minor)
    refused(cluster, of_extension)

    # What is updated, or deleted, does not count any more: the request goes through by itself.
    olm.control_plane.apply(with_administrator(package, "1.1.0"))
    api.wait_installed(package, "1.1.0")
    for kind in ("Upgradeable", "ReleaseAccepted"):
        gone = partial(is_absent, cluster, kind, of_extension)
        named = f"{kind} does not name what was updated"
        wait_until(gone, what=named, timeout=PATIENCE_SECONDS)
    assert cluster.condition("Upgradeable")[2].endswith(of_csv)
    refused(cluster, of_csv)
    place.delete("clusterserviceversions", CSV)
    updated(cluster, "4.19.0")
