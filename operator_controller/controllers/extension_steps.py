"""The steps of a ClusterExtension: each reads the context and returns it with what it found."""

import asyncio
import logging
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from api.objects import GVK, KubeObject
from api.olm.v1 import names
from olm_rollout.io.stale_webhooks import Refusal, remove_stale_webhooks
from olm_rollout.io.together import outcomes
from olm_rollout.ownership import Owner
from olm_rollout.webhooks import uncallable
from olm_runtime.controller.reconciler import Finish, Step
from olm_runtime.errors import OLMError, TerminalError, TransientError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ConflictError, NotFoundError
from olm_runtime.outcome import Done, Outcome, outcome_of
from olm_runtime.watch.store import Store
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
from operator_controller.apply.suspension import suspension_of
from operator_controller.apply.unpack import MissingContentError
from operator_controller.controllers.choice import choose
from operator_controller.controllers.context import Context
from operator_controller.controllers.inputs import inputs_digest, install_request
from operator_controller.controllers.preflight import Preflight
from operator_controller.io.accounts import SERVICE_ACCOUNT, Accounts
from operator_controller.io.bundles import BundleSource
from operator_controller.io.catalogs import CatalogClient
from operator_controller.io.revisions import RevisionStore

NAMESPACE = GVK("", "v1", "Namespace")
PLACE_SECONDS = 5.0
"""A namespace or an account that was made is noticed within this time."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class ExtensionSteps:
    """What the steps need."""

    client: KubeClient
    extensions: Store[KubeObject]
    catalogs: CatalogClient
    bundles: BundleSource
    store: RevisionStore
    checks: Preflight
    accounts: Accounts
    allow_controller_identity: bool = False
    _refusals: dict[str, Refusal] = field(default_factory=dict)
    """Extensions that a webhook without a server keeps from going on, by name."""

    def in_order(self) -> tuple[Step[Context], ...]:
        """All steps, as they are run."""
        return (
            self.read_revisions,
            self.stop_if_suspended,
            self.archive_superseded,
            self.inherit,
            self.check_identity,
            self.resolve,
            self.compare,
            self.check_place,
            self.render,
            self.preflight,
            self.stop_if_suspended,
            self.revise,
            self.archive_superseded,
            self.delete_obsolete,
        )

    def forget(self, name: str) -> None:
        """The extension is gone."""
        self.accounts.use(name, None)
        self._refusals.pop(name, None)

    async def remove_refusing_webhooks(self, context: Context, outcome: Outcome) -> Outcome:
        """A broken webhook of a version that is to be left must not keep us from leaving it.

        It may refuse what we write ourselves, before there is a revision to roll out.
        """
        if isinstance(outcome, Done) or not (uncallable(outcome.message) and context.leaves):
            self._refusals.pop(context.name, None)
            return outcome
        spec, account = context.extension.spec, self.client
        if spec.service_account_name:
            account = account.as_service_account(spec.namespace, spec.service_account_name)
        refusal = self._refusals.setdefault(context.name, Refusal())
        error = TransientError(outcome.message)
        return outcome_of(await remove_stale_webhooks(account, _owner(context), refusal, error))

    async def read_revisions(self, context: Context) -> Context:
        """What is installed and what is on the way, from the ClusterObjectSets."""
        return replace(context, revisions=await self.store.of_extension(context.name))

    async def stop_if_suspended(self, context: Context) -> Context | Finish[Context]:
        """As the store has it by now: rendering may have taken minutes."""
        newest = self.extensions.get(context.name) or context.raw
        suspension = suspension_of(newest)
        if suspension is None:
            return context
        return Finish(replace(context, suspension=suspension))

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

        Its own revisions name no account to act as. Their objects are adopted one by one.
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
        # In a thread: thousands of bundles take longer than a lease may wait for its renewal.
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
        required = [self._require(NAMESPACE, spec.namespace, "")]
        if spec.service_account_name:
            required.append(
                self._require(SERVICE_ACCOUNT, spec.service_account_name, spec.namespace)
            )
        for found in await outcomes(required):
            if isinstance(found, OLMError):
                raise found  # the first: there is no account where there is no namespace
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
        content = await self.store.content_of_same_inputs(context.inputs, context.history)
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
        """What revisions hold, without those whose content is lost."""
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

    async def delete_obsolete(self, context: Context) -> Context:
        """Deletes archived revisions beyond the history."""
        for revision in context.history.obsolete:
            await self.store.delete(revision)
        return context


def _owner(context: Context) -> Owner:
    """Who is to own the objects of the next revision."""
    return owner_of_extension(
        context.name,
        context.extension.metadata.uid,
        namespace=context.extension.spec.namespace,
        history=context.history,
        number=context.history.next_number,
    )
