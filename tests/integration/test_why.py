"""`olm why` against a real cluster, and catalogs that stay known while catalogd is away."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from e2e.olm.api import Api, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.manifests import extension, with_administrator
from e2e.olm.programs import Olm

pytestmark = pytest.mark.integration

Serve = Callable[[str, str], None]
Publish = Callable[..., str]


def olm_why(
    olm: Olm, *arguments: str, cas_dir: Path | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            str(Path(sys.executable).with_name("olm")),
            "why",
            *arguments,
            f"--kubeconfig={olm.control_plane.kubeconfig}",
            f"--catalogd-cas-dir={cas_dir or olm.catalogs_ca.parent}",
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture
def blocked(
    olm: Olm, api: Api, package: str, publish_catalog: Publish, serve_catalog: Serve
) -> str:
    """An extension at 1.0.0 whose spec asks for what does not follow it."""
    versions = ("1.0.0", "1.1.0", "2.0.0")
    serve_catalog(
        package, publish_catalog(*(BundleSpec(package=package, version=v) for v in versions))
    )
    apply = olm.control_plane.kubectl
    apply("apply", "-f", "-", stdin=with_administrator(package, "1.0.0"))
    api.wait_installed(package, "1.0.0")
    apply("apply", "-f", "-", stdin=extension(package, "2.x"))
    api.wait_condition(extension_path(package), "Progressing", "True", message="no bundles found")
    return package


def test_a_blocked_update_is_explained_and_the_change_that_is_told_unblocks_it(
    olm: Olm, api: Api, blocked: str
) -> None:
    told = olm_why(olm, blocked)
    assert told.returncode == 0, told.stderr
    assert f"installed    {blocked}.v1.0.0" in told.stdout
    assert 'set spec.source.catalog.version to "1.1.0"' in told.stdout
    assert f"it is no successor of {blocked}.v1.0.0: in channel stable it replaces" in told.stdout
    progressing = api.wait_condition(
        extension_path(blocked), "Progressing", "True", message="spec.source.catalog.version"
    )
    assert progressing

    answer = json.loads(olm_why(olm, blocked, "-o", "json").stdout)["explanation"]
    assert {cause["reason"] for cause in answer["causes"]} == {"NotASuccessor", "OutOfRange"}
    api.patch(extension_path(blocked), answer["advice"]["patch"])
    api.wait_installed(blocked, "1.1.0")
    settled = olm_why(olm, blocked)
    assert f"{blocked}.v1.1.0 is installed, and it is what the spec comes to" in settled.stdout
    assert 'set spec.source.catalog.version to "2.0.0"' in settled.stdout


def test_an_extension_that_is_not_there(olm: Olm) -> None:
    told = olm_why(olm, "nobody")
    assert told.returncode == 1
    assert told.stderr == (
        'error: there is no ClusterExtension "nobody"\n'
        "hint: see which there are: kubectl get clusterextensions\n"
    )


def test_a_catalogd_that_is_not_trusted_is_named(olm: Olm, blocked: str, tmp_path: Path) -> None:
    told = olm_why(olm, blocked, cas_dir=tmp_path)
    assert f'catalog "{blocked}" cannot be read' in told.stdout
    assert "CERTIFICATE_VERIFY_FAILED" in told.stdout


def test_what_is_known_of_a_catalog_outlives_catalogd(olm: Olm, api: Api, blocked: str) -> None:
    """Content of the resolved digest counts as available, after a restart of both too."""
    olm.kill(olm.catalogd)
    olm.kill(olm.operator_controller)
    try:
        olm.start_operator_controller()
        olm.control_plane.kubectl("apply", "-f", "-", stdin=extension(blocked, "1.1.x"))
        api.wait_installed(blocked, "1.1.0")
    finally:
        olm.start_catalogd()
