"""Where signatures of an image are, and the messages about a place that has no more of them.

Source of the rules: upstream's notes, sections 6.1 and 6.2.
"""

from collections.abc import Iterator, Sequence
from posixpath import normpath
from urllib.parse import SplitResult, urlsplit, urlunsplit

from api.objects import KubeObject, name_of

NAMESPACE = "openshift-config-managed"
LABEL = "release.openshift.io/verification-signatures"
"""Of the config maps of the namespace that hold signatures."""
NUMBERS = range(1, 10)
"""Of the signatures of an image in a store."""

ONE_AFTER_ANOTHER = "serial signature store wrapping"
"""Begins the message about several kinds of places, after those about each."""
NO_MORE = "no more signatures to check"
EMPTY_OWN_STORES = (
    "ClusterVersion spec.signatureStores is an empty array. "
    "Unset signatureStores entirely if you want to enable the default signature stores"
)
OWN_STORES_EXHAUSTED = (
    "ClusterVersion spec.signatureStores exhausted without finding a valid signature"
)

_CONFIG_MAPS = f'config maps in {NAMESPACE} with label "{LABEL}"'
_OWN_UNSET = "ClusterVersion signatureStores unset, falling back to default stores"


def address(store: str, digest: str, number: int) -> str:
    """Where a store has a signature: an HTTP address, or the path of a file for `file://`."""
    place = urlsplit(store)
    path = normpath(f"/{place.path}/{digest.replace(':', '=')}/signature-{number}")
    path = f"/{path.lstrip('/')}"
    return path if is_folder(place) else urlunsplit(place._replace(path=path))


def is_folder(store: str | SplitResult) -> bool:
    """Whether a store is a folder of this machine."""
    return (urlsplit(store) if isinstance(store, str) else store).scheme == "file"


def signatures_in(config_map: KubeObject, digest: str) -> Iterator[str]:
    """The signatures of an image in a config map, in base64."""
    for key, value in sorted((config_map.get("binaryData") or {}).items()):
        if key.startswith(_prefix(digest)):
            yield value


def without_more(config_map: KubeObject, digest: str) -> str:
    """The message when a config map has no more signatures of an image."""
    return f"prefix {_prefix(digest)} in config map {name_of(config_map)}: {NO_MORE}"


def _prefix(digest: str) -> str:
    return digest.replace(":", "-")


def without(place: str) -> str:
    """The message when an address has no signature."""
    return f"unable to retrieve signature from {place}: {NO_MORE}"


def exhausted(stores: Sequence[str]) -> str:
    """The message when stores that were asked together have no more signatures."""
    return f"{_together(stores)}: {NO_MORE}"


def all_exhausted(stores: Sequence[str]) -> tuple[str, str]:
    """The message when config maps and default stores have no more signatures."""
    defaults = f"{ONE_AFTER_ANOTHER} {_OWN_UNSET}, {_together(stores)}"
    everything = f"{ONE_AFTER_ANOTHER} {_CONFIG_MAPS}, {defaults}"
    return f"{defaults}: {NO_MORE}", f"{everything}: {NO_MORE}"


def _together(stores: Sequence[str]) -> str:
    named = [_named(store) for store in stores]
    return f"parallel signature store wrapping {', '.join(named) or 'no stores'}"


def _named(store: str) -> str:
    return store if is_folder(store) else f"containers/image signature store under {store}"
