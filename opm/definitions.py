"""The CustomResourceDefinitions among a bundle's objects, read into Kubernetes' types. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from api.objects import KubeObject, gvk_of
from olm_content.kube_types import go_types
from opm.bundle_files import BundleError

CRD = "CustomResourceDefinition"
CRD_GROUP = "apiextensions.k8s.io"
_TYPES = {"v1": CRD, "v1beta1": f"{CRD}V1beta1"}


@dataclass(frozen=True, slots=True, order=True)
class Api:
    """A kind that a bundle provides or requires."""

    group: str
    kind: str
    version: str


Named = tuple[str, Api]
"""A kind with its plural."""


def defined(objects: Iterable[KubeObject]) -> Iterator[Named]:
    """Each version of each definition, with the plural of its kind.

    Definitions of other versions than v1 and v1beta1 are none, as upstream has it. Raises
    BundleError where a type does not fit.
    """
    for each in objects:
        type_name = _TYPES.get(gvk_of(each).version) if each["kind"] == CRD else None
        if type_name is None:
            continue
        spec = _typed(type_name, each).get("spec") or {}
        names, group = spec.get("names") or {}, spec.get("group", "")
        versions = [version.get("name", "") for version in spec.get("versions") or ()]
        if spec.get("version"):
            versions.append(spec["version"])
        for version in versions:
            yield names.get("plural", ""), Api(group, names.get("kind", ""), version)


def _typed(type_name: str, crd: KubeObject) -> KubeObject:
    found = crd.get("metadata")
    name = found.get("name") if isinstance(found, dict) else ""
    what = f"{CRD} {name}"
    if gvk_of(crd).group != CRD_GROUP:
        raise BundleError(
            f'{what}: there is no such kind in "{crd["apiVersion"]}"',
            hint=f"its apiVersion is {CRD_GROUP}/v1",
        )
    return typed(type_name, crd, what)


def typed(type_name: str, value: Any, what: str) -> KubeObject:
    """A value as a type of Kubernetes writes it again. Raises BundleError where it does not fit."""
    try:
        found: KubeObject = go_types.read(type_name, value)
    except go_types.ShapeError as error:
        if error.problem.startswith(_WRONG_TYPE):
            error.problem = go_types.json_problem(len(error.path), type_name, value, error)
        raise BundleError(f"{what}: {error}") from error
    return found


_WRONG_TYPE = ("unrecognized type", "cannot restore", "cannot convert")
