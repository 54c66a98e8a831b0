"""What is in bundles that somebody looks at: pulled once, and kept while they are the last ones."""

import threading
from collections import OrderedDict
from collections.abc import Sequence

from console.orders import given_for
from console.schemas import Definition, definition_of
from olm_client.bundle_files import registries
from olm_client.crds.source import definitions_of_image
from olm_client.reach import ClusterOptions

KEPT = 2
"""Whose definitions stay in memory: some have 20 MB of them."""
_BY_DIGEST = "@sha256:"

_kept: OrderedDict[str, Sequence[Definition]] = OrderedDict()
_lock = threading.Lock()


def definitions_of(image: str, options: ClusterOptions) -> Sequence[Definition]:
    """The definitions of a bundle, by name. Pulls it; not for the event loop. Raises OLMError."""
    with _lock:
        if image in _kept:
            _kept.move_to_end(image)
            return _kept[image]
    crds = definitions_of_image(image, registries(given_for(options)))
    found = [definition_of(crds[name]) for name in sorted(crds)]
    if _BY_DIGEST in image:  # a tag may name something else the next time
        with _lock:
            _kept[image] = found
            while len(_kept) > KEPT:
                _kept.popitem(last=False)
    return found
