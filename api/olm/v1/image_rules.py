r"""What the API server admits as image reference of a catalog: `domain[:port]/name(:tag|@digest)`.

The rules look for their part in the whole reference and are checked in the order in which the
models list them; each has a message of its own. They agree with the published ones, save that a
port is not taken for the beginning of the tag or the digest when lengths are counted.
"""

from api.schema import Rule, literal, matches

_DOMAIN_PART = "([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_NAME_PART = r"\/[a-z0-9]+((([._]|__|[-]*)[a-z0-9]+)+)?"

DOMAIN_PATTERN = rf"^{_DOMAIN_PART}((\.{_DOMAIN_PART})+)?(:[0-9]+)?\b"
NAME_PATTERN = rf"({_NAME_PART}(({_NAME_PART})+)?)"
DIGEST_PATTERN = "(@.*:)"
IDENTIFIER_PATTERN = ":.*$"
TAG_FOUND_PATTERN = ":[^/]*$"
TAG_PATTERN = r":[\w][\w.-]*$"
ALGORITHM_PATTERN = "(@[A-Za-z][A-Za-z0-9]*([-_+.][A-Za-z][A-Za-z0-9]*)*[:])"
ENCODED_PATTERN = "[^:]*$"
HEX_PATTERN = ":[0-9A-Fa-f]*$"

MAX_TAG_LENGTH = 127
MIN_ENCODED_LENGTH = 32


def has_digest(subject: str = "self") -> str:
    """CEL: whether a reference names a digest."""
    return f"{subject}.matches({literal(DIGEST_PATTERN)})"


def _if_digest(expression: str, message: str) -> Rule:
    return Rule(f"!{has_digest()} || {expression}", message)


def _if_tag(expression: str, message: str) -> Rule:
    return Rule(f"{has_digest()} || {expression}", message)


DOMAIN = matches(
    DOMAIN_PATTERN,
    "must start with a valid domain. valid domains must be alphanumeric characters"
    ' (lowercase and uppercase) separated by the "." character.',
)
NAME = matches(
    NAME_PATTERN,
    "a valid name is required. valid names must contain lowercase alphanumeric characters"
    ' separated only by the ".", "_", "__", "-" characters.',
)
DIGEST_OR_TAG = matches(f"{DIGEST_PATTERN}|{IDENTIFIER_PATTERN}", "must end with a digest or a tag")
DIGEST = Rule(has_digest(), "must end with a digest")
TAG_LENGTH = _if_tag(
    f"self.find({literal(TAG_FOUND_PATTERN)}).size() <= {len(':') + MAX_TAG_LENGTH}",
    f"tag is invalid. the tag must not be more than {MAX_TAG_LENGTH} characters",
)
TAG = _if_tag(
    f"!self.contains(':') || self.matches({literal(TAG_PATTERN)})",
    'tag is invalid. valid tags must begin with a word character (alphanumeric + "_")'
    ' followed by word characters or ".", and "-" characters',
)
DIGEST_ALGORITHM = _if_digest(
    f"self.matches({literal(ALGORITHM_PATTERN)})",
    "digest algorithm is not valid. valid algorithms must start with an uppercase or lowercase"
    " alpha character followed by alphanumeric characters and may contain the"
    ' "-", "_", "+", and "." characters.',
)
DIGEST_LENGTH = _if_digest(
    f"self.find({literal(ENCODED_PATTERN)}).size() >= {MIN_ENCODED_LENGTH}",
    f"digest is not valid. the encoded string must be at least {MIN_ENCODED_LENGTH} characters",
)
DIGEST_HEX = _if_digest(
    f"self.matches({literal(HEX_PATTERN)})",
    "digest is not valid. the encoded string must only contain hex characters (A-F, a-f, 0-9)",
)
