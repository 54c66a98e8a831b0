"""What a service account of a cluster lacks. Writes nothing."""

from collections.abc import Sequence

from api.objects import GVK, KubeObject
from olm_client.reach import Reach
from olm_content.rights import Account
from olm_runtime.errors import TerminalError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ForbiddenError, NotFoundError
from operator_controller.io.access import missing_permissions

SERVICE_ACCOUNT = GVK("", "v1", "ServiceAccount")


async def missing(
    account: Account, objects: Sequence[KubeObject], extension: str, *, reach: Reach
) -> str | None:
    """The report of operator-controller's own check; None if nothing is missing.

    Raises TerminalError if there is no such account or it may not be impersonated, ApiError.
    """
    async with KubeClient.briefly(reach.access()) as kube:
        try:
            await kube.get(SERVICE_ACCOUNT, account.name, account.namespace, metadata_only=True)
        except NotFoundError as error:
            raise TerminalError(
                f'ServiceAccount "{account.name}" not found in namespace "{account.namespace}"',
                hint="without --check the command prints one to create; "
                "--install-namespace says where to look",
            ) from error
        try:
            return await missing_permissions(kube, account, objects, extension)
        except ForbiddenError as error:
            raise TerminalError(
                error.message,
                hint="the account is asked about itself, which needs the permission to "
                f'impersonate serviceaccounts in namespace "{account.namespace}"',
            ) from error
