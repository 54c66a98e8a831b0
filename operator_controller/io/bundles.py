"""Bundles from their images, as the objects to apply."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass

from api.objects import KubeObject
from olm_content.bundle.model import RegistryV1
from olm_content.bundle.reader import load
from olm_content.names import ANNOTATION_PROPERTIES
from olm_content.render.certificates import provider_in
from olm_content.render.install import InstallRequest, install_objects
from olm_content.render.kinds import placed
from olm_content.render.options import ALL_FEATURES, CertificateProvider, Features
from olm_runtime import tracing
from olm_runtime.disk import DiskError
from olm_runtime.errors import OLMError, TerminalError, TransientError
from olm_runtime.kube.client import KubeClient
from olm_runtime.registry.image_store import ImageStore
from operator_controller.apply.revisions import BundleIdentity
from operator_controller.io.certificate_providers import certificate_provider_of

READING_AT_ONCE = 1
"""What is read takes many times its size for a moment, and threads do not make it quicker."""

log = logging.getLogger(__name__)

Installed = Callable[[], Awaitable[Iterable[KubeObject]]]
"""Reads the objects that are installed, where somebody has to know."""


async def nothing() -> tuple[KubeObject, ...]:
    """What is installed where nothing is."""
    return ()


@dataclass(frozen=True, slots=True)
class Rendered:
    """The objects of a bundle, and its properties as JSON text; empty if it has none."""

    objects: list[KubeObject]
    properties: str


class BundleSource:
    """Pulls bundle images and renders them."""

    def __init__(
        self,
        images: ImageStore,
        refresh: Callable[[], Awaitable[None]],
        client: KubeClient,
        forced: CertificateProvider | None,
        features: Features = ALL_FEATURES,
    ) -> None:
        """`refresh` brings up to date how registries are reached; `forced` is a provider to use."""
        self.forced_provider = forced
        self.features = features
        self._images = images
        self._refresh = refresh
        self._client = client
        self._reading = asyncio.Semaphore(READING_AT_ONCE)

    async def certificate_provider(
        self, bundle: RegistryV1, installed: Installed = nothing
    ) -> CertificateProvider | None:
        """Who issues the webhook certificates of a bundle; the cluster is asked for no other one.

        Who does it for what is installed goes on, as long as he is there: a provider that appears
        later changes nothing, and neither does rendering anew. Raises ApiError.
        """
        if self.forced_provider or not bundle.csv.webhooks:
            return self.forced_provider
        used = provider_in(await installed())
        return await certificate_provider_of(self._client, used, self.features.providers)

    async def render(
        self,
        owner: str,
        bundle: BundleIdentity,
        request: InstallRequest,
        *,
        installed: Installed = nothing,
    ) -> Rendered:
        """The objects of a bundle, and its properties. Errors name the bundle and keep their kind.

        The certificate provider is chosen here, when something has to be rendered, and not when
        inputs are compared. `installed` reads the objects that the owner has now.
        """
        try:
            await self._refresh()
            with tracing.span("pull", {"olm.image": bundle.image}):
                image = await self._images.pull(bundle.image, owner=owner)
            async with self._reading:
                loaded = await asyncio.to_thread(load, await image.read())
            provider = await self.certificate_provider(loaded, installed)
            complete = request._replace(certificate_provider=provider)
            objects = await asyncio.to_thread(_render, loaded, complete)
        except OLMError as error:
            raise _naming(error, bundle) from error
        properties = loaded.csv.annotations.get(ANNOTATION_PROPERTIES, "")
        return Rendered(objects, properties)

    async def forget(self, owner: str) -> None:
        """Removes what was unpacked for an owner, who goes; what stays is `collect`ed later."""
        try:
            await asyncio.to_thread(self._images.forget, owner)
        except DiskError as error:
            log.warning("%s", error)

    async def collect(self, owners: Collection[str]) -> None:
        """Removes what was unpacked for others than these. Raises DiskError."""
        await asyncio.to_thread(self._images.collect, owners, interrupted=False)


def _render(bundle: RegistryV1, request: InstallRequest) -> list[KubeObject]:
    return [placed(obj) for obj in install_objects(bundle, request)]


def _naming(error: OLMError, bundle: BundleIdentity) -> OLMError:
    message = (
        f'error for resolved bundle "{bundle.name}" with version "{bundle.version}": '
        f"{error.message}"
    )
    if isinstance(error, TerminalError):
        return TerminalError(message, reason=error.reason, hint=error.hint)
    return TransientError(message, hint=error.hint, after=error.after)
