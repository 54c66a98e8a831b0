"""Catalog templates: short forms that `opm` expands to catalogs by rendering the bundles named.

Pure: what bundles hold is asked of the caller, by image reference.
"""

from opm.templates.basic import blobs_to_basic, expand_basic, to_basic
from opm.templates.semver import expand_semver
from opm.templates.template import BASIC, SEMVER, TEMPLATES, RenderBundle, parse_template

__all__ = [
    "BASIC",
    "SEMVER",
    "TEMPLATES",
    "RenderBundle",
    "blobs_to_basic",
    "expand_basic",
    "expand_semver",
    "parse_template",
    "to_basic",
]
