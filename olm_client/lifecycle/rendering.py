"""The objects that an extension has, and those that it would have."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from api.objects import KubeObject
from api.olm.v1.clusterextension import ClusterExtension
from olm_client.bundle_cache import BundleCache
from olm_client.bundle_files import loaded, read_image, registries
from olm_client.history import content_of
from olm_client.watch_namespace import with_hint
from olm_content.bundle.configuration import ConfigurationError
from olm_content.names import ANNOTATION_PROPERTIES
from olm_content.render.certificates import provider_in
from olm_content.render.install import install_objects
from olm_content.render.kinds import placed
from olm_content.render.options import CertificateProvider
from olm_rollout.phases import Identity, identity
from olm_runtime.errors import OLMError, TerminalError
from olm_runtime.kube.client import KubeClient
from operator_controller.apply.history import with_content_of
from operator_controller.apply.order import into_phases
from operator_controller.apply.pack import sanitised
from operator_controller.apply.revisions import Revisions
from operator_controller.apply.stored import ContentError
from operator_controller.apply.unpack import MissingContentError
from operator_controller.controllers.choice import Choice
from operator_controller.controllers.inputs import inputs_digest, install_request
from operator_controller.io.certificate_providers import certificate_provider_of


class Rendered(NamedTuple):
    """Objects in the order in which they would be applied; the bundle's properties as JSON."""

    objects: Sequence[KubeObject]
    properties: str


async def present(kube: KubeClient, history: Revisions) -> tuple[list[KubeObject], str]:
    """The objects of the revisions in service, and why they are not known."""
    found: dict[Identity, KubeObject] = {}
    try:
        for revision in history.active:
            what_for = "what would be deleted is what the installed revision holds"
            for obj in await content_of(kube, revision, what_for=what_for):
                found[identity(obj)] = obj
    except OLMError as error:
        return [], error.message
    return list(found.values()), ""


async def rendered(
    kube: KubeClient,
    extension: ClusterExtension,
    choice: Choice,
    history: Revisions,
    old: Sequence[KubeObject],
    options: Mapping[str, Any],
) -> Rendered:
    """From a revision that has them, else from the bundle's image. Raises OLMError.

    `options` are those of the command line.
    """
    given = options["certificate_provider"]
    forced = CertificateProvider(given) if given else None
    request = install_request(extension, forced)
    inputs = inputs_digest(choice.bundle, request, extension.spec.service_account_name)
    if (existing := with_content_of(inputs, history)) is not None:
        try:
            content = await content_of(kube, existing, what_for="it is rendered already")
        except (ContentError, MissingContentError, TerminalError):
            pass  # then from the image, as operator-controller does
        else:
            return Rendered(content, existing.properties)
    image = choice.bundle.image

    def pull() -> dict[str, bytes]:
        return read_image(image, registries(dict(options), bulk=True))

    files = await asyncio.to_thread(BundleCache.of_user().files, image, pull)
    bundle = loaded(tuple(files.items()))
    if forced is None and bundle.csv.webhooks:
        provider = await certificate_provider_of(kube, provider_in(old))
        request = request._replace(certificate_provider=provider)
    try:
        objects = await asyncio.to_thread(install_objects, bundle, request)
    except ConfigurationError as error:
        raise with_hint(error, bundle, extension.spec.namespace) from error
    phases = into_phases(sanitised(placed(obj)) for obj in objects)
    properties = bundle.csv.annotations.get(ANNOTATION_PROPERTIES, "")
    return Rendered([obj for phase in phases for obj in phase.objects], properties)
