"""What the next phase of a ClusterServiceVersion depends on, gathered from stores.

The API server is asked only for what cannot be watched: its version, and what it serves. Each where
a ClusterServiceVersion asks for it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from api.objects import GVK, KubeObject, annotations_of, labels_of, name_of, namespace_of
from olm_classic.controllers.csv_stores import CsvStores, account_names
from olm_classic.csv.accounts import account_requirements
from olm_classic.csv.cluster_proxy import variables_of
from olm_classic.csv.deployments import deployments_of
from olm_classic.csv.installation import HEALTHY, Installation, State, installation
from olm_classic.csv.machine import STRATEGY, ApiServices, Facts
from olm_classic.csv.phases import Phase, phase_of
from olm_classic.csv.replacement import Chain, owned_definitions
from olm_classic.csv.requirements import (
    Cluster,
    Requirement,
    are_met,
    gave_way,
    required_definitions,
    required_groups,
    required_kinds,
    requirements,
)
from olm_classic.csv.timing import pause_left
from olm_classic.install_plans.phases import account_of
from olm_classic.io.cluster_proxy import ClusterProxy
from olm_classic.io.owned_apis import OwnedApis
from olm_classic.io.server_version import ServerVersion
from olm_classic.names import LABEL_DEPLOYMENT_HASH
from olm_classic.operator_conditions.gate import not_upgradeable
from olm_classic.operator_groups.strategy import fails_forward
from olm_classic.owned_apis.described import servings
from olm_content.rights.authority import Account
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError, NotFoundError

_REQUIRING = frozenset({Phase.PENDING, Phase.SUCCEEDED, Phase.FAILED})
_INSTALLED = frozenset({Phase.INSTALLING, Phase.SUCCEEDED, Phase.FAILED})


@dataclass(frozen=True, slots=True)
class Findings:
    """Facts, and what else a status or the next look follows from.

    requirements  each that was judged; None where they do not matter
    attempt       what tells an attempt to install it now from others
    pause         seconds until an installation that failed is tried again
    """

    facts: Facts
    requirements: list[dict[str, Any]] | None = None
    attempt: tuple[str, ...] = ()
    pause: float = 0.0

    def status_of(self, csv: KubeObject) -> dict[str, Any]:
        """Fields of its status besides phase, reason and message."""
        status = csv.get("status") or {}
        if not (self.requirements or "requirementStatus" in status):
            return {}
        shown = phase_of(status) is Phase.PENDING or not self.facts.requirements_met
        return {"requirementStatus": self.requirements or []} if shown else {}

    def awaits_discovery(self, csv: KubeObject) -> bool:
        """Whether a kind may be missing that no event reports."""
        return not self.facts.requirements_met and bool(required_kinds(csv))


@dataclass(frozen=True, slots=True)
class Observer:
    """Gathers facts."""

    client: KubeClient
    stores: CsvStores
    owned: OwnedApis
    proxy: ClusterProxy
    version: ServerVersion
    clock: Callable[[], datetime]

    def wanted(self, csv: KubeObject) -> list[KubeObject]:
        """Its Deployments as they would be applied, but for what belongs to API services."""
        if csv["spec"]["install"]["strategy"] != STRATEGY:
            return []
        variables = variables_of(self.proxy.find())
        return list(deployments_of(csv, config=self.stores.config_of(csv), proxy=variables))

    async def observe(self, csv: KubeObject, group: KubeObject) -> Findings:
        """The facts that the phase of a member of a group asks for. Raises ApiError."""
        status = csv.get("status") or {}
        phase, now = phase_of(status), self.clock()
        chain = self.stores.chain_of(csv)
        required = None
        if phase in _REQUIRING:
            required = await self.requirements(csv, chain)
        wanted = self.wanted(csv) if phase in _INSTALLED else []
        installed, services = HEALTHY, ApiServices()
        if phase in _INSTALLED:
            installed = await self._installation(csv, group, wanted)
            services = await self.owned.observe(csv, group)
        is_away = phase is Phase.SUCCEEDED and installed.is_healthy and services.unavailable
        pause = pause_left(status, now)
        facts = Facts(
            now=now,
            chain=chain,
            requirements_met=are_met(required or ()),
            gave_way=_gave_way(csv, chain, required or ()),
            not_upgradeable=self._gate(csv, chain) if phase is Phase.PENDING else "",
            unadoptable=phase in _REQUIRING and self.owned.unadoptable(csv, chain),
            installation=installed,
            api_services=services,
            fail_forward=fails_forward([group]),
            is_disrupted=is_away and await self._are_disrupted(csv),
            is_paused=pause > 0,
        )
        return Findings(facts, required, self.attempt_of(csv, wanted), pause)

    def attempt_of(self, csv: KubeObject, wanted: Sequence[KubeObject]) -> tuple[str, ...]:
        """What tells an attempt to install from another that may end otherwise."""
        return (*digests_of(wanted), self.stores.occupied(csv, wanted))

    async def requirements(self, csv: KubeObject, chain: Chain) -> list[dict[str, Any]]:
        """The entries of `status.requirementStatus`. Raises ApiError."""
        cluster = Cluster(
            server_version=await self._version(csv),
            crds=_by_name(self.stores.crds.get(each) for each in required_definitions(csv)),
            api_services=_by_name(
                self.stores.api_services.get(f"{version}.{group}")
                for group, version in required_groups(csv)
            ),
            kinds=[each for each in required_kinds(csv) if await self._serves(each)],
        )
        namespace = namespace_of(csv)
        accounts = [Account(namespace, name) for name in account_names(csv)]
        known = _by_name(self.stores.accounts.get(each.name, namespace) for each in accounts)
        rights = self.stores.rights.of(*accounts)
        return [
            *requirements(csv, cluster, chain.ancestors(csv)),
            *account_requirements(csv, known, rights),
        ]

    async def _installation(
        self, csv: KubeObject, group: KubeObject, bare: Sequence[KubeObject]
    ) -> Installation:
        """How its Deployments stand; what others changed in them is made right. Raises ApiError."""
        if occupied := self.stores.occupied(csv, bare):
            return Installation(State.MISSING, occupied)
        deployments = self.stores.deployments
        wanted = self.owned.decorated(csv, bare)
        repaired = await deployments.repair(wanted, account_of(group))
        if repaired:
            text = f"deployment {repaired[0]} was changed by others"
            return Installation(State.DRIFTED, text)
        found = installation(wanted, deployments.live(wanted), annotations_of(csv))
        if not found.unavailable:
            return found
        return found.because(
            await deployments.why_unavailable(found.unavailable, namespace_of(csv))
        )

    async def _are_disrupted(self, csv: KubeObject) -> bool:
        names = [each.deployment for each in servings(csv)]
        return await self.stores.deployments.are_disrupted(names, namespace_of(csv))

    def _gate(self, csv: KubeObject, chain: Chain) -> str:
        """Why the operator that it replaces may not be replaced."""
        replaced = chain.replaced(csv)
        if replaced is None:
            return ""
        found = self.stores.conditions.get(name_of(replaced), namespace_of(csv))
        return not_upgradeable(found)

    async def _version(self, csv: KubeObject) -> str | None:
        if not csv["spec"].get("minKubeVersion"):
            return None
        try:
            return await self.version.git_version() or None
        except ApiError:
            return None

    async def _serves(self, kind: GVK) -> bool:
        try:
            await self.client.resource(kind)
        except NotFoundError:
            return False
        return True


def digests_of(deployments: Iterable[KubeObject]) -> tuple[str, ...]:
    """The hashes that their labels have."""
    return tuple(labels_of(each)[LABEL_DEPLOYMENT_HASH] for each in deployments)


def _gave_way(csv: KubeObject, chain: Chain, required: Iterable[Requirement]) -> bool:
    replacement = chain.replacement(csv)
    return replacement is not None and gave_way(required, owned_definitions(replacement))


def _by_name(objects: Iterable[KubeObject | None]) -> dict[str, KubeObject]:
    return {name_of(each): each for each in objects if each is not None}
