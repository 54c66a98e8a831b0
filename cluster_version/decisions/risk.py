"""A reason of the cluster's own not to update it to another minor version."""

from dataclasses import dataclass

from olm_content.versions import Version

DOCUMENTATION = "https://docs.redhat.com/en/documentation/openshift_container_platform/"


@dataclass(frozen=True, slots=True)
class Risk:
    """A risk that applies; `url` leads to more about it."""

    name: str
    message: str
    url: str = DOCUMENTATION


def documentation(current: Version, page: str) -> str:
    """The address of a page of the documentation of a minor version."""
    return f"{DOCUMENTATION}{current.major}.{current.minor}/html/{page}"
