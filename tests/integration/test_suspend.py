"""`olm suspend` and `olm resume` on a real cluster: nothing is written meanwhile."""

import json
import subprocess
import time
from collections.abc import Callable

import pytest

from api.objects import KubeObject, metadata
from e2e.harness.apply import objects_of
from e2e.harness.controlplane import wait_until
from e2e.olm.api import OLM, Api, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.manifests import extension, with_administrator
from e2e.olm.programs import Olm
from e2e.olm.warm import warm_program

pytestmark = pytest.mark.integration

Publish = Callable[..., str]
Serve = Callable[[str, str], None]
Run = Callable[..., subprocess.CompletedProcess[str]]

REASON = "moving its database"


@pytest.fixture
def run(olm: Olm) -> Run:
    """The command line."""

    def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        program = warm_program("olm")
        return subprocess.run(
            [program, *arguments, f"--kubeconfig={olm.control_plane.kubeconfig}"],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    return command


@pytest.fixture
def installed(
    olm: Olm, api: Api, package: str, publish_catalog: Publish, serve_catalog: Serve
) -> str:
    """0.1.0 of two versions."""
    first = BundleSpec(package=package, version="0.1.0", configmaps=("settings", "old"))
    second = BundleSpec(package=package, version="0.2.0", configmaps=("settings", "taken"))
    serve_catalog(package, publish_catalog(first, second))
    olm.control_plane.apply(with_administrator(package, "0.1.0"))
    api.wait_installed(package, "0.1.0")
    return package


def configmap(package: str, name: str) -> str:
    return f"/api/v1/namespaces/{package}/configmaps/{package}-{name}"


def revisions(api: Api, package: str) -> list[tuple[str, str]]:
    """Name and specification of each, as text."""
    labels = f"olm.operatorframework.io/owner-name={package}"
    found = api.list(f"{OLM}/clusterobjectsets", labels)
    return sorted((metadata(each)["name"], json.dumps(each["spec"])) for each in found)


def suspended(api: Api, package: str, message: str = "") -> KubeObject:
    found = api.wait_condition(extension_path(package), "Progressing", "Unknown", message=message)
    assert found["status"]["install"]["bundle"]["version"] == "0.1.0"
    return found


def test_nothing_is_written_until_it_is_resumed(
    olm: Olm, api: Api, run: Run, installed: str
) -> None:
    result = run("suspend", installed, "--reason", REASON, "-o", "json")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert (found["phase"], found["version"]) == ("Suspended", "0.1.0")
    assert found["message"].startswith(f"suspended: {REASON} (by ")
    assert found["hint"] == f"to go on: olm resume {installed}"
    assert run("status", installed).stdout.count(found["hint"]) == 1
    named = f"clusterextension.olm.operatorframework.io/{installed}\n"
    assert run("upgrade", "--check", installed, "-o", "name").stdout == named

    before = revisions(api, installed)
    changed, deleted = configmap(installed, "settings"), configmap(installed, "old")
    api.patch(changed, {"data": {"key": "mine"}})
    api.delete(deleted)
    # A change of the spec asks for another version.
    olm.control_plane.apply(extension(installed, "0.2.0"))
    suspended(api, installed, f"ConfigMap {installed}/{installed}-old is missing")
    suspended(api, installed, f"ConfigMap {installed}/{installed}-settings was changed")

    # One that starts knows it too, before it writes anything.
    olm.stop_operator_controller()
    olm.start_operator_controller()
    annotations = {"olm.operatorframework.io/suspend-reason": "still"}
    api.patch(extension_path(installed), {"metadata": {"annotations": annotations}})
    suspended(api, installed, "suspended: still\n")
    assert revisions(api, installed) == before
    assert (api.get(changed) or {})["data"]["key"] == "mine"
    assert api.get(deleted) is None
    assert "suspended: still" in run("status").stdout
    assert "olm resume" in run("why", installed).stdout

    result = run("resume", installed, "--wait")
    assert (result.returncode, result.stdout) == (
        0,
        f"{installed}: {installed}.v0.2.0 is installed\n",
    ), result.stderr
    assert (api.get(changed) or {})["data"]["key"] == "value"
    reported = {"Suspended", "Resumed", "Updated"}
    wait_until(lambda: reported <= {*api.reasons(installed)}, what=f"Events {reported}")
    assert run("resume", installed).stdout == f"{installed} is not suspended\n"


def test_one_that_is_suspended_can_be_deleted_and_made_anew(
    olm: Olm, api: Api, run: Run, installed: str
) -> None:
    assert run("suspend", installed).returncode == 0
    api.delete(extension_path(installed))
    api.wait_gone(extension_path(installed))
    api.wait_gone(configmap(installed, "settings"))
    # Made suspended, it is told so, and nothing of it is installed before it is resumed.
    [new] = objects_of(extension(installed, "0.1.0"))
    new["metadata"]["annotations"] = {"olm.operatorframework.io/suspend": "true"}
    api.create(f"{OLM}/clusterextensions", new)
    api.wait_condition(extension_path(installed), "Progressing", "Unknown", message="suspended")
    assert revisions(api, installed) == []
    assert run("resume", installed, "--wait").returncode == 0
    assert api.get(configmap(installed, "settings")) is not None


def test_a_rollout_stops_where_it_is(olm: Olm, api: Api, run: Run, installed: str) -> None:
    """What is not rolled out waits, and the old revision is neither archived nor restored."""
    taken = configmap(installed, "taken")
    # What somebody else has holds up the next version.
    api.create(taken.rpartition("/")[0], {"metadata": {"name": f"{installed}-taken"}})
    olm.control_plane.apply(extension(installed, "0.2.0"))
    name = f"{OLM}/clusterobjectsets/{installed}-2"
    api.wait_condition(name, "Progressing", "True", message=f"{installed}-taken")
    assert run("suspend", installed).returncode == 0
    found = suspended(api, installed, f"(revision {installed}-2) has not rolled out")
    assert {r["name"] for r in found["status"]["activeRevisions"]} == {
        f"{installed}-1",
        f"{installed}-2",
    }
    api.delete(taken)
    time.sleep(1)  # long enough to make it, if it were watched for that
    assert api.get(taken) is None
    assert run("resume", installed, "--wait").returncode == 0
    api.wait_installed(installed, "0.2.0")
