"""A registry+v1 bundle to the objects to apply. Pure.

`install.install_objects` answers a user's request; `renderer.render` is the part after
configuration: VALIDATORS, then GENERATORS.
"""

from olm_content.render.install import InstallRequest, install_objects
from olm_content.render.options import CertificateProvider, RenderError, RenderOptions
from olm_content.render.renderer import render

__all__ = [
    "CertificateProvider",
    "InstallRequest",
    "RenderError",
    "RenderOptions",
    "install_objects",
    "render",
]
