"""Version ranges in the two dialects users and catalogs write. Pure.

extension   `spec.source.catalog.version`: operators, wildcards, tilde, caret, prerelease rule
            (the semantics of Masterminds semver v3.5.0)
skip        `skipRange` of a channel entry: strict versions, prereleases compare like any other
            (the semantics of blang semver v4)

Both compile to spans of the version order, so that matching a candidate is tuple comparison.
"""

from olm_content.ranges.errors import RangeError
from olm_content.ranges.extension import ExtensionRange, parse_extension_range
from olm_content.ranges.grammar import parse_loose_version
from olm_content.ranges.skip import SkipRange, parse_skip_range

__all__ = [
    "ExtensionRange",
    "RangeError",
    "SkipRange",
    "parse_extension_range",
    "parse_loose_version",
    "parse_skip_range",
]
