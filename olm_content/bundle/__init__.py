"""Files of a registry+v1 bundle to what they say; inline configuration. Pure.

`reader.read` reads the files in one of two modes (`mode`), `load` what installing needs,
`configuration.parse` the user's configuration for one bundle.
"""

from olm_content.bundle.files import BundleError
from olm_content.bundle.model import RegistryV1
from olm_content.bundle.reader import load

__all__ = ["BundleError", "RegistryV1", "load"]
