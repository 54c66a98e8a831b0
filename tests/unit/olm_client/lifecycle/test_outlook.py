"""Whether an update may come, what holds it, and which commands help."""

from typing import Any

import click
import pytest

from api.objects import KubeObject
from api.olm.v1.clusterextension import BundleMetadata, ClusterExtension
from olm_cli.lifecycle.outlook_text import outlook_lines
from olm_client.lifecycle.commands import command_of_patch, upgrade_command
from olm_client.lifecycle.outlook import Outlook, Standing, is_pinned, outlook, ways_of
from olm_runtime.errors import OLMError
from operator_controller.catalog import build_package
from operator_controller.resolve import CatalogContent

CATALOG = "spec.source.catalog."


def entry(version: str, replaces: str = "", **more: Any) -> dict[str, Any]:
    before = {"replaces": f"p.v{replaces}"} if replaces else {}
    return {"name": f"p.v{version}", **before, **more}


def catalog(*deprecated: str, **channels: list[dict[str, Any]]) -> CatalogContent:
    versions = {each["name"].removeprefix("p.v") for found in channels.values() for each in found}
    blobs: list[dict[str, Any]] = [
        {"schema": "olm.channel", "package": "p", "name": name, "entries": entries}
        for name, entries in channels.items()
    ]
    blobs += [
        {
            "schema": "olm.bundle",
            "package": "p",
            "name": f"p.v{version}",
            "properties": [
                {"type": "olm.package", "value": {"packageName": "p", "version": version}}
            ],
        }
        for version in sorted(versions)
    ]
    if deprecated:
        entries = [
            {"reference": {"schema": "olm.bundle", "name": f"p.v{each}"}, "message": "old"}
            for each in deprecated
        ]
        blobs.append({"schema": "olm.deprecations", "package": "p", "entries": entries})
    return CatalogContent(name="cat", package=build_package("p", blobs))


CHAIN = [entry("1.0.0"), entry("1.1.0", "1.0.0"), entry("2.0.0", "1.1.0")]
DONE = {"status": "True", "reason": "Succeeded", "message": "desired state reached"}
LACKING = {"status": "True", "reason": "Retrying", "message": "no rights\nConfigMap"}
QUIET = {"status": "Unknown", "reason": "Suspended", "message": "suspended: why\nhint: go on"}


def outlook_for(
    *contents: CatalogContent,
    installed: str = "1.0.0",
    progressing: dict[str, str] | None = None,
    **desired: Any,
) -> Outlook:
    raw: KubeObject = {
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterExtension",
        "metadata": {"name": "ext", "generation": 1},
        "spec": {
            "namespace": "ns",
            "serviceAccount": {"name": "sa"},
            "source": {"sourceType": "Catalog", "catalog": {"packageName": "p", **desired}},
        },
        "status": {
            "conditions": [
                {
                    "type": "Progressing",
                    "observedGeneration": 1,
                    "lastTransitionTime": "2026-01-01T00:00:00Z",
                    **(progressing or DONE),
                }
            ]
        },
    }
    there = BundleMetadata(name=f"p.v{installed}", version=installed) if installed else None
    return outlook(raw, ClusterExtension.from_object(raw), there, contents)


@pytest.mark.parametrize(
    ("found", "standing", "coming", "newest", "reason", "command"),
    [
        pytest.param(
            outlook_for(catalog(stable=CHAIN), installed="2.0.0"),
            Standing.NEWEST, "", "2.0.0", "", "",
            id="nothing newer",
        ),
        pytest.param(
            outlook_for(catalog(stable=CHAIN), installed="1.1.0"),
            Standing.UPDATES, "2.0.0", "2.0.0", "", "olm upgrade ext",
            id="comes by itself",
        ),
        pytest.param(
            outlook_for(catalog(stable=CHAIN), installed="1.1.0", progressing=LACKING),
            Standing.UPDATES, "2.0.0", "2.0.0", "no rights", "olm upgrade ext",
            id="would come, but lacks rights",
        ),
        pytest.param(
            outlook_for(catalog(stable=CHAIN), version="1.0.0"),
            Standing.HELD, "", "2.0.0",
            "2.0.0: its version is not in the range 1.0.0; the way there is 1.1.0, 2.0.0",
            "olm upgrade ext",
            id="pinned",
        ),
        pytest.param(
            outlook_for(catalog(stable=CHAIN), installed="1.1.0", version="1.x"),
            Standing.HELD, "", "2.0.0", "2.0.0: its version is not in the range 1.x",
            "olm upgrade ext --version 2.0.0",
            id="a range is a decision",
        ),
        pytest.param(
            outlook_for(catalog(stable=CHAIN[:1], next=[*CHAIN]), channels=["stable"]),
            Standing.HELD, "", "2.0.0", "2.0.0: it is in next, not in stable",
            "olm upgrade ext --channel stable --channel next",
            id="the channel has no further head",
        ),
        pytest.param(
            outlook_for(catalog(stable=[entry("1.0.0"), entry("3.0.0")])),
            Standing.HELD, "", "3.0.0",
            "3.0.0: it is no successor of p.v1.0.0: in channel stable it follows nothing",
            "olm upgrade ext --upgrade-constraint-policy SelfCertified",
            id="no path",
        ),
        pytest.param(
            outlook_for(catalog("2.0.0", stable=CHAIN), installed="1.1.0", version="1.x"),
            Standing.NEWEST, "", "1.1.0", "", "",
            id="a deprecated one is no reason to go on",
        ),
        pytest.param(
            outlook_for(catalog(stable=[*CHAIN, entry("2.1.0-rc.1", "2.0.0")]), installed="2.0.0",
                 version=">=2.0.0"),
            Standing.NEWEST, "", "2.0.0", "", "",
            id="nor is a prerelease",
        ),
        pytest.param(
            outlook_for(catalog(stable=CHAIN), installed="1.1.0", progressing=QUIET),
            Standing.SUSPENDED, "2.0.0", "2.0.0", "suspended: why", "olm upgrade ext",
            id="suspended",
        ),
        pytest.param(
            outlook_for(catalog(stable=CHAIN), installed=""),
            Standing.NOT_INSTALLED, "", "", "nothing is installed", "",
            id="nothing is installed",
        ),
        pytest.param(
            outlook_for(), Standing.UNKNOWN, "", "",
            'error upgrading from currently installed version "1.0.0": no bundles found for '
            'package "p"', "",
            id="no catalog",
        ),
    ],
)  # fmt: skip
def test_outlooks(
    found: Outlook, standing: Standing, coming: str, newest: str, reason: str, command: str
) -> None:
    assert (found.standing, found.coming, found.newest) == (standing, coming, newest)
    assert list(found.reasons) == ([reason] if reason else [])
    assert list(found.commands) == ([command] if command else [])


