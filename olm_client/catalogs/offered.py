"""What catalogs have of one package, as operator-controller resolves from it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from api.objects import name_of
from api.wire import InvalidObjectError
from olm_client.catalogs.choice import CatalogChoice, Form, chosen
from olm_client.catalogs.folder import read_package
from olm_client.catalogs.sources import Sources, absent_catalog
from olm_client.reach import ClusterOptions
from olm_content.fbc.documents import FbcError
from olm_content.fbc.model import Package
from olm_content.render.options import CertificateProvider
from olm_runtime.cli.async_work import run_async
from olm_runtime.errors import OLMError, TerminalError
from operator_controller.catalog import BrokenPackageError, build_package
from operator_controller.resolve import CatalogContent
from operator_controller.resolve.change import named

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


def read_catalogs(package: str, options: Options) -> Catalogs:
    """What the catalogs that `--catalog` names have of a package; without any, the cluster's.

    Raises OLMError.
    """
    choices = [chosen(text) for text in options["catalogs"] or ()]
    here = [each for each in choices if each.form is not Form.CLUSTER]
    there = [each.where for each in choices if each.form is Form.CLUSTER]
    contents = [offered(each, package, options) for each in here]
    if here and not there:
        return Catalogs(package, contents)
    try:
        found = run_async(_read_cluster(package, there, options))
    except OLMError as error:
        instead = "give --catalog DIR|IMAGE to look in a catalog without a cluster"
        hint = f"{error.hint}; or {instead}" if error.hint else instead
        raise TerminalError(error.message, hint=hint) from error
    return replace(found, contents=[*contents, *found.contents])


def offered(choice: CatalogChoice, package: str, options: Options) -> CatalogContent:
    """What a catalog outside a cluster has of a package.

    One that cannot be read is unavailable, as it would be in a cluster. Raises TerminalError for
    one that is not there.
    """
    content, fault = None, None
    try:
        content = _package(choice, package, options)
    except (FbcError, BrokenPackageError) as error:
        fault = error
    return CatalogContent(
        name=choice.name,
        priority=choice.priority,
        labels=named(choice.name),
        package=content,
        unavailable=fault,
    )


def _package(choice: CatalogChoice, package: str, options: Options) -> Package | None:
    if choice.form is Form.FOLDER:
        return read_package(Path(choice.where), package)
    blobs = Sources(options).content_of(choice).blobs(package)
    return build_package(package, map(orjson.loads, blobs))


async def _read_cluster(package: str, names: Sequence[str], options: Options) -> Catalogs:
    """`names` are of the catalogs to ask; none for all."""
    from olm_client.resolution.situation import catalogs_of, switched_off
    from olm_runtime.kube.client import KubeClient
    from operator_controller.io.certificate_providers import certificate_provider_of

    access = options["reach"].access()
    async with (
        KubeClient.briefly(access) as kube,
        catalogs_of(kube, access, ClusterOptions.of(options)) as client,
    ):
        raws = client.list_catalogs()
        _check_known(names, map(name_of, raws))
        asked = [raw for raw in raws if not names or name_of(raw) in names]
        try:
            contents = await client.contents(asked, package)
        except InvalidObjectError as error:
            raise TerminalError(str(error)) from error
        provider = await certificate_provider_of(kube)
        return Catalogs(package, contents, provider, switched_off(asked))


def _check_known(names: Sequence[str], known: Iterable[str]) -> None:
    present = list(known)
    for name in names:
        if name not in present:
            raise absent_catalog(name, present)
