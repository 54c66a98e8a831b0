"""`olm upgrade` on a real cluster: what it shows, refuses, and writes in which order."""

import signal
from collections.abc import Callable
from typing import Any

import pytest

from api.objects import KubeObject, metadata
from e2e.olm.api import Api, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.manifests import with_administrator
from e2e.olm.programs import Olm
from olm_client.history import change, read_record
from olm_client.lifecycle.dry_run import with_accepted_spec
from olm_client.lifecycle.spec_fields import SpecFields, with_fields
from olm_runtime.errors import TerminalError
from olm_runtime.kube.access import load_access
from olm_runtime.kube.client import KubeClient
from tests.integration.olm_shell import Shell, trusting

pytestmark = pytest.mark.integration

Publish = Callable[..., str]
Serve = Callable[[str, str], None]

RULES = "/apis/rbac.authorization.k8s.io/v1"


@pytest.fixture(scope="module")
def shell(olm: Olm, tmp_path_factory: pytest.TempPathFactory) -> Shell:
    return trusting(olm, tmp_path_factory.mktemp("user"))(olm.control_plane.kubeconfig)


@pytest.fixture
def served(package: str, publish_catalog: Publish, serve_catalog: Serve) -> str:
    """A package of three versions, each of which replaces the one before it."""
    versions = [
        BundleSpec(package=package, version="1.0.0", configmaps=("settings", "old")),
        BundleSpec(package=package, version="2.0.0", configmaps=("settings", "new")),
        BundleSpec(package=package, version="3.0.0", configmaps=("settings", "new")),
    ]
    serve_catalog(package, publish_catalog(*versions))
    return package


def spec(api: Api, package: str) -> dict[str, Any]:
    found: dict[str, Any] = (api.get(extension_path(package)) or {})["spec"]
    return found


def role(api: Api, package: str) -> KubeObject:
    """The ClusterRole of its account."""
    return api.get(f"{RULES}/clusterroles/{package}-installer") or {}


def roles(api: Api, package: str) -> dict[str, str]:
    """The resource versions of what its account may do."""
    paths = f"{RULES}/clusterroles", f"{RULES}/namespaces/{package}/roles"
    found = (api.get(f"{path}/{package}-installer") for path in paths)
    return {each["kind"]: metadata(each)["resourceVersion"] for each in found if each}


def test_an_upgrade_asks_for_rights_then_brings_them_and_the_version(
    api: Api, shell: Shell, served: str
) -> None:
    installed = shell("install", served, "--version=1.0.0", "--wait", "--timeout=180")
    assert installed.returncode == 0, installed.stderr
    before, rights = spec(api, served), roles(api, served)

    [row] = _outlooks(shell, served, code=1)
    assert (row["standing"], row["installed"], row["newest"]) == ("Held", "1.0.0", "3.0.0")
    assert "the way there is 2.0.0, 3.0.0" in row["reasons"][0]
    assert row["commands"] == [f"olm upgrade {served}"]

    refused = shell("upgrade", served)
    assert refused.returncode == 1, refused.stdout
    assert f"{served}: {served}.v1.0.0 -> {served}.v2.0.0 from catalog {served}" in refused.stdout
    assert 'spec.source.catalog.version: "1.0.0" -> "2.0.0"' in refused.stdout
    assert f"grant them: olm upgrade {served} --version 2.0.0 --grant\n" in refused.stdout
    assert refused.stdout.endswith("nothing was written\n")
    dry = shell("upgrade", served, "--grant", "--dry-run")
    assert (dry.returncode, "in the way" in dry.stdout) == (0, False), dry.stderr
    assert (spec(api, served), roles(api, served)) == (before, rights)

    _killed_after_the_rights(api, shell, served, rights)
    done = shell("upgrade", served, "--version=2.0.0", "--grant", "--wait", "--timeout=180")
    assert done.returncode == 0, done.stdout + done.stderr
    api.wait_installed(served, "2.0.0")
    assert spec(api, served)["source"]["catalog"]["version"] == "2.0.0"
    _may_only_what_is_needed(api, shell, served, "2.0.0")
    _back_and_on_again(api, shell, served)

    assert _outlooks(shell, served, code=1)[0]["commands"] == [f"olm upgrade {served}"]
    last = shell.answer("upgrade", served, "--version", "", "--grant", "--wait")
    assert last["written"] is True
    assert "version" not in spec(api, served)["source"]["catalog"]
    api.wait_installed(served, "3.0.0")
    again = shell("upgrade", served)
    assert (again.returncode, again.stdout.splitlines()[-1]) == (0, "nothing is to be done")
    assert _outlooks(shell, served)[0]["standing"] == "Newest"


def _killed_after_the_rights(api: Api, shell: Shell, package: str, rights: dict[str, str]) -> None:
    """Wherever it is hit, the same command goes on from there."""
    stopped = shell.start("upgrade", package, "--version=2.0.0", "--grant")
    while roles(api, package) == rights and stopped.poll() is None:
        pass
    stopped.send_signal(signal.SIGKILL)
    stopped.communicate(timeout=60)
    assert roles(api, package) != rights


