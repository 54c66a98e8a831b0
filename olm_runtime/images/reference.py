"""References to images: their grammar, and the canonical form `registry/repository@digest`.

Only fully qualified references are accepted: a short name would let the node's configuration
decide where content comes from. The grammar is that of the OCI distribution specification.
"""

import re
from typing import NamedTuple

from olm_runtime.errors import TerminalError

MAX_TAG_LENGTH = 128
MAX_NAME_LENGTH = 255
DIGEST_LENGTHS = {"sha256": 64, "sha384": 96, "sha512": 128}
"""Supported digest algorithms and the length of their hexadecimal form."""

_LABEL = r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_DOMAIN = rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[0-9a-fA-F:.]+\])(?::[0-9]+)?"
_COMPONENT = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_REPOSITORY = rf"{_COMPONENT}(?:/{_COMPONENT})*"
_TAG = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
_HEX = r"[0-9a-f]+"


class ImageRef(NamedTuple):
    """A fully qualified reference; at least one of `tag` and `digest` is not empty."""

    registry: str
    repository: str
    tag: str = ""
    digest: str = ""

    @property
    def name(self) -> str:
        """`registry/repository`."""
        return f"{self.registry}/{self.repository}"

    @property
    def is_canonical(self) -> bool:
        """Whether it names one content for ever."""
        return bool(self.digest)

    def canonical(self, digest: str) -> "ImageRef":
        """The same repository by digest, without the tag."""
        return self._replace(tag="", digest=digest)

    def __str__(self) -> str:
        """The reference as a registry client understands it."""
        tag = f":{self.tag}" if self.tag else ""
        return self.name + tag + (f"@{self.digest}" if self.digest else "")


def digest_of(reference: str) -> str:
    """The digest of a canonical reference; of a digest, itself."""
    return reference.rpartition("@")[2]


def named_as(canonical: str, reference: str) -> str:
    """A canonical reference with the tag that `reference` names it by, if that is what it does."""
    name, _, digest = canonical.partition("@")
    named = reference.partition("@")[0]
    return f"{named}@{digest}" if named.rpartition(":")[0] == name else canonical


def parse_ref(text: str) -> ImageRef:
    """Reads `registry/repository[:tag][@digest]`.

    Raises TerminalError `error parsing image reference "...": ...`, as users know it.
    """
    rest, _, digest = text.partition("@")
    domain, _, path = rest.partition("/")
    colon = path.rfind(":")
    repository, tag = (path[:colon], path[colon + 1 :]) if colon >= 0 else (path, "")
    fault = (
        _name_fault(domain, repository)
        or (_tag_fault(tag) if colon >= 0 else "")
        or (digest_fault(digest) if "@" in text else "")
        or ("" if tag or digest else "must end with a digest or a tag")
    )
    if fault:
        raise TerminalError(
            f'error parsing image reference "{text}": {fault}',
            hint="write registry.example.com/repository:tag, or @sha256:… in place of the tag",
        )
    return ImageRef(domain, repository, tag, digest)


def parse_tag(text: str) -> ImageRef:
    """The reference of an image to be made. Raises TerminalError for one with a digest."""
    ref = parse_ref(text)
    if ref.digest:
        raise TerminalError(
            f"{text}: the digest is known when the image is made", hint="give a tag alone"
        )
    return ref


def parse_repository(text: str) -> ImageRef:
    """Reads `registry/repository`, without tag and digest. Raises TerminalError."""
    domain, _, repository = text.partition("/")
    if fault := _name_fault(domain, repository):
        raise TerminalError(
            f'error parsing repository "{text}": {fault}',
            hint="write registry.example.com/repository, without a tag",
        )
    return ImageRef(domain, repository)


def is_location(text: str) -> bool:
    """Whether it is `HOST[:PORT][/PATH]`, as references begin."""
    domain, slash, path = text.partition("/")
    return bool(re.fullmatch(_DOMAIN, domain) and (not slash or re.fullmatch(_REPOSITORY, path)))


def is_host(text: str) -> bool:
    """Whether it is the name of a host, without a port."""
    return ":" not in text and bool(re.fullmatch(_DOMAIN, text))


def digest_fault(digest: str) -> str:
    """What is wrong with `algorithm:hex`, or the empty string."""
    algorithm, _, encoded = digest.partition(":")
    length = DIGEST_LENGTHS.get(algorithm)
    if length is None:
        return f'unsupported digest algorithm "{algorithm}"'
    if len(encoded) != length or not re.fullmatch(_HEX, encoded):
        return f"invalid checksum digest: {algorithm} has {length} lower-case hex characters"
    return ""


def _name_fault(domain: str, repository: str) -> str:
    qualified = "." in domain or ":" in domain or domain == "localhost" or domain != domain.lower()
    short_hub_name = domain == "docker.io" and "/" not in repository
    if not repository or not qualified or short_hub_name:
        return "repository name must be canonical"
    if not re.fullmatch(_DOMAIN, domain) or not re.fullmatch(_REPOSITORY, repository):
        return "invalid reference format"
    if len(repository) > MAX_NAME_LENGTH:
        return f"repository name must not be more than {MAX_NAME_LENGTH} characters"
    return ""


def _tag_fault(tag: str) -> str:
    return "" if re.fullmatch(_TAG, tag) and len(tag) <= MAX_TAG_LENGTH else "invalid tag format"
