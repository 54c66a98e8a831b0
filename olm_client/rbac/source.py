"""What `olm rbac` is asked about: a bundle, or a package in catalogs on disk or of a cluster."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from api.olm.v1.clusterextension import CatalogFilter
from olm_client.bundle_files import read_source, registries
from olm_client.catalogs.bundle_source import read_offered
from olm_client.catalogs.near import near_packages
from olm_client.catalogs.offered import Catalogs, Options
from olm_client.resolution.hints import hint_text
from olm_content.bundle.files import MANIFESTS
from olm_runtime.errors import TerminalError
from operator_controller.resolve import (
    Request,
    Resolution,
    ResolutionError,
    resolve,
)

_PACKAGE = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class Source:
    """The files of a bundle, and the catalog that it is from, if it is from one."""

    files: Mapping[str, bytes]
    catalog: str = ""


def is_bundle(target: str) -> bool:
    """Whether a bundle is meant: a folder with manifests, a file, or what is no package's name."""
    path = Path(target)
    return path.is_file() or (path / MANIFESTS).is_dir() or not _PACKAGE.fullmatch(target)


def read_bundle_of(target: str, options: Options) -> Source:
    """A bundle from a folder, a tar, or an image reference. Raises OLMError."""
    return Source(read_source(target, registries(dict(options))))


def read_from_catalogs(catalogs: Catalogs, versions: str, options: Options) -> Source:
    """The bundle that a new ClusterExtension would get, pulled. Raises OLMError."""
    filters = CatalogFilter(
        package_name=catalogs.package, version=versions, channels=options["channels"]
    )
    found = resolved(filters, catalogs, options)
    return Source(read_offered(found.image, found.catalog, options), found.catalog)


def resolved(filters: CatalogFilter, catalogs: Catalogs, options: Options) -> Resolution:
    """What a new ClusterExtension gets. Raises TerminalError that says what there is instead."""
    try:
        return resolve(Request(filters, None), catalogs.contents)
    except ResolutionError as error:
        instead = hint_text(
            error,
            filters,
            catalogs.contents,
            switched_off=catalogs.switched_off,
            near_packages=lambda: near_packages(filters.package_name, options),
        )
        raise TerminalError(error.message, hint=instead) from error
