"""Where the bundle is that a catalog offers."""

from collections.abc import Mapping
from typing import Any

from olm_client.bundle_files import read_image, read_source, registries
from olm_client.catalogs.choice import Form, chosen


def read_offered(image: str, catalog: str, options: Mapping[str, Any]) -> dict[str, bytes]:
    """The files of a bundle as a catalog names it. Raises OLMError.

    A catalog in a folder may name folders. Any other is somebody else's: what it names is an image,
    even where a file of this machine is called so.
    """
    choices = map(chosen, options.get("catalogs") or ())
    is_own = any(each.form is Form.FOLDER and each.name == catalog for each in choices)
    read = read_source if is_own else read_image
    return read(image, registries(dict(options)))
