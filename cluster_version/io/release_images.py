"""The content of release images, verified, from registries.

Source of the rules: upstream's notes, sections 5.3 and 6.4. An image is fetched by the registry
client, which needs no node, or by a Job (`release_jobs`).
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from cluster_version.decisions.acceptance import Retrieved
from cluster_version.decisions.target import Target
from cluster_version.payload.release_folders import OPERATOR_FOLDER, RELEASE_FOLDER
from cluster_version.signatures.errors import VerificationError
from cluster_version.signatures.search import digest_of
from olm_content.formats.go_text import quote
from olm_runtime.errors import OLMError, TerminalError, TransientError
from olm_runtime.images.layers import Rules
from olm_runtime.registry.image_store import ImageStore

OWNER = "release"
VERIFY_SECONDS = 120.0
"""For verifying an image, of the time for it and retrieving it."""
_FOLDERS = Rules(roots=(OPERATOR_FOLDER, RELEASE_FOLDER))


class UnverifiedError(TerminalError):
    """A release image that is refused, for it is not signed."""


class NotRetrievedError(TransientError):
    """A release image that could not be fetched."""


async def from_registry(images: ImageStore, target: Target) -> Path:
    """The folder with the manifests of a release image. Raises NotRetrievedError.

    It is there whole or not at all, and fetched once; an earlier one is removed.
    """
    try:
        pulled = await images.pull(target.image, owner=OWNER, rules_for=lambda *_: _FOLDERS)
    except OLMError as error:
        problem = f"Unable to download and prepare the update: {error.message}"
        raise NotRetrievedError(problem, hint=error.hint) from error
    return pulled.folder


@dataclass(frozen=True, slots=True)
class ReleaseImages:
    """Where targets of updates come from.

    fetch   brings the content of an image into a folder; raises OLMError
    verify  takes a digest; raises VerificationError
    """

    fetch: Callable[[Target], Awaitable[Path]]
    verify: Callable[[str], Awaitable[None]]

    async def retrieve(self, target: Target) -> tuple[Path, Retrieved]:
        """The folder with the content of an image, and whether it is verified.

        Raises UnverifiedError for an image that is not, unless it is forced, and OLMError.
        """
        retrieved = await self._verified(target)
        return await self.fetch(target), retrieved

    async def _verified(self, target: Target) -> Retrieved:
        try:
            await self._verify(digest_of(target.image))
        except VerificationError as error:
            if target.force:
                named = f"version={quote(target.version)} image={quote(target.image)}"
                anyway = "continuing anyway because the update was forced"
                text = f"Target release {named} cannot be verified, but {anyway}"
                return Retrieved(risk=f"{text}: {error.unfolded}")
            problem = f"The update cannot be verified: {error.message}"
            unverified = UnverifiedError(problem, reason=error.reason)
            raise unverified from (VerificationError(error.details) if error.causes else None)
        return Retrieved(verified=True)

    async def _verify(self, digest: str) -> None:
        try:
            async with asyncio.timeout(VERIFY_SECONDS):
                await self.verify(digest)
        except TimeoutError as error:
            problem = f"unable to verify {digest} within {VERIFY_SECONDS:.0f} s"
            raise VerificationError(problem) from error
