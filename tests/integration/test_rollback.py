"""`olm history` and `olm rollback` on a real cluster."""

import json
import shlex
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from api.objects import metadata
from e2e.harness.controlplane import wait_until
from e2e.olm.api import Api, catalog_path, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.manifests import extension, with_administrator
from e2e.olm.programs import Olm
from e2e.olm.warm import warm_program

pytestmark = pytest.mark.integration

Serve = Callable[[str, str], None]
Publish = Callable[..., str]
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(olm: Olm) -> Run:
    """The command line."""

    def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [
                warm_program("olm"),
                *arguments,
                f"--kubeconfig={olm.control_plane.kubeconfig}",
            ],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    return command


def rows(run: Run, name: str) -> list[tuple[Any, ...]]:
    result = run("history", name, "-o", "json")
    assert result.returncode == 0, result.stderr
    revisions = json.loads(result.stdout)["revisions"]
    return [(r["revision"], r["version"], r["state"], r["cause"]) for r in revisions]


def configmap(package: str, name: str) -> str:
    return f"/api/v1/namespaces/{package}/configmaps/{package}-{name}"


def crd(group: str) -> str:
    return f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.{group}"


@pytest.fixture
def updated(
    olm: Olm, api: Api, package: str, publish_catalog: Publish, serve_catalog: Serve
) -> str:
    """0.1.0 was installed by hand, 0.2.0 by a change of the spec; only 0.2.0 has a definition."""
    first = BundleSpec(package=package, version="0.1.0", configmaps=("settings", "old"))
    second = BundleSpec(
        package=package,
        version="0.2.0",
        configmaps=("settings", "new"),
        data={"key": "changed"},
        crd_group=f"{package}.example.com",
    )
    serve_catalog(package, publish_catalog(first, second))
    olm.control_plane.apply(with_administrator(package, "0.1.0"))
    api.wait_installed(package, "0.1.0")
    olm.control_plane.apply(extension(package, "0.x"))
    api.wait_installed(package, "0.2.0")
    api.wait_gone(configmap(package, "old"))
    return package


def test_back_and_on_again_without_the_catalog(olm: Olm, api: Api, run: Run, updated: str) -> None:
    assert rows(run, updated) == [
        (1, "0.1.0", "Archived", "Install"),
        (2, "0.2.0", "Installed", "SpecChanged"),
    ]
    before = metadata(api.get(extension_path(updated)) or {})["generation"]
    shown = run("rollback", updated, "--dry-run")
    assert shown.returncode == 0, shown.stderr
    assert 'spec.source.catalog.version: "0.x" -> "0.1.0"' in shown.stdout
    assert metadata(api.get(extension_path(updated)) or {})["generation"] == before

    api.delete(catalog_path(updated))
    api.wait_gone(catalog_path(updated))
    result = run("rollback", updated, "--wait", "--timeout=180")
    assert result.returncode == 0, result.stderr
    assert result.stdout.endswith(f"{updated}: {updated}.v0.1.0 is installed\n")
    assert (api.get(configmap(updated, "settings")) or {})["data"] == {"key": "value"}
    assert api.get(configmap(updated, "old")) is not None
    api.wait_gone(configmap(updated, "new"))
    api.wait_gone(crd(f"{updated}.example.com"))
    assert rows(run, updated)[1:] == [
        (2, "0.2.0", "Archived", "SpecChanged"),
        (3, "0.1.0", "Installed", "Rollback"),
    ]
    reported = {"RollingBack", "RolledBack"}
    wait_until(lambda: reported <= {*api.reasons(updated)}, what=f"Events {reported}")

    again = run("rollback", updated)
    assert again.returncode == 1
    assert "has no revision of a lower version that rolled out" in again.stderr
    # Forward, to a kept revision too, and then as the command said.
    assert run("rollback", updated, "--to", "2", "--wait", "--timeout=180").returncode == 0
    api.wait_installed(updated, "0.2.0")
    assert api.get(crd(f"{updated}.example.com")) is not None
    on = result.stdout.partition("to go on later, as before:\n")[2].splitlines()
    policy = "--upgrade-constraint-policy CatalogProvided"
    assert on[0] == f"  olm upgrade {updated} --version 0.x {policy}"
    olm.control_plane.kubectl(*shlex.split(on[1])[2:])
    spec = (api.get(extension_path(updated)) or {})["spec"]["source"]["catalog"]
    assert (spec["version"], spec["upgradeConstraintPolicy"]) == ("0.x", "CatalogProvided")
    # Nothing offers what the range asks for now, and what is installed stays.
    found = api.wait_condition(extension_path(updated), "Progressing", "True", message="no bundles")
    assert found["status"]["install"]["bundle"]["version"] == "0.2.0"


def test_refused_while_objects_are_stored_that_only_the_newer_one_knows(
    api: Api, olm: Olm, run: Run, updated: str
) -> None:
    group = f"{updated}.example.com"
    thing = json.dumps(
        {
            "apiVersion": f"{group}/v1",
            "kind": "Thing",
            "metadata": {"name": "mine", "namespace": updated},
        }
    )
    olm.control_plane.apply(thing)
    refused = run("rollback", updated, "--to", "1")
    assert refused.returncode == 1
    result = f"does not have it, and 1 object would be deleted with it: {updated}/mine"
    assert result in refused.stderr
    spec = (api.get(extension_path(updated)) or {})["spec"]["source"]["catalog"]
    assert spec["version"] == "0.x"
    preflight = {"preflight": {"crdUpgradeSafety": {"enforcement": "None"}}}
    api.patch(extension_path(updated), {"spec": {"install": preflight}})
    assert run("rollback", updated, "--to", "1", "--dry-run").returncode == 0
    api.patch(extension_path(updated), {"spec": {"install": None}})
    olm.control_plane.end(f"/apis/{group}/v1/namespaces/{updated}/things/mine")
    assert run("rollback", updated, "--to", "1", "--wait").returncode == 0


@pytest.mark.parametrize("command", ["history", "rollback"])
def test_an_extension_that_is_not_there(run: Run, command: str) -> None:
    result = run(command, "nobody")
    assert (result.returncode, result.stderr.splitlines()[0]) == (
        1,
        'error: there is no ClusterExtension "nobody"',
    )
