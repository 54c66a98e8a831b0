"""Files of a registry+v1 bundle to a typed bundle; inline configuration. Pure.

`load` reads the files, `configuration.parse` the user's configuration for one bundle.
"""

from operator_controller.bundle.loader import load
from operator_controller.bundle.metadata_files import BundleError
from operator_controller.bundle.model import RegistryV1

__all__ = ["BundleError", "RegistryV1", "load"]
