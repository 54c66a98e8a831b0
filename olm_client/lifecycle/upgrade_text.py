"""What `olm upgrade` prints. Pure."""

from collections.abc import Iterator

from olm_client.lifecycle.plan_page import summary_lines
from olm_client.lifecycle.rollback_plan import appliers
from olm_client.lifecycle.upgrading import Upgrade
from olm_client.paint import Paint, plain


def upgrade_lines(upgrade: Upgrade, paint: Paint = plain) -> Iterator[str]:
    """The plan in short, and what stands in the way of this upgrade."""
    yield from summary_lines(upgrade.plan, upgrade.obstacles, paint)
    owners = appliers(upgrade.record.raw) if upgrade.patch else []
    if owners:
        yield (
            f"note: spec.source.catalog is applied by {', '.join(owners)}: make the change where "
            "its YAML is kept too, or it is undone"
        )
