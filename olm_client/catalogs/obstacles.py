"""Why OLM v1 cannot install a bundle, as far as its catalog says. Pure."""

from collections.abc import Iterable, Iterator, Sequence

OWN_MODES = ("AllNamespaces", "SingleNamespace", "OwnNamespace")
"""The install modes of which OLM v1 needs one."""


def obstacles(requirements: Iterable[str], modes: Sequence[str], *, known: bool) -> Iterator[str]:
    """What is in the way.

    requirements  the types of properties by which the bundle depends on other content
    modes         the install modes that it supports
    known         whether the catalog says which these are
    """
    for kind in dict.fromkeys(requirements):
        yield f'it depends on other content ("{kind}"), which OLM v1 does not install'
    if known and not set(modes) & set(OWN_MODES):
        yield f"it supports none of the install modes {', '.join(OWN_MODES)}"
