"""Finds out for extensions of a cluster whether an update may come. Writes nothing."""

import asyncio
from collections.abc import Sequence

from api.objects import KubeObject, labels_of, name_of
from api.olm.v1 import names
from api.olm.v1.clusterextension import ClusterExtension
from api.olm.v1.kinds import EXTENSION, OBJECT_SET
from api.wire import InvalidObjectError
from olm_client.extension import find_extension
from olm_client.lifecycle.openshift import limits_of, openshift_version
from olm_client.lifecycle.outlook import Outlook, Standing, outlook
from olm_client.lifecycle.planning import Planner
from olm_content.bundle.properties import MinorVersion
from olm_runtime.errors import OLMError
from olm_runtime.kube.client import KubeClient
from operator_controller.apply.owners import owner_labels
from operator_controller.apply.revisions import Revisions
from operator_controller.controllers.choice import installed_of
from operator_controller.status.cluster_updates import declarations


async def look_out(kube: KubeClient, planner: Planner, extension: str | None) -> list[Outlook]:
    """Of one extension, or of all. Raises OLMError where it is known of none."""
    if extension is None:
        raws, _ = await kube.list_all(EXTENSION)
    else:
        raws = [await find_extension(kube, extension)]
    selector = f"{names.LABEL_OWNER_KIND}={names.CLUSTER_EXTENSION}"
    sets, _ = await kube.list_all(OBJECT_SET, labels=selector)
    version = await openshift_version(kube) if declarations(sets) else None
    return list(
        await asyncio.gather(*(_of(planner, raw, _sets_of(raw, sets), version) for raw in raws))
    )


def _sets_of(raw: KubeObject, sets: Sequence[KubeObject]) -> list[KubeObject]:
    wanted = owner_labels(names.CLUSTER_EXTENSION, name_of(raw)).items()
    return [each for each in sets if wanted <= labels_of(each).items()]


async def _of(
    planner: Planner, raw: KubeObject, sets: Sequence[KubeObject], version: MinorVersion | None
) -> Outlook:
    """What cannot be read of one does not keep the others from being shown."""
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
    limits = limits_of(declarations(sets), version)
    return outlook(raw, extension, installed, offers.contents, limits)
