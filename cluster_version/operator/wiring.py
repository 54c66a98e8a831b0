"""What cluster-version-operator runs, and what its parts share."""

import asyncio
import random
from collections.abc import Iterable, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path

from api.objects import KubeObject
from api.openshift.config.v1.kinds import CLUSTER_OPERATOR, CLUSTER_VERSION
from cluster_version.controllers.availability import Availability, Sources
from cluster_version.controllers.cluster_features import ClusterFeatures
from cluster_version.controllers.cluster_status import ClusterStatus
from cluster_version.controllers.cluster_version import ClusterVersions
from cluster_version.controllers.machine_config import MachineConfig
from cluster_version.controllers.node_pools import node_updates
from cluster_version.controllers.release_loader import ReleaseLoader
from cluster_version.controllers.release_rounds import ReleaseRounds
from cluster_version.controllers.sync_worker import SyncWorker
from cluster_version.controllers.targets import Own, Targets
from cluster_version.controllers.upgradeability import Upgradeability
from cluster_version.decisions.acceptance import Event
from cluster_version.decisions.target import Target
from cluster_version.io.checks import Checks
from cluster_version.io.graph_client import GraphClient
from cluster_version.io.payload_folder import load_folder
from cluster_version.io.progress import Progress
from cluster_version.io.promql import MetricsStore, finder
from cluster_version.io.recent_alerts import ALERTS_SECONDS, RecentAlerts
from cluster_version.io.release_images import ReleaseImages, from_registry
from cluster_version.io.release_jobs import ReleaseJobs
from cluster_version.io.release_trust import ReleaseTrust
from cluster_version.io.signature_config_maps import SignatureConfigMaps
from cluster_version.io.signatures import OwnStore, Verifier, cluster_verifier, own_stores_of
from cluster_version.metrics.operators import Transitions
from cluster_version.names import CLUSTER_VERSION_NAME, CONFIGURATION_NAMESPACE, LEASE
from cluster_version.operator.exposition import Readings
from cluster_version.operator.settings import Retrieval, Settings
from cluster_version.payload.contents import Payload, for_features
from cluster_version.payload.features import DEFAULT
from cluster_version.payload.inclusion import Filters
from cluster_version.payload.release import ReleaseError
from cluster_version.payload.retrieval_job import RetrievalPlace
from cluster_version.signatures.configuration import CONFIG_MAP, Configuration
from cluster_version.updates.query_cache import QueryCache
from cluster_version.updates.retrieval import Question, question_of
from olm_runtime.clocks import utc_now
from olm_runtime.controller.events import EventBroadcaster
from olm_runtime.controller.manager import Manager
from olm_runtime.event import Happening
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.cluster_access import ClusterAccess
from olm_runtime.registry.image_pulls import Pulls
from olm_runtime.registry.pull_secrets import PullSecrets
from olm_runtime.watch.informer import Selection

PROGRAM = "cluster-version-operator"
CONFIGURATION = Selection(CONFIG_MAP, CONFIGURATION_NAMESPACE)
"""In which installers leave what they are."""
OWN_RELEASE = (
    "--payload-override names the folder with the folders 'manifests' and 'release-manifests' of "
    "the image of --release-image"
)
"""What to do about an own release that cannot be read."""


