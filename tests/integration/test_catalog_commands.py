"""`olm catalog` against a real cluster, registry and catalogd."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.harness.controlplane import wait_until
from e2e.harness.images import build_image
from e2e.harness.registry import Registry
from e2e.olm.api import Api, catalog_path, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.manifests import with_administrator
from e2e.olm.programs import Olm
from tests.integration import test_finding as finding

pytestmark = pytest.mark.integration

Publish = Callable[..., str]
Shell = finding.Shell

shell = finding.shell


class Catalogs:
    """`olm catalog` as a user runs it."""

    def __init__(self, olm: Olm, shell: Shell) -> None:
        self._cas = olm.catalogs_ca.parent
        self._shell = shell

    def __call__(self, command: str, *arguments: str) -> finding.Completed:
        reads = command in ("show", "refresh", "remove")
        return self._shell("catalog", command, *arguments, cas_dir=self._cas if reads else None)

    def answer(self, command: str, *arguments: str, code: int = 0) -> Any:
        result = self(command, *arguments, "-o", "json")
        assert result.returncode == code, result.stdout + result.stderr
        return json.loads(result.stdout)

    def tab(self, *words: str) -> list[str]:
        """What the Tab key offers for the last word."""
        asked = {
            "_OLM_COMPLETE": "bash_complete",
            "COMP_WORDS": " ".join(["olm", *words]),
            "COMP_CWORD": str(len(words)),
            "KUBECONFIG": str(self._shell.kubeconfig),
            "XDG_CACHE_HOME": str(self._shell.cache),
        }
        program = str(Path(sys.executable).with_name("olm"))
        completed = subprocess.run(
            [program], capture_output=True, text=True, check=True, env=os.environ | asked
        )
        return [line.removeprefix("plain,") for line in completed.stdout.splitlines()]


@pytest.fixture
def catalogs(olm: Olm, shell: Shell, package: str) -> Iterator[Catalogs]:
    yield Catalogs(olm, shell)
    olm.control_plane.end(catalog_path(package))


def bundles(package: str, *versions: str) -> list[BundleSpec]:
    return [BundleSpec(package=package, version=version) for version in versions]


def test_a_catalog_is_added_refreshed_switched_off_and_on_and_removed(
    olm: Olm, api: Api, package: str, publish_catalog: Publish, catalogs: Catalogs
) -> None:
    image = publish_catalog(*bundles(package, "1.0.0"))
    added = catalogs.answer("add", package, image, "--wait", "--label", "team=a")
    assert (added["result"], added["phase"], added["labels"]) == (
        "created",
        "Serving",
        {"team": "a"},
    )
    assert added["pollIntervalMinutes"] == 10
    fields = (api.get(catalog_path(package)) or {})["metadata"]["managedFields"]
    assert ("olm", "Apply") in {(each["manager"], each["operation"]) for each in fields}
    again = catalogs.answer("add", package, image, "--wait", "--label", "team=a")
    assert again["result"] == "unchanged"
    other = catalogs("add", package, image, "--priority", "7")
    assert other.returncode == 1
    assert "  spec.priority: 0 -> 7\n" in other.stderr
    assert f"hint: change it: kubectl edit clustercatalog {package}; " in other.stderr

    publish_catalog(*bundles(package, "1.0.0", "1.1.0"))
    refreshed = catalogs("refresh", package)
    assert refreshed.returncode == 0, refreshed.stderr
    head, *rest = refreshed.stdout.splitlines()
    assert head.startswith(f"{package}: new content, {added['digest'][:19]} -> sha256:")
    assert rest == [f"  ~ {package}: + 1.1.0", "  packages: 0 added, 0 removed, 1 changed"]

    olm.control_plane.apply(with_administrator(package, "1.0.0"))
    api.wait_installed(package, "1.0.0")
    shown = catalogs.answer("show", package)
    assert shown["packages"] == 1
    missing = {"extension": package, "package": package, "version": "1.0.0", "otherCatalogs": []}
    assert shown["extensions"] == [missing]
    lines = catalogs("show", package).stdout.splitlines()
    assert lines[0] == f"{package}: Serving"
    assert f"  image     {image}" in lines
    assert f"  {package} ({package} 1.0.0)" in lines

    assert catalogs.tab("plan", package, "--version", "") == ["1.1.0", "1.0.0"]
    # What does not answer within a second completes nothing.
    tab, what = catalogs.tab, "completion"
    wait_until(lambda: tab("rollback", package, "--to", "") == ["1"], what=what)
    wait_until(lambda: tab("install", package, "--channel", "") == ["stable"], what=what)
    wait_until(lambda: package in tab("install", package, "-n", "pkg-"), what=what)
    wait_until(lambda: package in tab("catalog", "show", package[:6]), what=what)

    [off] = catalogs.answer("disable", package, "--wait")["catalogs"]
    assert (off["phase"], off["changed"]) == ("Off", True)
    assert f"{package} was disabled already" in catalogs("disable", package).stdout
    refused = catalogs("refresh", package)
    assert refused.stderr == (
        f"error: {package} is switched off\nhint: olm catalog enable {package}\n"
    )
    [on] = catalogs.answer("enable", package, "--wait")["catalogs"]
    assert (on["phase"], on["pollIntervalMinutes"]) == ("Serving", 10)

    preview = catalogs("remove", package, "--preview")
    assert preview.stdout.splitlines() == [
        "without it these extensions would find no updates; what is installed stays:",
        f"  {package} ({package} 1.0.0)",
    ]
    nobody = catalogs("remove", package)
    assert "error: nobody can be asked whether to delete" in nobody.stderr
    gone = catalogs("remove", package, "--yes", "--wait")
    assert gone.stdout.splitlines()[-1] == f"{package} is gone"
    assert api.get(catalog_path(package)) is None
    assert api.get(extension_path(package)) is not None
    absent = catalogs("show", package)
    assert absent.stderr.startswith(f'error: there is no ClusterCatalog "{package}"\nhint: ')


def test_what_hinders_a_refresh_is_reported(
    package: str, publish_catalog: Publish, registry: Registry, catalogs: Catalogs
) -> None:
    image = publish_catalog(*bundles(package, "1.0.0"))
    assert catalogs("add", package, image, "--poll-interval", "0", "--wait").returncode == 0
    [same] = catalogs.answer("refresh", package)["catalogs"]
    assert (same["result"], same["digest"]) == ("unchanged", same["previousDigest"])

    registry.push(build_image([{"a": b"b"}]), f"catalogs/{package}", tag="latest")
    failed = catalogs("refresh", package)
    assert failed.returncode == 1
    assert failed.stdout.startswith(
        f"{package}: not refreshed: source catalog content: catalog image is missing the required"
    )
    assert "hint: " in failed.stdout
    [listed] = [each for each in catalogs.answer("list")["catalogs"] if each["name"] == package]
    assert listed["phase"] == "Retrying"
    table = catalogs("list").stdout.splitlines()
    assert table[0].split()[:4] == ["CATALOG", "PHASE", "PRIORITY", "POLL"]
    assert any(line.startswith(f"{package}  Retrying") for line in table)


def test_wrong_arguments_are_reported_before_anything_is_written(catalogs: Catalogs) -> None:
    for arguments, message in (
        (("add", "x", "quay.io/a/b"), 'error parsing image reference "quay.io/a/b"'),
        (("add", "x", "quay.io/a/b:c", "--poll-interval", "90s"), "say 10m, 2h, or 0 for never"),
        (("add", "x", "quay.io/a/b:c", "--label", "a"), "'a' is no label; say KEY=VALUE"),
        (("refresh",), "give CATALOG or --all"),
        (("remove", "x", "--preview", "--yes"), "--preview deletes nothing"),
    ):
        refused = catalogs(*arguments)
        assert refused.returncode in (1, 2), arguments
        assert message in refused.stderr
