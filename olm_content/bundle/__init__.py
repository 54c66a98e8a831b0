"""Files of a registry+v1 bundle to a typed bundle; inline configuration. Pure.

`load` reads the files, `configuration.parse` the user's configuration for one bundle.
"""

from olm_content.bundle.loader import load
from olm_content.bundle.metadata_files import BundleError
from olm_content.bundle.model import RegistryV1

__all__ = ["BundleError", "RegistryV1", "load"]
