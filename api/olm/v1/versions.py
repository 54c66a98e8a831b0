r"""The version patterns of the published API, to the letter: what it admits, ours admits.

`VERSION_RANGE` is one comparator, then any number of them joined by whitespace, a comma or `||`.
Two of its parts have mistakes that are public behaviour by now, so they stay, each by name:

- BAR_MAJOR, a character class that also admits `|`: the range `|` is valid
- NO_STAR, a star that must be followed by `]`: `1.*.*` and `1.0.0 *` are not valid, while `1.*`
  and `1.2.*` are, because the star can stand in the place of the patch
"""

_OPERATOR = r"(=||!=|>|<|>=|=>|<=|=<|~|~>|\^)"
_NUMBER = r"(0|[1-9]\d*|x|X|\*)"
_NO_STAR = r"(0|[1-9]\d*|x|X|\*])"
_BAR_MAJOR = r"(0|[1-9]\d*|[x|X|\*])"
_SUFFIX = r"(-([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?(\+([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?"

_FIRST = rf"(\s*{_OPERATOR}\s*(v?{_BAR_MAJOR}(\.{_NO_STAR})?(\.{_NUMBER})?{_SUFFIX})\s*)"
_JOINED = r"(?:\s+|,\s*|\s*\|\|\s*)"
_NEXT = rf"({_JOINED}{_OPERATOR}\s*(v?{_NO_STAR}(\.{_NUMBER})?(\.{_NO_STAR})?{_SUFFIX})\s*)"

VERSION_RANGE = rf"^{_FIRST}{_NEXT}*$"
"""What spec.source.catalog.version may be; hyphen ranges are not among it."""

BUNDLE_VERSION = (
    r"^([0-9]+)(\.[0-9]+)?(\.[0-9]+)?"
    r"(-([-0-9A-Za-z]+(\.[-0-9A-Za-z]+)*))?(\+([-0-9A-Za-z]+(-\.[-0-9A-Za-z]+)*))?"
)
"""What status.install.bundle.version must begin with; as published, it has no end."""

_IDENTIFIER = "(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"

BUNDLE_RELEASE = rf"^$|^{_IDENTIFIER}(\.{_IDENTIFIER})*$"
"""What status.install.bundle.release may be."""
