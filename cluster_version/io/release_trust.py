"""Whose signatures count: those that the release that is applied trusts.

Source of the rules: upstream's notes, section 6.1. Upstream reads them once, as each release has a
process of its own there.
"""

import logging
from collections.abc import Callable, Mapping, Sequence

from cluster_version.io.signatures import Verifier
from cluster_version.payload.contents import Payload
from cluster_version.signatures.configuration import (
    Configuration,
    ConfigurationError,
    find_configuration,
)
from cluster_version.signatures.errors import VerificationError

log = logging.getLogger(__name__)


class ReleaseTrust:
    """Verifies release images as the release demands that is applied at the time."""

    def __init__(
        self,
        own: Payload,
        applied: Callable[[], Payload],
        verifier_of: Callable[[Configuration | None], Verifier],
    ) -> None:
        """Raises ConfigurationError for an own release with which nothing can be verified."""
        self._applied = applied
        self._verifier_of = verifier_of
        self._release = own.release
        self._problem = ""
        self._verifier = verifier_of(_configuration(own))

    async def verify(self, digest: str) -> None:
        """Raises VerificationError for an image that is not signed as it has to be."""
        self._follow(self._applied())
        if self._problem:
            raise VerificationError(self._problem)
        await self._verifier.verify(digest)

    @property
    def signatures(self) -> Mapping[str, Sequence[bytes]]:
        """Those of the images that were verified, by digest, while the same release is applied."""
        return self._verifier.signatures

    def _follow(self, payload: Payload) -> None:
        """What was verified for the release before is verified anew."""
        if payload.release == self._release:
            return
        self._release, self._problem, configuration = payload.release, "", None
        try:
            configuration = _configuration(payload)
        except ConfigurationError as error:
            self._problem = error.message
            log.warning("cannot verify releases: %s", error.message)
        self._verifier = self._verifier_of(configuration)


def _configuration(payload: Payload) -> Configuration | None:
    """Raises ConfigurationError."""
    return find_configuration(each.object for each in payload.manifests)
