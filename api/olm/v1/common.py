"""What several kinds share: patterns of names."""

from api.schema import Rule, matches

LABEL = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
"""A DNS label (RFC 1123); the limit of 63 characters is stated separately."""

SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
"""A DNS subdomain (RFC 1123); the limit of 253 characters is stated separately."""


def subdomain(called: str) -> Rule:
    """The value is a DNS subdomain; `called` names it in the message."""
    return matches(
        SUBDOMAIN,
        f"{called} must be a valid DNS1123 subdomain. It must contain only lowercase"
        " alphanumeric characters, hyphens (-) or periods (.), start and end with an"
        " alphanumeric character, and be no longer than 253 characters",
    )