def _back_and_on_again(api: Api, shell: Shell, package: str) -> None:
    """What only the old version needs was taken back, so the way back asks for it."""
    before = spec(api, package)
    refused = shell("rollback", package, "--wait")
    assert refused.returncode == 1, refused.stdout
    assert f"{package} cannot go back to revision 1:\npre-authorization failed" in refused.stderr
    assert f"hint: grant them: olm rollback {package} --to 1 --grant" in refused.stderr
    assert spec(api, package) == before
    back = shell("rollback", package, "--grant", "--wait", "--timeout=180")
    assert back.returncode == 0, back.stdout + back.stderr
    api.wait_installed(package, "1.0.0")
    _may_only_what_is_needed(api, shell, package, "1.0.0")
    on = ("--version=2.0.0", "--upgrade-constraint-policy=CatalogProvided", "--grant", "--wait")
    assert shell("upgrade", package, *on).returncode == 0


def _may_only_what_is_needed(api: Api, shell: Shell, package: str, version: str) -> None:
    items = shell.answer("rbac", package, f"--version={version}")["items"]
    [wanted] = [each for each in items if each["kind"] == "ClusterRole"]
    assert role(api, package)["rules"] == wanted["rules"]


def _outlooks(shell: Shell, package: str, code: int = 0) -> list[Any]:
    """What --check says of one extension; of all it says the same."""
    found: list[Any] = shell.answer("upgrade", "--check", package, code=code)["extensions"]
    every = shell("upgrade", "--check")
    assert every.returncode in (1, 2) if code else True
    [line] = [line for line in every.stdout.splitlines() if line.startswith(package)]
    assert line.split()[1] == found[0]["installed"]
    return found


def test_a_version_that_cannot_be_reached_is_reported_with_those_that_can(
    olm: Olm, api: Api, shell: Shell, served: str
) -> None:
    olm.control_plane.apply(with_administrator(served, "1.x"))
    api.wait_installed(served, "1.0.0")
    refused = shell("upgrade", served, "--version", "3.0.0")
    assert refused.returncode == 1
    assert "from 1.0.0 an update leads to 2.0.0; then to 3.0.0" in refused.stdout
    unchanged = shell("upgrade", served)
    assert (unchanged.returncode, "nothing is to be done" in unchanged.stdout) == (0, True)
    assert f"hint: olm upgrade {served} --version 2.0.0" in unchanged.stdout
    # In spite of the author, who offers no such step; its account may do everything.
    free = ("--upgrade-constraint-policy", "SelfCertified")
    done = shell("upgrade", served, "--version", "3.0.0", *free, "--wait")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{served}.v1.0.0 -> {served}.v3.0.0 is installed; objects: " in done.stdout


def test_what_is_suspended_or_shares_its_account_is_not_upgraded(
    olm: Olm, api: Api, shell: Shell, served: str
) -> None:
    assert shell("install", served, "--version=1.0.0", "--wait").returncode == 0
    assert shell("suspend", served, "--reason", "why").returncode == 0
    [row] = shell.answer("upgrade", "--check", served, code=1)["extensions"]
    assert row["standing"] == "Suspended"
    stopped = shell("upgrade", served, "--grant")
    assert stopped.returncode == 1
    assert f"in the way: ClusterExtension {served} is suspended: why" in stopped.stdout
    assert shell("resume", served, "--wait").returncode == 0
    other = shell(
        "install", served, f"--extension={served}-b", "--no-account", "--version=1.0.0",
        f"--namespace={served}", f"--service-account={served}-installer",
    )  # fmt: skip
    assert other.returncode == 0, other.stderr
    rights = roles(api, served)
    shared = shell("upgrade", served, "--grant")
    assert f"is that of {served}-b, too" in shared.stderr
    assert roles(api, served) == rights
    olm.control_plane.end(extension_path(f"{served}-b"))


async def test_a_status_that_was_written_meanwhile_hinders_no_change(
    olm: Olm, api: Api, package: str
) -> None:
    olm.control_plane.apply(with_administrator(package, "1.0.0"))
    access = load_access(str(olm.control_plane.kubeconfig))
    async with KubeClient.connect(access) as kube:
        record = await read_record(kube, package)
        await kube.patch(record.raw, {"metadata": {"annotations": {"read": "before"}}})
        wanted = SpecFields(version="2.0.0")
        accepted = await with_accepted_spec(
            kube, record.raw, with_fields(record.raw["spec"], wanted)
        )
        assert accepted["spec"]["source"]["catalog"]["version"] == "2.0.0"
        await change(kube, record, {"spec": {"source": {"catalog": {"version": "2.0.0"}}}})
        assert spec(api, package)["source"]["catalog"]["version"] == "2.0.0"
        with pytest.raises(TerminalError, match="changed by somebody else meanwhile"):
            await change(kube, record, {"spec": {"source": {"catalog": {"version": "3.0.0"}}}})
    assert spec(api, package)["source"]["catalog"]["version"] == "2.0.0"
    olm.control_plane.remove(extension_path(package))
