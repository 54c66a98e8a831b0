"""The ClusterServiceVersion and the definitions of a bundle, read into their types."""

from collections.abc import Iterator
from typing import Any

from api.objects import CRD_KIND, KubeObject, gvk_of, name_of
from olm_content.bundle.documents import unparsable
from olm_content.bundle.files import BundleError
from olm_content.bundle.mode import Mode
from olm_content.fbc import shapes
from olm_content.kube_types import go_types
from olm_content.kube_types.json_problems import json_problem
from olm_content.names import CSV_KIND

CRD_GROUP = "apiextensions.k8s.io"
CRD_TYPES = {"v1": CRD_KIND, "v1beta1": f"{CRD_KIND}V1beta1"}


def service_version(path: str, csv: KubeObject, mode: Mode) -> tuple[KubeObject, KubeObject]:
    """A ClusterServiceVersion, and its metadata in its type. Raises BundleError."""
    if mode.whole_types:
        whole = typed(path, CSV_KIND, csv)
        return whole, whole.get("metadata") or {}
    try:
        return csv, shapes.read("Head", csv).get("metadata", {})
    except shapes.ShapeError as error:
        raise BundleError(
            f"the {CSV_KIND}: {error}", hint="write numbers and booleans in quotes"
        ) from error


def definition(path: str, crd: KubeObject, mode: Mode) -> Iterator[KubeObject]:
    """A CustomResourceDefinition in its type, if it counts for one. Raises BundleError."""
    if mode.whole_types:
        # Status is what generators leave there; clusters write their own.
        yield {key: item for key, item in typed(path, CRD_KIND, crd).items() if key != "status"}
        return
    gvk = gvk_of(crd)
    type_name = CRD_TYPES.get(gvk.version)
    if type_name is None:
        return
    meta = crd.get("metadata")
    what = f"{CRD_KIND} {meta.get('name') if isinstance(meta, dict) else ''}"
    if gvk.group != CRD_GROUP:
        raise BundleError(
            f'{what}: there is no such kind in "{crd["apiVersion"]}"',
            hint=f"its apiVersion is {CRD_GROUP}/v1",
        )
    yield in_type(type_name, crd, what)


def typed(path: str, kind: str, obj: KubeObject) -> KubeObject:
    """An object of a kind whose type is known. Raises BundleError naming file and object."""
    try:
        found: KubeObject = go_types.read(kind, obj)
    except go_types.ShapeError as error:
        hint = f"{kind} {name_of(obj)}: {error}"
        raise unparsable(path, error.problem, hint=hint) from error
    return found


_WRONG_TYPE = ("unrecognized type", "cannot restore", "cannot convert")


def in_type(type_name: str, value: Any, what: str) -> KubeObject:
    """A value as a type of Kubernetes writes it again, with errors as Go's JSON reader has them.

    Raises BundleError, which begins with `what`.
    """
    try:
        found: KubeObject = go_types.read(type_name, value)
    except go_types.ShapeError as error:
        if error.problem.startswith(_WRONG_TYPE):
            error.problem = json_problem(len(error.path), type_name, value, error)
        raise BundleError(f"{what}: {error}") from error
    return found
