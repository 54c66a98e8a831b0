"""The story of a ClusterExtension: what should be installed, as which revision, what came of it.

STEPS run in order. Each reads the context and returns a richer one, or raises what stops the
story; whatever happens, the status is computed once, at the end, from all that was gathered.
Rolling out is the story of the revision (`controllers.object_set`).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any

from api import wire
from api.objects import GVK, KubeObject, metadata, name_of
from api.olm.v1 import names
from api.olm.v1.clusterextension import ClusterExtension, ClusterExtensionStatus
from api.olm.v1.conditions import Condition, merge_conditions
from api.wire import InvalidObjectError
from olm_rollout.io.stale_webhooks import Refusal, remove_stale_webhooks
from olm_rollout.io.watches import ManagedWatches
from olm_rollout.ownership import Owner
from olm_rollout.webhooks import uncallable
from olm_runtime.controller.attempt import attempt
from olm_runtime.controller.events import EventBroadcaster
from olm_runtime.controller.status_writer import (
    StatusWriter,
    progressing,
    readable_conditions,
    with_condition,
)
from olm_runtime.errors import TerminalError, TransientError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ConflictError, NotFoundError
from olm_runtime.outcome import Done, Failed, Outcome, Wait, outcome_of
from operator_controller.apply.desired import (
    Content,
    Desired,
    account_annotations,
    holds,
    revision_annotations,
)
from operator_controller.apply.order import into_phases
from operator_controller.apply.owners import owner_of_extension
from operator_controller.apply.pack import sanitised
from operator_controller.apply.revisions import BundleIdentity, Revision
from operator_controller.apply.stored import ContentError
from operator_controller.apply.unpack import MissingContentError
from operator_controller.controllers.choice import choose
from operator_controller.controllers.context import Context
from operator_controller.controllers.inputs import inputs_digest, install_request
from operator_controller.controllers.preflight import Preflight
from operator_controller.controllers.retirement import (
    REMOVAL_SECONDS,
    is_orphaning,
    may_drop_finalizers,
)
from operator_controller.io.accounts import SERVICE_ACCOUNT, Accounts
from operator_controller.io.bundles import BundleSource
from operator_controller.io.catalogs import CatalogClient
from operator_controller.io.revisions import RevisionStore
from operator_controller.metrics import Metrics
from operator_controller.status.extension import (
    ExtensionFacts,
    extension_status,
    removing,
)
from operator_controller.status.transitions import UNINSTALLED, transitions

EXTENSION = GVK(names.GROUP, names.VERSION, names.CLUSTER_EXTENSION)
FINALIZERS = (
    names.FINALIZER_CLEANUP_UNPACK_CACHE,
    names.FINALIZER_CLEANUP_CONTENT_CACHE,
    names.FINALIZER_TEARDOWN,
)

REMOVAL_LOOK_SECONDS = 15.0
"""Each word of a revision rings; this is for the one that is not heard."""
PLACE_SECONDS = 5.0
"""A namespace or an account that was made is noticed within this time."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class ExtensionController:
    """Reconciles ClusterExtensions by name."""

    client: KubeClient
    catalogs: CatalogClient
    bundles: BundleSource
    store: RevisionStore
    watches: ManagedWatches
    checks: Preflight
    events: EventBroadcaster
    statuses: StatusWriter
    accounts: Accounts
    metrics: Metrics
    clock: Callable[[], datetime]
    monotonic: Callable[[], float]
    retire: Callable[[Revision], bool]
    """Has a revision go with the extension; whether it did not know of that yet."""
    departs: Callable[[KubeObject], None]
    """Told of an extension before its own reconcile lets it go: nobody need look at its end."""
    allow_controller_identity: bool = False
    _steps: tuple["Step", ...] = field(init=False)
    _removing: dict[str, float] = field(default_factory=dict)
    """Since when the revisions of a deleted extension are taken down, by its uid."""
    _refusals: dict[str, Refusal] = field(default_factory=dict)
    """Extensions that a webhook which nobody answers keeps from going on, by name."""

    def __post_init__(self) -> None:
        self._steps = (
            self.read_revisions,
            self.archive_superseded,
            self.inherit,
            self.check_identity,
            self.resolve,
            self.compare,
            self.check_place,
            self.render,
            self.preflight,
            self.revise,
            self.archive_superseded,
            self.forget_old,
        )

    async def reconcile(self, name: str) -> Outcome:
        """Brings one ClusterExtension forward; writes its status on every exit."""
        begun = asyncio.get_running_loop().time()
        raw = await self.client.find(EXTENSION, name)
        if raw is None:
            self.watches.stop((names.CLUSTER_EXTENSION, name))
            self._forget(name)
            return Done()
        if metadata(raw).get("deletionTimestamp"):
            return await self._delete(raw)
        raw = await self._ensure_finalizers(raw)
        context, outcome = await self._run(Context(raw, _read(raw)))
        status = await self._write_status(context, outcome)
        seconds = asyncio.get_running_loop().time() - begun
        self.metrics.observe(name, status, now=self.clock().timestamp(), seconds=seconds)
        return outcome

    async def tell_failure(self, name: str, failed: Failed) -> None:
        """Says in the status why a reconcile ended before it could say anything itself."""
        raw = await self.client.find(EXTENSION, name)
        if raw is not None:
            await self._say(raw, progressing(failed, _generation(raw)))

    async def _say(self, raw: KubeObject, condition: Condition) -> None:
        """One condition of an object that no steps are run for."""
        now = self.clock()
        status = with_condition(raw, condition, now)
        old, new = map(_readable_status, (raw.get("status") or {}, status))
        self.metrics.observe(name_of(raw), new, now=now.timestamp())
        if await self.statuses.write(raw, status):
            self.events.announce(raw, transitions(old, new))

    async def _run(self, context: Context) -> tuple[Context, Outcome]:
        for step in self._steps:
            found = await attempt(step(context), f"ClusterExtension {context.name}")
            if not isinstance(found, Context):
                return context, await self._clear_the_way(context, found)
            context = found
        self._refusals.pop(context.name, None)
        return context, Done()

    async def _clear_the_way(self, context: Context, failed: Failed) -> Failed:
        """A broken webhook of a version that is to be left must not keep us from leaving it.

        It may refuse what we write ourselves, before there is a revision to roll out.
        """
        if not (uncallable(failed.message) and context.leaves):
            self._refusals.pop(context.name, None)
            return failed
        spec, account = context.extension.spec, self.client
        if spec.service_account_name:
            account = account.as_service_account(spec.namespace, spec.service_account_name)
        memory = self._refusals.setdefault(context.name, Refusal())
        error = TransientError(failed.message)
        return outcome_of(await remove_stale_webhooks(account, _owner(context), memory, error))

    async def _ensure_finalizers(self, raw: KubeObject) -> KubeObject:
        present = list(metadata(raw).get("finalizers") or ())
        missing = [f for f in FINALIZERS if f not in present]
        if not missing:
            return raw
        meta = {
            "finalizers": present + missing,
            "resourceVersion": metadata(raw)["resourceVersion"],
        }
        patched: KubeObject = await self.client.patch(raw, {"metadata": meta})
        return patched

    async def _delete(self, raw: KubeObject) -> Outcome:
        """Has the revisions take their objects down, tells what holds them, then lets go.

        What is still there then follows by its owner references.
        """
        name = metadata(raw)["name"]
        present = list(metadata(raw).get("finalizers") or ())
        if not set(present) & set(FINALIZERS):
            return Done()
        revisions = await self.store.of_extension(name)
        remaining = revisions.unfinished
        begun = self._removing.setdefault(metadata(raw)["uid"], self.monotonic())
        if remaining and not may_drop_finalizers(raw, self.monotonic() - begun):
            at_it = [revision for revision in remaining if not self.retire(revision)]
            return await self._tell_removal(raw, at_it)
        self.watches.stop((names.CLUSTER_EXTENSION, name))
        await self.bundles.forget(name)
        await self.store.let_go(raw, revisions, orphaning=is_orphaning(raw))
        meta = {
            "finalizers": [f for f in present if f not in FINALIZERS],
            "resourceVersion": metadata(raw)["resourceVersion"],
        }
        self.departs(raw)
        self._forget(name)
        self._removing.pop(metadata(raw)["uid"], None)
        try:
            await self.client.patch(raw, {"metadata": meta})
        except NotFoundError:
            return Done()
        self.events.announce(raw, [UNINSTALLED])
        return Done()

    def _forget(self, name: str) -> None:
        self.metrics.forget(name)
        self.accounts.use(name, None)
        self._refusals.pop(name, None)

    async def _tell_removal(self, raw: KubeObject, remaining: Sequence[Revision]) -> Outcome:
        """Waits for revisions that are taken down; says what of theirs does not go."""
        told = removing(remaining, _generation(raw), REMOVAL_SECONDS)
        if told is not None:
            await self._say(raw, told)
        return Wait(REMOVAL_LOOK_SECONDS)

    # Steps

    async def read_revisions(self, context: Context) -> Context:
        """What is installed and what is on the way, from the ClusterObjectSets."""
        return replace(context, revisions=await self.store.of_extension(context.name))

    async def archive_superseded(self, context: Context) -> Context:
        """Takes revisions out of service that never rolled out and never will.

        Each as it was read: one that rolled out meanwhile is what is installed.
        """
        superseded = context.history.superseded
        for revision in superseded:
            log.info("%s is given up for %s", revision.name, context.history.active[-1].name)
            with suppress(ConflictError, NotFoundError):
                await self.store.archive(revision, as_read=True)
        return await self.read_revisions(context) if superseded else context

    async def inherit(self, context: Context) -> Context:
        """Makes what upstream's controller installed ours: a Helm release becomes a revision.

        Its own revisions name nobody to act as. What they hold is taken over object by object.
        """
        spec, history = context.extension.spec, context.history
        if not history.every:
            return await self._inherit_release(context)
        nameless = [r for r in history.unfinished if r.is_upstreams and not r.names_account]
        if not nameless or not spec.service_account_name:
            return context
        for revision in nameless:
            notes = account_annotations(spec.namespace, spec.service_account_name)
            await self.store.patch(revision, {"metadata": {"annotations": notes}})
        return await self.read_revisions(context)

    async def _inherit_release(self, context: Context) -> Context:
        extension = context.extension
        release = await self.store.inherited(context.name, extension.metadata.uid)
        if release is None:
            return context
        phases = into_phases(release.objects)
        desired = self._desired(context, release.bundle, Content(phases, ""), from_helm=True)
        created = await self.store.create(desired, context.history)
        log.info("%s: %s was installed by Helm", created.name, release.bundle.name)
        return replace(context, revisions=context.history.followed_by(created))

    async def check_identity(self, context: Context) -> Context:
        """There is a service account to act as, or acting as ourselves is allowed."""
        spec = context.extension.spec
        account = spec.service_account_name
        self.accounts.use(context.name, (spec.namespace, account) if account else None)
        if account or self.allow_controller_identity:
            return context
        raise TerminalError(
            f'ClusterExtension "{context.name}" names no service account to install it with',
            hint="set spec.serviceAccount.name to a ServiceAccount in namespace "
            f'"{spec.namespace}" that may install the bundle, or start operator-controller '
            "with --allow-controller-identity",
        )

    async def resolve(self, context: Context) -> Context:
        """Which bundle it should be."""
        wanted = context.extension.spec.source.catalog
        raws = self.catalogs.list_catalogs()
        contents = await self.catalogs.contents(raws, wanted.package_name)
        # Aside: thousands of bundles take longer than a lease may wait for its renewal.
        found = await asyncio.to_thread(choose, wanted, context.history, raws, contents)
        return replace(
            context, bundle=found.bundle, deprecations=found.deprecations, notes=found.notes
        )

    async def compare(self, context: Context) -> Context:
        """What would be rendered; the steps that follow have nothing to do if it is there."""
        request = install_request(
            context.extension, self.bundles.forced_provider, self.bundles.features
        )
        account = context.extension.spec.service_account_name
        inputs = inputs_digest(context.chosen, request, account)
        latest = context.history.latest
        lost = latest is not None and latest.retrying and not await self.store.is_whole(latest)
        return replace(context, request=request, inputs=inputs, lost=lost)

    async def check_place(self, context: Context) -> Context:
        """The namespace and the service account exist."""
        spec = context.extension.spec
        account = (spec.namespace, spec.service_account_name)
        if context.settled and not self.accounts.is_missing(account):
            return context
        await self._require(GVK("", "v1", "Namespace"), spec.namespace, "")
        if spec.service_account_name:
            await self._require(SERVICE_ACCOUNT, spec.service_account_name, spec.namespace)
        return context

    async def _require(self, gvk: GVK, name: str, namespace: str) -> None:
        try:
            await self.client.get(gvk, name, namespace, metadata_only=True)
        except NotFoundError as error:
            where = f' in namespace "{namespace}"' if namespace else ""
            option = f" --namespace {namespace}" if namespace else ""
            raise TransientError(
                f'{gvk.kind} "{name}" not found{where}',
                hint=f"create it: kubectl create {gvk.kind.lower()} {name}{option}",
                within=PLACE_SECONDS,
            ) from error

    async def render(self, context: Context) -> Context:
        """The objects of the bundle, in the phases in which they are applied."""
        if context.settled or context.request is None:
            return context
        bundle = context.chosen
        content = await self.store.kept_content(context.inputs, context.history)
        if content is None:
            rendered = await self.bundles.render(
                context.name, bundle, context.request, installed=partial(self._installed, context)
            )
            phases = into_phases(sanitised(obj) for obj in rendered.objects)
            content = Content(phases, rendered.properties)
        return replace(context, desired=self._desired(context, bundle, content))

    def _desired(
        self, context: Context, bundle: BundleIdentity, content: Content, *, from_helm: bool = False
    ) -> Desired:
        spec = context.extension.spec
        account = spec.service_account_name
        return Desired(
            extension=context.name,
            extension_uid=context.extension.metadata.uid,
            namespace=spec.namespace,
            service_account=(spec.namespace, account) if account else None,
            bundle=bundle,
            inputs=context.inputs,
            phases=content.phases,
            properties=content.properties,
            generation=context.generation,
            progress_deadline_minutes=spec.progress_deadline_minutes,
            from_helm=from_helm,
        )

    async def _installed(self, context: Context) -> list[KubeObject]:
        """The objects of the newest revision; none where its content is lost."""
        latest = context.history.latest
        return await self._objects([latest] if latest else [])

    async def _objects(self, revisions: Iterable[Revision]) -> list[KubeObject]:
        """What revisions hold; what is lost nobody can delete by them."""
        found: list[KubeObject] = []
        for revision in revisions:
            with suppress(ContentError, MissingContentError):
                content = await self.store.content(revision.raw, self.client)
                found += [obj for phase in content.phases for obj in phase.objects]
        return found

    async def preflight(self, context: Context) -> Context:
        """Nothing unpermitted and nothing unsafe is about to be written."""
        if context.desired is not None:
            held = await self._objects(context.history.active)
            await self.checks.check(context.extension, context.desired, held, _owner(context))
        return context

    async def revise(self, context: Context) -> Context:
        """A new revision where version or content changed; new notes on the old one where not."""
        latest = context.history.latest
        if context.desired is None:
            if latest is not None and latest.generation != context.generation:
                note = {names.ANNOTATION_EXTENSION_GENERATION: str(context.generation)}
                await self.store.patch(latest, {"metadata": {"annotations": note}})
            return context
        if latest is not None and holds(latest, context.desired):
            notes = revision_annotations(context.desired)
            # A service account that is no longer named must not go on applying.
            cleared = dict.fromkeys(names.OPTIONAL_REVISION_ANNOTATIONS)
            await self.store.patch(latest, {"metadata": {"annotations": cleared | notes}})
            if context.lost:
                await self.store.restore(latest, context.name, context.desired.phases)
                log.info("%s: its content is there again", latest.name)
        else:
            created = await self.store.create(context.desired, context.history)
            log.info("%s: %s is to be installed", created.name, context.desired.bundle.name)
            return replace(context, revisions=context.history.followed_by(created))
        return await self.read_revisions(context)

    async def forget_old(self, context: Context) -> Context:
        """Deletes archived revisions beyond those kept for history."""
        for revision in context.history.obsolete:
            await self.store.delete(revision)
        return context

    async def _write_status(self, context: Context, outcome: Outcome) -> ClusterExtensionStatus:
        """The status as it is now; told by Events where it was another."""
        old = context.extension.status
        facts = ExtensionFacts(
            context.extension, outcome, context.revisions, context.deprecations, context.notes
        )
        new = extension_status(facts)
        merged = replace(
            new, conditions=merge_conditions(old.conditions, new.conditions, self.clock())
        )
        if await self.statuses.write(context.raw, wire.write(merged)):
            latest = context.history.latest
            changes = transitions(old, merged, latest.bundle if latest else None)
            self.events.announce(context.raw, changes)
        return merged


def _owner(context: Context) -> Owner:
    """Who is to own the objects of the next revision."""
    return owner_of_extension(
        context.name,
        context.extension.metadata.uid,
        namespace=context.extension.spec.namespace,
        history=context.history,
        number=context.history.next_number,
    )


Step = Callable[[Context], Awaitable[Context]]


def _read(raw: KubeObject) -> ClusterExtension:
    """Raises TerminalError for what the API server took but nobody can act on."""
    try:
        return ClusterExtension.from_object(raw)
    except InvalidObjectError as error:
        raise TerminalError(str(error)) from error


def _readable_status(status: Mapping[str, Any]) -> ClusterExtensionStatus:
    """As much of a status as can be read."""
    try:
        return wire.read(ClusterExtensionStatus, status)
    except InvalidObjectError:
        return ClusterExtensionStatus(conditions=tuple(readable_conditions(status)))


def _generation(raw: KubeObject) -> int:
    return int(metadata(raw).get("generation") or 0)
