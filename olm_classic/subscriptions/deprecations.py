"""What catalogs say is deprecated, as conditions of the Subscriptions to it."""

from datetime import datetime

from api.operators.v1alpha1.subscription import (
    Subscription,
    SubscriptionCondition,
    SubscriptionStatus,
)
from olm_classic.resolve.readers import Deprecations
from olm_classic.subscriptions.conditions import (
    BUNDLE_DEPRECATED,
    CHANNEL_DEPRECATED,
    DEPRECATED,
    PACKAGE_DEPRECATED,
    TRUE,
    with_condition,
    without_conditions,
)


def with_deprecations(
    status: SubscriptionStatus, subscription: Subscription, known: Deprecations, now: datetime
) -> SubscriptionStatus:
    """The status with what is deprecated about what is installed, and without what is not."""
    messages = _messages(status, subscription, known)
    if messages:
        messages[DEPRECATED] = "; ".join(messages.values())
    for kind in (PACKAGE_DEPRECATED, CHANNEL_DEPRECATED, BUNDLE_DEPRECATED, DEPRECATED):
        if kind in messages:
            found = SubscriptionCondition(type=kind, status=TRUE, message=messages[kind])
            status = with_condition(status, found, now)
        else:
            status = without_conditions(status, kind)
    return status


def _messages(
    status: SubscriptionStatus, subscription: Subscription, known: Deprecations
) -> dict[str, str]:
    bundle, spec = status.installed_csv, subscription.spec
    if not bundle:
        return {}
    channel = spec.channel
    said = {
        PACKAGE_DEPRECATED: ("olm.package", spec.name, known.package),
        CHANNEL_DEPRECATED: ("olm.channel", channel, known.channels.get(channel)),
        BUNDLE_DEPRECATED: ("olm.bundle", bundle, known.bundles.get(bundle)),
    }
    return {kind: f"{schema}/{name}: {m}" for kind, (schema, name, m) in said.items() if m}