def test_ways_are_the_shortest() -> None:
    entries = [*CHAIN, entry("3.0.0", "2.0.0", skipRange=">=1.1.0 <2.0.0"), entry("9.0.0")]
    content = catalog(stable=entries)
    there = BundleMetadata(name="p.v1.0.0", version="1.0.0")
    desired = ClusterExtension.from_object(
        {
            "apiVersion": "olm.operatorframework.io/v1",
            "kind": "ClusterExtension",
            "metadata": {"name": "ext"},
            "spec": {
                "namespace": "ns",
                "source": {"sourceType": "Catalog", "catalog": {"packageName": "p"}},
            },
        }
    ).spec.source.catalog
    ways = ways_of(desired, there, [content])
    assert ways.steps == {
        "p.v3.0.0": ("1.1.0", "3.0.0"),
        "p.v2.0.0": ("1.1.0", "2.0.0"),
        "p.v1.1.0": ("1.1.0",),
    }
    assert ways.text() == "from 1.0.0 an update leads to 1.1.0; then to 3.0.0, 2.0.0"
    last = BundleMetadata(name="p.v9.0.0", version="9.0.0")
    assert ways_of(desired, last, [content]).text() == "no update leads on from 9.0.0"


@pytest.mark.parametrize(
    ("changes", "command"),
    [
        pytest.param([], "olm upgrade ext", id="nothing"),
        pytest.param(
            [(f"{CATALOG}version", ">=1 <2")], "olm upgrade ext --version '>=1 <2'", id="a range"
        ),
        pytest.param([(f"{CATALOG}version", None)], "olm upgrade ext --version ''", id="none"),
        pytest.param(
            [(f"{CATALOG}channels", ["a", "b"])],
            "olm upgrade ext --channel a --channel b",
            id="channels",
        ),
        pytest.param([(f"{CATALOG}channels", None)], "", id="no option takes channels away"),
        pytest.param([("spec.namespace", "x")], "", id="no option is for it"),
    ],
)
def test_commands(changes: list[tuple[str, Any]], command: str) -> None:
    assert upgrade_command("ext", changes) == command


def test_a_patch_that_names_a_catalog_names_it_in_the_command() -> None:
    labels = {"a": None, "olm.operatorframework.io/metadata.name": "cat"}
    selector = {"matchLabels": labels, "matchExpressions": None}
    patch = {"spec": {"source": {"catalog": {"version": "1.0.0", "selector": selector}}}}
    assert command_of_patch("ext", patch) == "olm upgrade ext --version 1.0.0 --catalog cat"


@pytest.mark.parametrize(
    ("version", "pinned"),
    [("1.0.0", True), ("=1.0.0", True), ("1.0.0-rc.1", True), ("1.x", False), (">=1.0.0", False),
     ("", False)],
)  # fmt: skip
def test_what_is_pinned(version: str, *, pinned: bool) -> None:
    raw = {
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterExtension",
        "metadata": {"name": "ext"},
        "spec": {
            "namespace": "ns",
            "source": {
                "sourceType": "Catalog",
                "catalog": {"packageName": "p", **({"version": version} if version else {})},
            },
        },
    }
    assert is_pinned(ClusterExtension.from_object(raw).spec.source.catalog) is pinned


def test_a_newest_version_that_is_not_known_is_not_named() -> None:
    down = CatalogContent(name="cat", unavailable=OLMError("it is down"))
    first, *rest = outlook_lines(outlook_for(down))
    assert click.unstyle(first) == "ext: Unknown: 1.0.0 is installed"
    assert any("it is down" in line for line in rest)
