"""Finds out for extensions of a cluster whether an update may come. Writes nothing."""

import asyncio
from collections.abc import Sequence

from api.objects import GVK, KubeObject, labels_of, name_of
from api.olm.v1 import names
from api.olm.v1.clusterextension import ClusterExtension
from api.wire import InvalidObjectError
from olm_cli.extension import EXTENSION, find_extension
from olm_cli.history_cluster import OBJECT_SET
from olm_cli.lifecycle.outlook import Outlook, Standing, outlook
from olm_cli.lifecycle.planning import Planner
from olm_runtime.errors import OLMError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError
from operator_controller.apply.owners import owner_labels
from operator_controller.apply.revisions import Revisions
from operator_controller.controllers.choice import installed_of
from operator_controller.status.cluster_updates import (
    UnknownVersionError,
    compatibility,
    current_version,
    declarations,
)

CLUSTER_VERSION = GVK("config.openshift.io", "v1", "ClusterVersion")


async def look_out(kube: KubeClient, planner: Planner, extension: str | None) -> list[Outlook]:
    """Of one extension, or of all. Raises OLMError where that cannot be told of any."""
    if extension is None:
        raws, _ = await kube.list_all(EXTENSION)
    else:
        raws = [await find_extension(kube, extension)]
    selector = f"{names.LABEL_OWNER_KIND}={names.CLUSTER_EXTENSION}"
    sets, _ = await kube.list_all(OBJECT_SET, labels=selector)
    openshift = await _openshift(kube) if declarations(sets) else None
    return list(
        await asyncio.gather(*(_of(planner, raw, _sets_of(raw, sets), openshift) for raw in raws))
    )


def _sets_of(raw: KubeObject, sets: Sequence[KubeObject]) -> list[KubeObject]:
    wanted = owner_labels(names.CLUSTER_EXTENSION, name_of(raw)).items()
    return [each for each in sets if wanted <= labels_of(each).items()]


async def _of(
    planner: Planner, raw: KubeObject, sets: Sequence[KubeObject], openshift: KubeObject | None
) -> Outlook:
    """What cannot be read of one does not keep the others from being told."""
    package = str(raw["spec"]["source"]["catalog"]["packageName"])
    try:
        extension = ClusterExtension.from_object(raw)
        offers = await planner.offers(package)
    except (OLMError, InvalidObjectError) as error:
        return Outlook(
            extension=name_of(raw),
            package=package,
            standing=Standing.UNKNOWN,
            reasons=[str(error)],
        )
    installed = installed_of(Revisions.of(sets).installed)
    return outlook(raw, extension, installed, offers.contents, _limits(sets, openshift))


async def _openshift(kube: KubeClient) -> KubeObject | None:
    """The ClusterVersion; None where the cluster is no OpenShift, or it may not be read."""
    try:
        return await kube.find(CLUSTER_VERSION, "version")
    except ApiError:
        return None


def _limits(sets: Sequence[KubeObject], openshift: KubeObject | None) -> list[str]:
    """What the installed version forbids OpenShift."""
    declared = declarations(sets)
    if not declared or openshift is None:
        return []
    try:
        found = compatibility(declared, current_version(openshift))
    except UnknownVersionError:
        return []
    return [found.message] if found.reason else []
