"""Versions of bundles: semantic versions, and the release some of them carry in build metadata.

Strict parsing follows what registry+v1 bundles are held to (blang semver v4): all three numbers,
no `v`, no leading zeros, numbers of at most 64 bits. Ranges parse versions their own, lenient way.
"""

import re
from dataclasses import dataclass, field

import semver

from olm_content.formats.go_text import quote
from olm_runtime.errors import TerminalError

MAX_NUMBER = 2**64 - 1
MAX_DIGITS = len(str(MAX_NUMBER))
MAX_RELEASE_LENGTH = 20

_NUMBERS = 3
_NO_DIGIT = r"[^0-9]"
_NO_IDENTIFIER = r"[^0-9A-Za-z-]"

Identifier = tuple[int, int, str]
"""One dot-separated identifier made comparable: numbers first, by value, then words, by code."""

Key = tuple[int, int, int, int, tuple[Identifier, ...]]
"""Precedence of a version. Tuples compare as versions do; see `Version.key` and `floor`."""


class VersionError(TerminalError):
    """Text that is no version."""


@dataclass(frozen=True, slots=True)
class Version:
    """A semantic version. Equality covers build metadata, precedence (`key`) does not."""

    major: int
    minor: int
    patch: int
    prerelease: tuple[str, ...] = ()
    build: tuple[str, ...] = ()
    key: Key = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        words = tuple(map(comparable, self.prerelease))
        key = (self.major, self.minor, self.patch, 0 if words else 1, words)
        object.__setattr__(self, "key", key)

    def __str__(self) -> str:
        """As semver writes it: `1.2.3-rc.1+build`."""
        prerelease = "-" + ".".join(self.prerelease) if self.prerelease else ""
        build = "+" + ".".join(self.build) if self.build else ""
        return f"{self.major}.{self.minor}.{self.patch}{prerelease}{build}"


def comparable(identifier: str) -> Identifier:
    """The identifier as semver 11.4 orders it; numbers over 64 bits count as words."""
    if identifier.isdecimal() and fits(identifier):
        return (0, int(identifier), "")
    return (1, 0, identifier)


def fits(digits: str) -> bool:
    """Whether the number is one of 64 bits, as numbers in versions have to be."""
    significant = digits.lstrip("0")
    return len(significant) < MAX_DIGITS or (
        len(significant) == MAX_DIGITS and int(significant) <= MAX_NUMBER
    )


def floor(major: int, minor: int = 0, patch: int = 0) -> Key:
    """A key below all versions of these numbers, prereleases too, and above all lower ones."""
    return (major, minor, patch, 0, ())


def parse_version(text: str) -> Version:
    """A strict semantic version. Raises VersionError, in the words upstream's users know."""
    if not text.isascii():
        raise VersionError(_fault(text))
    try:
        found = semver.Version.parse(text)
    except ValueError as error:
        raise VersionError(_fault(text)) from error
    words = _split(found.prerelease)
    # Digits are counted before they are read: Python reads a few thousand and then raises.
    if max(found.major, found.minor, found.patch) > MAX_NUMBER or not all(
        fits(word) for word in words if word.isdecimal()
    ):
        raise VersionError(_fault(text))
    return Version(found.major, found.minor, found.patch, words, _split(found.build))


def _split(identifiers: str | None) -> tuple[str, ...]:
    return tuple(identifiers.split(".")) if identifiers else ()


def _zero_leads(text: str) -> bool:
    return len(text) > 1 and text[0] == "0"


def _fault(text: str) -> str:
    """What is wrong with a version, the first fault from the left."""
    if not text:
        return "Version string empty"
    parts = text.split(".", 2)
    if len(parts) != _NUMBERS:
        return "No Major.Minor.Patch elements found"
    rest, plus, build = parts[2].partition("+")
    patch, dash, prerelease = rest.partition("-")
    faults = [
        _number_fault("Major", parts[0]),
        _number_fault("Minor", parts[1]),
        _number_fault("Patch", patch),
        *map(_prerelease_fault, prerelease.split(".") if dash else ()),
        *map(_build_fault, build.split(".") if plus else ()),
    ]
    return next(filter(None, faults), "Invalid version")


