"""What is in bundles that somebody looks at: pulled once, cached while they are the last ones."""

import threading
from collections import OrderedDict
from collections.abc import Sequence

from console.orders import given_for
from console.schemas import Definition, definition_of
from olm_client.bundle_files import registries
from olm_client.crds.source import definitions_of_image
from olm_client.reach import ClusterOptions

MAX_CACHED = 2
"""Whose definitions stay in memory: some have 20 MB of them."""
_BY_DIGEST = "@sha256:"

_cached: OrderedDict[str, Sequence[Definition]] = OrderedDict()
_lock = threading.Lock()


def definitions_of(image: str, options: ClusterOptions) -> Sequence[Definition]:
    """The definitions of a bundle, by name. Pulls it; not for the event loop. Raises OLMError."""
    with _lock:
        if image in _cached:
            _cached.move_to_end(image)
            return _cached[image]
    crds = definitions_of_image(image, registries(given_for(options)))
    found = [definition_of(crds[name]) for name in sorted(crds)]
    if _BY_DIGEST in image:  # a tag may name something else the next time
        with _lock:
            _cached[image] = found
            while len(_cached) > MAX_CACHED:
                _cached.popitem(last=False)
    return found
