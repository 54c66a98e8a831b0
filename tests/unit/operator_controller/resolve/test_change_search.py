"""What a condition and a patch say of a change: upstream's sentence whole, the rest bounded."""

from dataclasses import replace

import pytest

from api.metadata import LabelSelector
from api.olm.v1.clusterextension import BundleMetadata, CatalogFilter, UpgradeConstraintPolicy
from olm_content.fbc.model import Bundle, Channel, Entry, Package
from olm_content.versions import parse_bundle_version
from olm_runtime.errors import OLMError
from olm_runtime.outcome import Retry, outcome_of
from operator_controller.resolve import CatalogContent, Request, ResolutionError, resolve
from operator_controller.resolve.change import Change, Field, NoChange, named
from operator_controller.resolve.change_search import find_change, find_change_to
from operator_controller.resolve.change_text import MAX_SHORT_FORM, explained, sentence

NAME = "openshift-pipelines-operator-rh"
DOCUMENTED = (
    'error upgrading from currently installed version "1.15.2": no bundles found for package '
    f'"{NAME}" matching version "9.x"'
)


def bundle(version: str) -> Bundle:
    return Bundle(f"{NAME}.v{version}", f"image:{version}", parse_bundle_version(version))


PIPELINES = Package(
    name=NAME,
    default_channel="latest",
    channels=(
        Channel(
            "latest",
            (
                Entry(f"{NAME}.v1.15.2"),
                Entry(f"{NAME}.v1.16.0", replaces=f"{NAME}.v1.15.2"),
                Entry(f"{NAME}.v1.17.0", replaces=f"{NAME}.v1.16.0"),
            ),
        ),
    ),
    bundles=(bundle("1.15.2"), bundle("1.16.0"), bundle("1.17.0")),
)
INSTALLED = BundleMetadata(name=f"{NAME}.v1.15.2", version="1.15.2")


def catalog(name: str = "redhat", package: Package | None = PIPELINES) -> CatalogContent:
    return CatalogContent(name=name, labels=named(name), package=package)


def refusal(request: Request, catalogs: list[CatalogContent]) -> ResolutionError:
    with pytest.raises(ResolutionError) as caught:
        resolve(request, catalogs)
    return explained(caught.value, request, catalogs)


def test_the_condition_begins_with_the_documented_sentence_and_reports_what_to_do() -> None:
    desired = CatalogFilter(package_name=NAME, version="9.x")
    outcome = outcome_of(refusal(Request(desired, INSTALLED), [catalog()]))
    assert outcome == Retry(
        f"{DOCUMENTED}\nhint: considered 3 bundles: 3 out of range; set "
        f'spec.source.catalog.version to "1.16.0" to get {NAME}.v1.16.0 from catalog redhat'
    )


def test_an_update_without_edge_needs_the_policy_and_says_the_risk() -> None:
    request = Request(CatalogFilter(package_name=NAME, version="1.17.x"), INSTALLED)
    change = find_change_to(request, [catalog()], catalog="redhat", bundle=f"{NAME}.v1.17.0")
    assert change
    assert change.fields == (Field.POLICY,)
    assert change.patch() == {
        "spec": {"source": {"catalog": {"upgradeConstraintPolicy": "SelfCertified"}}}
    }
    assert sentence(change).endswith("check first that data survives it")


def test_two_equal_catalogs_are_distinguished_by_a_selector_that_replaces_the_old_one() -> None:
    old = LabelSelector(match_labels={"tier": "gold"})
    desired = CatalogFilter(package_name=NAME, selector=old)
    gold = [catalog(n)._replace(labels={**named(n), "tier": "gold"}) for n in ("b", "a")]
    change = find_change(Request(desired), gold)
    assert isinstance(change, Change)
    assert change.patch()["spec"]["source"]["catalog"]["selector"] == {
        "matchLabels": {"tier": None, "olm.operatorframework.io/metadata.name": "a"},
        "matchExpressions": None,
    }


@pytest.mark.parametrize(
    ("catalogs", "expected"),
    [
        ([], NoChange.NO_CATALOG),
        ([catalog(package=None)], NoChange.PACKAGE_ABSENT),
        ([catalog()._replace(unavailable=OLMError("down"))], NoChange.CATALOG_UNAVAILABLE),
        (
            [
                catalog(
                    package=Package(NAME, bundles=(bundle("1.0.0")._replace(dependencies=("x",)),))
                )
            ],
            NoChange.NOT_INSTALLABLE,
        ),
        (
            [catalog("a")._replace(labels={}), catalog("b")._replace(labels={})],
            NoChange.NOT_TOLD_APART,
        ),
    ],
)
def test_where_no_change_helps_it_says_why(
    catalogs: list[CatalogContent], expected: NoChange
) -> None:
    assert find_change(Request(CatalogFilter(package_name=NAME)), catalogs) is expected
    assert sentence(expected).startswith("no change of spec.source.catalog")


def test_a_channel_that_the_api_refuses_is_not_reported() -> None:
    odd = replace(PIPELINES, channels=(Channel("Latest", PIPELINES.channels[0].entries),))
    desired = CatalogFilter(package_name=NAME, channels=("none",))
    change = find_change(Request(desired), [catalog(package=odd)])
    assert isinstance(change, Change)
    assert change.after.channels == ()
    assert "remove spec.source.catalog.channels" in sentence(change)


def test_the_default_channel_goes_first() -> None:
    entries = PIPELINES.channels[0].entries
    two = replace(PIPELINES, channels=(Channel("alpha", entries), Channel("latest", entries)))
    desired = CatalogFilter(package_name=NAME, channels=("none",))
    change = find_change(Request(desired), [catalog(package=two)])
    assert isinstance(change, Change)
    assert change.after.channels == ("none", "latest")


def test_a_flood_of_facts_is_cut() -> None:
    long = replace(PIPELINES, bundles=(bundle("1.0.0")._replace(name="x" * 5000),))
    desired = CatalogFilter(package_name=NAME, version="9.x")
    error = refusal(Request(desired), [catalog(package=long)])
    assert error.message == f'no bundles found for package "{NAME}" matching version "9.x"'
    assert len(error.hint) == MAX_SHORT_FORM
    assert UpgradeConstraintPolicy.SELF_CERTIFIED not in error.describe()
