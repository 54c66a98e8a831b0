"""The search for signatures of a release image by one key of each ring.

Source of the rules: upstream's notes, sections 6.1 and 6.4.
"""

import re
from collections.abc import Mapping
from datetime import datetime

from cluster_version.signatures.errors import SignatureError, VerificationError
from cluster_version.signatures.key_rings import KeyRing
from cluster_version.signatures.messages import signed_content
from cluster_version.signatures.statements import check_statement
from olm_content.formats.go_text import quote

NOT_POSSIBLE = "verification is not possible"
"""Where the running release does not say which keys sign."""

_DIGEST = re.compile(r"[a-z0-9]+(?:[.+_-][a-z0-9]+)*:[a-zA-Z0-9=_-]+")


def digest_of(image: str) -> str:
    """The digest by which an image is named, empty for one that is named by a tag."""
    return image.rpartition("@")[2] if "@" in image else ""


def check_digest(digest: str) -> None:
    """Raises VerificationError for what is no digest."""
    if not digest:
        problem = "release images that are not accessed via digest cannot be verified"
        raise VerificationError(problem)
    if not _DIGEST.fullmatch(digest):
        problem = f"the provided release image digest has an invalid format: {quote(digest)}"
        raise VerificationError(problem)


class Search:
    """Takes what is found, until each ring has signed. Signatures may be from different places."""

    def __init__(self, rings: Mapping[str, KeyRing], digest: str, now: datetime) -> None:
        """Raises VerificationError for what is no digest."""
        check_digest(digest)
        self._missing = dict(rings)
        self._digest = digest
        self._now = now
        self._causes: list[str] = []
        self.signed: list[bytes] = []
        """The signatures that count."""

    @property
    def is_done(self) -> bool:
        """Whether each ring has signed."""
        return not self._missing

    def offer(self, signature: bytes) -> None:
        """Looks at a signature that was found."""
        for name, ring in list(self._missing.items()):
            try:
                check_statement(signed_content(signature, ring, self._now), self._digest)
            except SignatureError as error:
                self._causes.append(error.message)
            else:
                del self._missing[name]
                self.signed.append(signature)

    def note(self, problem: str) -> None:
        """What was not found."""
        self._causes.append(problem)

    def finish(self) -> None:
        """Raises VerificationError if not each ring has signed."""
        if self._missing:
            names = ", ".join(sorted(self._missing))
            problem = f"unable to verify {self._digest} against keyrings: {names}"
            raise VerificationError(problem, self._causes)
