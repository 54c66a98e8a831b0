"""What `olm rbac` is asked about: a bundle, or a package in catalogs on disk or of a cluster."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from api.olm.v1.clusterextension import CatalogFilter
from api.wire import InvalidObjectError
from olm_cli.bundle_files import read_source, registries
from olm_cli.catalogs.sources import near_packages
from olm_cli.cluster_options import ClusterOptions
from olm_cli.resolution_hints import hint_text
from olm_cli.resolve import CatalogFolder, contents
from olm_content.bundle.files import MANIFESTS
from olm_content.render import CertificateProvider
from olm_runtime.cli.async_work import run_async
from olm_runtime.errors import OLMError, TerminalError
from operator_controller.resolve import (
    CatalogContent,
    Request,
    Resolution,
    ResolutionError,
    resolve,
)

_PACKAGE = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")

Options = Mapping[str, Any]
"""The command line's options by name."""


@dataclass(frozen=True, slots=True)
class Catalogs:
    """What the catalogs have of one package, and who issues certificates where they are.

    `switched_off` are catalogs of the cluster that are not asked.
    """

    package: str
    contents: Sequence[CatalogContent]
    provider: CertificateProvider | None = None
    switched_off: Sequence[str] = ()


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


def read_catalogs(package: str, options: Options) -> Catalogs:
    """What the catalogs on disk have of a package; without any, those of the cluster.

    Raises OLMError.
    """
    if options["catalogs"]:
        folders = [_catalog(text) for text in options["catalogs"]]
        return Catalogs(package, contents(folders, package))
    try:
        return run_async(_read_cluster(package, options))
    except OLMError as error:
        instead = "give --catalog DIR to look in a catalog on disk"
        hint = f"{error.hint}; or {instead}" if error.hint else instead
        raise TerminalError(error.message, hint=hint) from error


def read_from_catalogs(catalogs: Catalogs, versions: str, options: Options) -> Source:
    """The bundle that a new ClusterExtension would get, pulled. Raises OLMError."""
    filters = CatalogFilter(
        package_name=catalogs.package, version=versions, channels=options["channels"]
    )
    found = resolved(filters, catalogs, options)
    return Source(read_source(found.image, registries(dict(options))), found.catalog)


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


def _catalog(text: str) -> CatalogFolder:
    """`DIR` or `NAME=DIR`."""
    name, equals, folder = text.partition("=")
    if equals:
        return CatalogFolder(name, Path(folder))
    return CatalogFolder(Path(text).resolve().name, Path(text))


async def _read_cluster(package: str, options: Options) -> Catalogs:
    from olm_cli.why_cluster import catalogs_of, switched_off
    from olm_runtime.kube.client import KubeClient
    from operator_controller.io.bundles import certificate_provider_of

    access = options["reach"].access()
    async with (
        KubeClient.connect(access) as kube,
        catalogs_of(kube, access, ClusterOptions.of(options)) as client,
    ):
        try:
            raws = client.list_catalogs()
            offered = await client.contents(raws, package)
        except InvalidObjectError as error:
            raise TerminalError(str(error)) from error
        return Catalogs(package, offered, await certificate_provider_of(kube), switched_off(raws))
