"""What is checked before a revision is written: permissions first, then changes of definitions.

Whose a definition is counts more than both.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from api.objects import KubeObject
from api.olm.v1.clusterextension import ClusterExtension
from olm_content.crds.findings import SWITCH_OFF
from olm_content.rights import Account
from olm_rollout.io.definitions import check_owners, unsafe_definitions
from olm_rollout.ownership import Owner
from olm_rollout.phases import without
from olm_runtime.errors import TransientError
from olm_runtime.kube.client import KubeClient
from operator_controller.apply.desired import Desired
from operator_controller.io.access import missing_permissions

GRANT_SECONDS = 5.0
"""A right that was granted is noticed within this time, however long it was missing."""


@dataclass(frozen=True, slots=True)
class Preflight:
    """The checks; `permissions` is the gate PreflightPermissions."""

    client: KubeClient
    permissions: bool

    async def check(
        self,
        extension: ClusterExtension,
        desired: Desired,
        held: Sequence[KubeObject],
        owner: Owner,
    ) -> None:
        """Raises TransientError with everything that stands against the revision.

        `held` are the objects of the revisions that it replaces. A definition that somebody else
        has needs no permission and no comparison: that alone is reported.
        """
        objects = [obj for phase in desired.phases for obj in phase.objects]
        try:
            await self._check(extension, desired, objects, held, owner)
        except TransientError:
            await check_owners(self._acting(desired), objects, owner)
            raise

    async def _check(
        self,
        extension: ClusterExtension,
        desired: Desired,
        objects: list[KubeObject],
        held: Sequence[KubeObject],
        owner: Owner,
    ) -> None:
        account = Account(*desired.service_account) if desired.service_account else None
        if self.permissions and account is not None:
            await self._check_permissions(account, objects, held, extension.metadata.name)
        if extension.spec.crd_upgrade_safety_enforced:
            await self._check_definitions(objects, desired, held, owner)

    def _acting(self, desired: Desired) -> KubeClient:
        if desired.service_account is None:
            return self.client
        return self.client.as_service_account(*desired.service_account)

    async def _check_permissions(
        self,
        account: Account,
        objects: list[KubeObject],
        held: Sequence[KubeObject],
        extension: str,
    ) -> None:
        missing = await missing_permissions(
            self.client, account, objects, extension, removed=without(held, objects)
        )
        if missing:
            raise TransientError(missing, within=GRANT_SECONDS)

    async def _check_definitions(
        self,
        objects: list[KubeObject],
        desired: Desired,
        held: Sequence[KubeObject],
        owner: Owner,
    ) -> None:
        unsafe = await unsafe_definitions(self._acting(desired), objects, held, owner)
        if unsafe:
            bundle = desired.bundle
            raise TransientError(
                f'error for resolved bundle "{bundle.name}" with version "{bundle.version}": '
                f"{unsafe}",
                hint=SWITCH_OFF,
            )