class Controllers:
    """The controllers of this program and what they share."""

    def __init__(self, settings: Settings, client: KubeClient, instance: str) -> None:
        """`instance` names this process in Events."""
        self._settings = settings
        self._client = client
        self.manager = Manager(
            client,
            events=EventBroadcaster(client, controller=PROGRAM, instance=instance),
            clock=utc_now,
            jitter=random.random,
            resync_seconds=settings.resync_seconds,
        )
        self._cluster_versions = self.manager.store(CLUSTER_VERSION)
        self._operators = self.manager.store(CLUSTER_OPERATOR)
        self._configuration = self.manager.selected(CONFIGURATION)
        self._rounds = ReleaseRounds(client, Checks(client, utc_now))
        self._worker = SyncWorker(
            self._rounds.begin,
            interval=settings.round_seconds,
            jitter=random.random,
            notify=self._notify,
        )
        secrets = PullSecrets.of_this_program(
            client, global_secret=settings.global_pull_secret, prefix=f"{PROGRAM}-pull-secrets-"
        )
        self._pulls = Pulls(
            client,
            secrets,
            cache=settings.payloads,
            namespace=settings.system_namespace,
            cas_dir=settings.pull_cas_dir,
            limits=settings.limits,
        )
        self._features = ClusterFeatures(client, self._notify)
        self._progress = Progress(client, settings.system_namespace)
        self._jobs = _jobs(settings, client) if settings.retrieval is Retrieval.JOB else None
        self._own: Payload | None = None
        self._availability = self._of_updates()
        self._controller: ClusterVersions | None = None

    async def run(self, access: ClusterAccess) -> None:
        """Works until cancelled. Raises ReleaseError for an own release that cannot be read."""
        settings = self._settings
        self._own = payload = await self._load_own()
        async with aclosing(self._features), asyncio.TaskGroup() as group:
            own = Own(payload, settings.always_enabled)
            self._controller = self._of_release(own, group)
            self.manager.register(self._controller.registration())
            self._controller.enqueue()
            for each in node_updates(
                self.manager, namespace=settings.system_namespace, clock=utc_now
            ):
                self.manager.register(each)
            nodes = MachineConfig(self.manager, lambda: self._worker.work, clock=utc_now)
            self.manager.register(nodes.registration())
            group.create_task(self._worker.run())
            group.create_task(self._availability.run())
            group.create_task(self.manager.run(access))

    def _of_release(self, own: Own, group: asyncio.TaskGroup) -> ClusterVersions:
        def applied() -> Payload:
            work = self._worker.work
            return own.payload if work is None else work.payload

        trust = ReleaseTrust(own.payload, applied, self._verifier)
        config_maps = SignatureConfigMaps(self._client)
        every = 2 * self._settings.resync_seconds
        group.create_task(config_maps.keep(lambda: trust.signatures, PROGRAM, every))
        loader = ReleaseLoader(
            ReleaseImages(self._fetch, trust.verify),
            self._load,
            cluster_version=self._cluster_version,
            announce=self._announce,
            notify=self._notify,
        )
        targets = Targets(own, self._worker, loader, self._features, group.create_task)

        status = ClusterStatus(
            self._worker,
            targets,
            self._availability,
            Upgradeability(self.manager, applied, self._rounds.deletions.in_progress),
            begun=lambda: self._rounds.checks.begun,
            question_of=self._question_of,
        )
        return ClusterVersions(
            self.manager,
            targets,
            status,
            clock=utc_now,
            wake=self._worker.wake,
            recorded=self._recorded,
        )

    async def _recorded(self, image: str) -> None:
        self._worker.note_recorded(image)
        report = self._worker.report
        if report is not None:
            await self._progress.write(report.work.payload.release, report.levels)

    def _verifier(self, configuration: Configuration | None) -> Verifier:
        authorities = self._settings.pull_cas_dir
        return cluster_verifier(self._client, configuration, self._own_stores, authorities)

    def _question_of(self, cluster_version: KubeObject, applied: Payload) -> Question:
        question = question_of(
            cluster_version,
            applied.release.version,
            applied.architecture,
            self._settings.update_service,
        )
        return replace(question, is_hosted=self._settings.is_hosted)

    def _of_updates(self) -> Availability:
        settings = self._settings
        service = GraphClient(self._client, version("olmv1"), settings.pull_cas_dir)
        metrics = MetricsStore(
            finder(self._client, settings.metrics_url), settings.metrics_ca, settings.metrics_token
        )
        fresh = timedelta(seconds=settings.risk_seconds)
        alerts = RecentAlerts(metrics.alerts, min(ALERTS_SECONDS, settings.risk_seconds))
        return Availability(
            Sources(service.get, QueryCache(metrics.ask, utc_now, fresh).ask, alerts.get),
            interval=settings.check_seconds,
            jitter=random.random,
            clock=utc_now,
            notify=self._notify,
        )

    async def _fetch(self, target: Target) -> Path:
        """The folder with the content of a release image. Raises OLMError."""
        if self._jobs is not None:
            return await self._jobs.fetch(target)
        await self._pulls.refresh()
        return await from_registry(self._pulls.images, target)

    async def _load_own(self) -> Payload:
        """The release that this program is from. Raises ReleaseError."""
        settings = self._settings
        try:
            return await self._load(settings.payload, settings.release_image)
        except ReleaseError as error:
            raise ReleaseError(error.message, reason=error.reason, hint=OWN_RELEASE) from error

    async def _load(self, folder: Path, image: str) -> Payload:
        filters = Filters(
            exclude=self._settings.exclude,
            profile=self._settings.profile,
            feature_set=DEFAULT.feature_set,
            feature_gates=DEFAULT.gates,
        )
        payload = await load_folder(folder, image, filters)
        features = self._features.of(payload.release.version)
        return await asyncio.to_thread(for_features, payload, features)

    def _cluster_version(self) -> KubeObject | None:
        return self._cluster_versions.get(CLUSTER_VERSION_NAME)

    def _own_stores(self) -> Sequence[OwnStore] | None:
        cluster_version = self._cluster_version()
        return None if cluster_version is None else own_stores_of(cluster_version)

    def _announce(self, events: Iterable[Event]) -> None:
        cluster_version = self._cluster_version()
        if cluster_version is not None:
            happenings = [
                Happening("Update", event.reason, event.message, warning=event.warns)
                for event in events
            ]
            self.manager.events.announce(cluster_version, happenings)

    def _notify(self, after: float = 0.0) -> None:
        if self._controller is not None:
            self._controller.enqueue(after)

    def readings(self) -> Readings:
        """What the metrics say."""
        report, own, controller = self._worker.report, self._own, self._controller
        return Readings(
            own=own.release if own else None,
            created=own.created if own else "",
            cluster_version=self._cluster_version(),
            operators=[operator for _, operator in sorted(self._operators.items())],
            transitions=controller.transitions if controller else Transitions(),
            failures=self._rounds.failures,
            update_service=self._settings.update_service,
            installers={name: obj for (_, name), obj in self._configuration.items()},
            version=report.work.payload.release.version if report else "",
            retrieved=self._availability.retrieved,
            applied=report.done if report else 0,
            total=report.total if report else 0,
            queues=self.manager.queues,
            answers=self._client.answers,
            lease=LEASE,
            leading=True,
            now=asyncio.get_running_loop().time(),
        )


def _jobs(settings: Settings, client: KubeClient) -> ReleaseJobs:
    """Jobs that bring release images into the folder of this program, on its node."""
    folder = {"path": str(settings.payloads.absolute()), "type": "DirectoryOrCreate"}
    place = RetrievalPlace(settings.system_namespace, {"hostPath": folder}, settings.node)
    return ReleaseJobs(client, place, settings.payloads, PROGRAM)
