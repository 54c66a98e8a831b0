"""What a cluster adds to the risks of updates, where its feature gate for that is on.

Risks of its own concern updates to later minor versions, and an administrator may accept any risk.
Source of the rules: upstream's notes, section 4.4.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from api.objects import KubeObject
from cluster_version.decisions.objects import spec_of
from cluster_version.decisions.upgradeable import Found
from cluster_version.updates.graph import Risk, Rule, Updates, with_risks

ACCEPT_RISKS = "ClusterUpdateAcceptRisks"
"""The feature gate."""

_NAME = re.compile("[A-Z][A-Za-z0-9.-]*")
_NOTHING_SAID = "It speaks against updates to other minor versions, and does not say why."


@dataclass(frozen=True, slots=True)
class Weighing:
    """What is added.

    accepted  the names of risks that do not count
    own       what speaks against updates, and from which version on
    """

    accepted: frozenset[str] = frozenset()
    own: Found = field(default_factory=Found)

    def added(self, updates: Updates, alerts: Iterable[Risk] = ()) -> Updates:
        """Updates with the cluster's own risks, each for those that it concerns.

        `alerts` concern all. What the service calls by a name that is one of these goes before.
        """
        releases = (*updates.available, *(each.release for each in updates.conditional))
        versions = [*dict.fromkeys(each.version for each in releases)]
        taken = {risk.name for update in updates.conditional for risk in update.risks}
        concerned = self.own.concerned(versions)
        own = {risk: concerned.get(risk.name, ()) for risk in self._risks()}
        added = dict.fromkeys(alerts, versions) | own
        usable = {
            risk: of
            for risk, of in added.items()
            if risk.name not in taken and _NAME.fullmatch(risk.name)
        }
        return with_risks(updates, usable)

    def _risks(self) -> Iterator[Risk]:
        for risk in self.own.risks:
            yield Risk(risk.name, risk.message or _NOTHING_SAID, risk.url, (Rule(),))


def weighing_of(cluster_version: KubeObject, own: Found) -> Weighing:
    """What a valid ClusterVersion accepts, and what speaks against updates of the cluster."""
    desired = spec_of(cluster_version).get("desiredUpdate") or {}
    accepted = (each["name"] for each in desired.get("acceptRisks") or ())
    return Weighing(frozenset(accepted), own)
