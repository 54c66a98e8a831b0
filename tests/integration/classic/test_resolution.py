"""Namespaces that resolve by the rules of the documents, that do not, and what users are shown."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from e2e.harness.registry import Registry
from e2e.olm.classic import Classic, Place, status
from tests.integration.classic.test_subscriptions import Bundles, channel, conditions, latest
from tests.integration.olm_shell import Shell

pytestmark = pytest.mark.integration

Blob = dict[str, Any]
KEEPER = {"group": "example.com", "version": "v1", "kind": "Keeper"}
EXCLUDE = "olm.operatorframework.io/exclude-global-namespace-resolution"


@pytest.fixture(scope="module")
def bundles(registry: Registry) -> Bundles:
    return Bundles(registry)


@pytest.fixture
def olm(classic: Classic, tmp_path: Path) -> Shell:
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "PATH": "/usr/bin:/bin"}
    return Shell(classic.control_plane.kubeconfig, cache)


def with_property(blobs: list[Blob], name: str, kind: str, value: Any) -> list[Blob]:
    """The blobs, with one more property of a bundle."""
    for blob in blobs:
        if blob["name"] == name:
            blob["properties"] = [*blob["properties"], {"type": kind, "value": value}]
    return blobs


def folder_of(blobs: list[Blob], folder: Path) -> Path:
    folder.mkdir()
    (folder / "catalog.json").write_text("\n".join(map(json.dumps, blobs)))
    return folder


def listed_steps(
    place: Place, blobs: list[Blob], olm: Shell, folder: Path
) -> list[tuple[str, str, str]]:
    """What `olm classic plan --steps` says would be created for a Subscription without mistake."""
    spec = {"name": "mend", "source": "operators", "sourceNamespace": place.name}
    wanted = {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "Subscription",
        "metadata": {"name": "mend", "namespace": place.name},
        "spec": {**spec, "channel": "stable"},
    }
    (folder / "wanted.json").write_text(json.dumps(wanted))
    catalog = folder_of(blobs, folder / "same")
    result = olm(
        *("classic", "plan", "--steps", "-o", "json", "--files", str(folder / "wanted.json")),
        *("--catalog", f"{place.name}/operators={catalog}"),
        *("--cas-dir", str(place.classic.registry_cas)),
    )
    assert result.returncode == 0, result.stderr
    return [names_of(each["resource"]) for each in json.loads(result.stdout)["plan"]]


def names_of(resource: dict[str, str]) -> tuple[str, str, str]:
    return resource["group"], resource["kind"], resource["name"]


def test_what_is_shown_of_a_wrong_channel_mends_it(
    place: Place, bundles: Bundles, olm: Shell, tmp_path: Path, classic: Classic
) -> None:
    blobs = channel(bundles.of("mend", "1.0.0"))
    place.catalog("operators", blobs)
    place.subscribe("mend", source="operators", channel="beta")
    found = place.wait("subscriptions", "mend", lambda obj: "channel beta" in str(conditions(obj)))
    failed = conditions(found)["ResolutionFailed"]
    assert failed["reason"] == "ConstraintsNotSatisfiable"
    message, _, hint = failed["message"].partition("\n")
    assert message.startswith(
        "constraints not satisfiable: no operators found in channel beta of package mend"
    )
    assert hint.endswith("to resolve: set spec.channel to stable in subscription mend")
    content = f"{place.name}/operators={folder_of(blobs, tmp_path / 'catalog')}"
    result = olm("classic", "why", "-n", place.name, "--catalog", content)
    assert result.returncode == 1, result.stderr
    assert message in result.stdout
    command = result.stdout.splitlines()[-1].strip()
    planned = listed_steps(place, blobs, olm, tmp_path)
    classic.control_plane.kubectl(*shlex.split(command)[1:])
    latest(place, "mend", "1.0.0")
    steps = status(place.wait_plan("Complete"), "plan")
    assert [names_of(each["resource"]) for each in steps] == planned
    assert "ResolutionFailed" not in conditions(place.wait("subscriptions", "mend", bool))
    result = olm("classic", "plan", "-n", place.name, "--catalog", content)
    assert result.stdout == f"{place.name}: nothing to do\n"


def test_a_required_api_that_comes_later(place: Place, bundles: Bundles) -> None:
    needs = channel(bundles.of("needs", "1.0.0"))
    with_property(needs, "needs.v1.0.0", "olm.gvk.required", KEEPER)
    keeper = with_property(
        channel(bundles.of("keeper", "1.0.0")), "keeper.v1.0.0", "olm.gvk", KEEPER
    )
    server = place.catalog("operators", needs)
    place.subscribe("needs", source="operators", channel="stable")
    place.wait_condition("subscriptions", "needs", "ResolutionFailed")
    server.serve([*needs, *keeper])
    latest(place, "needs", "1.0.0")
    made = place.wait_subscription(f"keeper-stable-operators-{place.name}", state="AtLatestKnown")
    assert made["spec"]["startingCSV"] == "keeper.v1.0.0"
    assert "ResolutionFailed" not in conditions(place.wait("subscriptions", "needs", bool))


def test_an_older_bundle_whose_requirements_are_met(place: Place, bundles: Bundles) -> None:
    blobs = channel(bundles.of("older", "1.0.0", "1.1.0"))
    with_property(blobs, "older.v1.1.0", "olm.gvk.required", KEEPER)
    place.catalog("operators", blobs)
    place.subscribe("older", source="operators", channel="stable")
    place.wait_csv("older.v1.0.0")
    found = place.wait_subscription("older", state="AtLatestKnown")
    assert status(found, "installedCSV") == "older.v1.0.0"


def test_an_update_from_another_catalog(place: Place, bundles: Bundles) -> None:
    old, new = bundles.of("moved", "1.0.0", "1.1.0")
    place.catalog("first", channel([old]))
    place.subscribe("moved", source="first", channel="stable")
    latest(place, "moved", "1.0.0")
    place.catalog("second", channel([old, new]))
    latest(place, "moved", "1.1.0")
    names = [each["metadata"]["name"] for each in place.install_plans()]
    assert len(names) == 2
    assert place.wait("subscriptions", "moved", bool)["spec"]["source"] == "first"


def test_a_subscription_that_was_made_again_goes_on(place: Place, bundles: Bundles) -> None:
    old, new = bundles.of("again", "1.0.0", "1.1.0")
    server = place.catalog("operators", channel([old]))
    place.subscribe("again", source="operators", channel="stable")
    latest(place, "again", "1.0.0")
    place.delete("subscriptions", "again")
    place.subscribe("again", source="operators", channel="stable")
    place.wait_subscription("again", installedCSV="again.v1.0.0", state="AtLatestKnown")
    server.serve(channel([old, new]))
    latest(place, "again", "1.1.0")


def test_a_catalog_that_is_away_and_is_left_out(
    place: Place, bundles: Bundles, classic: Classic
) -> None:
    """Upstream's `global catalog exclusion`, with the catalog in the namespace of all."""
    place.catalog("operators", channel(bundles.of("apart", "1.0.0")))
    broken = {"sourceType": "grpc", "address": "127.0.0.1:9"}
    everyone = Place(classic, "olm")
    everyone.create("operators.coreos.com/v1alpha1", "CatalogSource", "broken", broken)
    try:
        everyone.wait_catalog("broken", "TRANSIENT_FAILURE")
        place.subscribe("apart", source="operators", channel="stable")
        place.wait_condition("subscriptions", "apart", "ResolutionFailed")
        failed = conditions(place.wait("subscriptions", "apart", bool))["ResolutionFailed"]
        assert failed["reason"] == "ErrorPreventedResolution"
        assert failed["message"].startswith("error using catalogsource olm/broken: ")
        assert EXCLUDE in failed["message"]
        classic.control_plane.kubectl(
            "annotate", "operatorgroup", "group", "-n", place.name, f"{EXCLUDE}=true"
        )
        latest(place, "apart", "1.0.0")
    finally:
        everyone.delete("catalogsources", "broken")