def _number_fault(name: str, digits: str) -> str:
    if re.search(_NO_DIGIT, digits):
        return f"Invalid character(s) found in {name.lower()} number {quote(digits)}"
    if _zero_leads(digits):
        return f"{name} number must not contain leading zeroes {quote(digits)}"
    return _size_fault(digits)


def _size_fault(digits: str) -> str:
    if not digits:
        return 'strconv.ParseUint: parsing "": invalid syntax'
    return "" if fits(digits) else f'strconv.ParseUint: parsing "{digits}": value out of range'


def _prerelease_fault(identifier: str) -> str:
    if not identifier:
        return "Prerelease is empty"
    if not re.search(_NO_DIGIT, identifier):
        if _zero_leads(identifier):
            return f"Numeric PreRelease version must not contain leading zeroes {quote(identifier)}"
        return _size_fault(identifier)
    if re.search(_NO_IDENTIFIER, identifier):
        return f"Invalid character(s) found in prerelease {quote(identifier)}"
    return ""


def _build_fault(identifier: str) -> str:
    if not identifier:
        return "Build meta data is empty"
    if re.search(_NO_IDENTIFIER, identifier):
        return f"Invalid character(s) found in build meta data {quote(identifier)}"
    return ""


@dataclass(frozen=True, slots=True)
class BundleVersion:
    """Version and release of a bundle.

    `release` orders bundles of one version: identifier by identifier, numbers before words, no
    release lowest. `embedded` says that it was read from build metadata, as registry+v1 bundles
    carry it, and is written there again.
    """

    version: Version
    release: tuple[str, ...] = ()
    embedded: bool = True
    key: tuple[Key, tuple[Identifier, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", (self.version.key, tuple(map(comparable, self.release))))

    def __str__(self) -> str:
        """As status and labels carry it: an embedded release returns to the build metadata."""
        if self.embedded and self.release:
            return f"{self.version}+{'.'.join(self.release)}"
        return str(self.version)


def parse_bundle_version(text: str, release: str | None = None) -> BundleVersion:
    """Version and release of a bundle. Raises VersionError.

    Without an explicit `release`, build metadata that reads as a release becomes the release, and
    any other stays build metadata. An explicit release, even an empty one, is authoritative.
    """
    if release is not None:
        return _explicit(text, release)
    version = parse_version(text)
    if not version.build or _release_fault(".".join(version.build)):
        return BundleVersion(version)
    bare = Version(version.major, version.minor, version.patch, version.prerelease)
    return BundleVersion(bare, version.build)


def _explicit(text: str, release: str) -> BundleVersion:
    try:
        version = parse_version(text)
    except VersionError as error:
        raise VersionError(f"error parsing version {quote(text)}: {error.message}") from error
    fault = _release_fault(release) if release else ""
    if fault:
        spelled = quote(release)
        raise VersionError(
            f"error parsing release {spelled}: invalid release {spelled}: {fault}",
            hint=f"a release is at most {MAX_RELEASE_LENGTH} characters of identifiers separated "
            "by dots: numbers without leading zeros, or letters, digits and hyphens",
        )
    return BundleVersion(version, tuple(release.split(".")) if release else (), embedded=False)


def _release_fault(text: str) -> str:
    """What is wrong with a release, one line for each identifier that is none."""
    if len(text.encode(errors="replace")) > MAX_RELEASE_LENGTH:
        return f"exceeds maximum length of {MAX_RELEASE_LENGTH} characters"
    faults = enumerate(map(_prerelease_fault, text.split(".")))
    return "\n".join(f"segment {place}: {fault}" for place, fault in faults if fault)
