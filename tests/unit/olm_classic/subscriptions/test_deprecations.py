"""What catalogs say is deprecated, in conditions of Subscriptions."""

from olm_classic.resolve.readers import Deprecations
from olm_classic.subscriptions.deprecations import with_deprecations
from tests.unit.olm_classic.subscriptions.samples import NOW, subscription

ALL = Deprecations("end of life", {"stable": "use fast"}, {"app.v1": "take v2"})
INSTALLED = {"currentCSV": "app.v2", "installedCSV": "app.v1"}


def said(known: Deprecations, status: dict[str, str], channel: str = "") -> dict[str, str]:
    sub = subscription(status=dict(status), channel=channel)
    again = with_deprecations(sub.status, sub, ALL, NOW)
    after = with_deprecations(again, sub, known, NOW)
    assert {(each.status, each.reason) for each in after.conditions} <= {("True", "")}
    return {each.type: each.message for each in after.conditions}


def test_each_scope_has_its_condition_and_all_together_one() -> None:
    assert said(ALL, INSTALLED, channel="stable") == {
        "PackageDeprecated": "olm.package/app: end of life",
        "ChannelDeprecated": "olm.channel/stable: use fast",
        "BundleDeprecated": "olm.bundle/app.v1: take v2",
        "Deprecated": "olm.package/app: end of life; olm.channel/stable: use fast; "
        "olm.bundle/app.v1: take v2",
    }


def test_a_channel_counts_where_it_is_asked_for_and_a_bundle_where_it_is_installed() -> None:
    assert set(said(ALL, INSTALLED)) == {"PackageDeprecated", "BundleDeprecated", "Deprecated"}
    later = said(ALL, {**INSTALLED, "installedCSV": "app.v2"}, channel="stable")
    assert set(later) == {"PackageDeprecated", "ChannelDeprecated", "Deprecated"}
    assert said(ALL, {"currentCSV": "app.v1"}, channel="stable") == {}


def test_what_is_deprecated_no_more_is_taken_back() -> None:
    assert said(Deprecations(), INSTALLED, channel="stable") == {}
