"""The kinds that a bundle provides and requires. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from api.objects import KubeObject
from olm_content.bundle.files import BundleError
from olm_content.bundle.reader import Contents
from olm_content.fbc.shapes import ShapeError, read
from olm_content.names import CSV_KIND


@dataclass(frozen=True, slots=True, order=True)
class Api:
    """A kind that a bundle provides or requires."""

    group: str
    kind: str
    version: str


Named = tuple[str, Api]
"""A kind with its plural."""


def provided_apis(bundle: Contents) -> Iterator[Named]:
    """The kinds of the bundle's definitions and of the API services it owns.

    Raises ShapeError.
    """
    yield from _defined(bundle.crds)
    for owned in _descriptions(bundle.spec, "apiservicedefinitions", "owned"):
        yield owned["name"], Api(owned["group"], owned["kind"], owned["version"])


def required_apis(bundle: Contents) -> Iterator[Named]:
    """The kinds that the ClusterServiceVersion requires. Raises ShapeError, BundleError."""
    for needed in _descriptions(bundle.spec, "customresourcedefinitions", "required"):
        plural, group = _split_name(needed["name"])
        yield plural, Api(group, needed["kind"], needed["version"])
    for needed in _descriptions(bundle.spec, "apiservicedefinitions", "required"):
        yield needed["name"], Api(needed["group"], needed["kind"], needed["version"])


def _descriptions(spec: KubeObject, section: str, key: str) -> list[KubeObject]:
    found: list[KubeObject] = read("DefinitionKeys", spec.get(section)).get(key, [])
    if found and None in spec[section].get(key, ()):
        raise BundleError(f"the {CSV_KIND}: spec.{section}.{key} has an empty item")
    return found


def _defined(crds: Iterable[KubeObject]) -> Iterator[Named]:
    """Each version of each definition, with the plural of its kind."""
    for crd in crds:
        spec = crd.get("spec") or {}
        names, group = spec.get("names") or {}, spec.get("group", "")
        versions = [version.get("name", "") for version in spec.get("versions") or ()]
        if spec.get("version"):
            versions.append(spec["version"])
        for version in versions:
            yield names.get("plural", ""), Api(group, names.get("kind", ""), version)


def check_owned(bundle: Contents) -> None:
    """Raises BundleError if a definition that the ClusterServiceVersion owns is not there."""
    definitions = set(_defined(bundle.crds))
    try:
        for owned in _descriptions(bundle.spec, "customresourcedefinitions", "owned"):
            plural, group = _split_name(owned["name"])
            if (plural, Api(group, owned["kind"], owned["version"])) not in definitions:
                raise BundleError(
                    f'bundle "{bundle.name}": its ClusterServiceVersion owns {owned["name"]}, kind '
                    f"{owned['kind']}, version {owned['version']}, which no manifest defines",
                    hint="put the CustomResourceDefinition beside it, or correct the list of "
                    "owned definitions",
                )
    except ShapeError as error:
        raise BundleError(f'bundle "{bundle.name}": {error}') from error


def _split_name(name: str) -> tuple[str, str]:
    plural, dot, group = name.partition(".")
    if not dot:
        raise BundleError(f"couldn't parse plural.group from crd name: {name}")
    return plural, group
