"""Which of the default catalogs there are to be, by OperatorHub `cluster`. Pure.

A default catalog is a CatalogSource in the global namespace, as a manifest gives it. It is there
unless OperatorHub disables it; deleted it comes back, and a spec that somebody edited becomes the
manifest's again. A catalog of a default's name that is not marked as one is its user's while the
default is disabled, and is taken over when it is enabled.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from api.objects import KubeObject, annotations_of, name_of
from api.openshift.config.v1.kinds import OPERATOR_HUB
from api.openshift.config.v1.operatorhub import (
    SINGLETON,
    HubSourceStatus,
    OperatorHubSpec,
    OperatorHubStatus,
)
from olm_classic.catalog_sources import templates
from olm_content.formats.merge_patch import merge_patch

ANNOTATION_MANAGED_BY = "operatorframework.io/managed-by"
MARKETPLACE = "marketplace-operator"

SUCCESS, ERROR = "Success", "Error"
NO_DEFAULT = "Not present in the default definitions"


@dataclass(frozen=True, slots=True)
class Wish:
    """A default catalog that is to be there, or not."""

    catalog: KubeObject
    disabled: bool


def operator_hub() -> KubeObject:
    """The one of a cluster that has none: every default is there."""
    meta = {"name": SINGLETON}
    kind = {"apiVersion": OPERATOR_HUB.api_version, "kind": OPERATOR_HUB.kind}
    return {**kind, "metadata": meta, "spec": {}}


def default_catalog(manifest: KubeObject, namespace: str) -> KubeObject:
    """A default catalog as it is to be in its namespace."""
    meta = manifest["metadata"]
    annotations = {**annotations_of(manifest), ANNOTATION_MANAGED_BY: MARKETPLACE}
    return {
        **{key: manifest[key] for key in ("apiVersion", "kind", "spec")},
        "metadata": {
            "name": meta["name"],
            "namespace": namespace,
            "annotations": annotations,
            **({"labels": meta["labels"]} if meta.get("labels") else {}),
        },
    }


def wishes(spec: OperatorHubSpec, defaults: Iterable[KubeObject]) -> list[Wish]:
    """What is wished of each default; the last word about a name counts."""
    named = {each.name: each.disabled for each in spec.sources}
    return [Wish(catalog, _is_disabled(spec, named.get(name_of(catalog)))) for catalog in defaults]


def _is_disabled(spec: OperatorHubSpec, own: bool | None) -> bool:
    return spec.disable_all_default_sources if own is None else own


def is_default(catalog: KubeObject) -> bool:
    """Whether a catalog is marked as a default one."""
    return annotations_of(catalog).get(ANNOTATION_MANAGED_BY) == MARKETPLACE


def patch_to(catalog: KubeObject, found: KubeObject) -> dict[str, Any]:
    """What a catalog that is found lacks of being a default, as a merge patch; empty if nothing.

    Annotations and labels of others stay. The image of a template is set by whoever resolves it.
    """
    patch: dict[str, Any] = {}
    meta = {
        key: missing
        for key in ("annotations", "labels")
        if (missing := _missing(catalog["metadata"].get(key), found["metadata"].get(key)))
    }
    if meta:
        patch["metadata"] = meta
    spec = merge_patch(found.get("spec") or {}, catalog["spec"])
    if templates.ANNOTATION in catalog["metadata"]["annotations"]:
        spec.pop("image", None)
    if spec:
        patch["spec"] = spec
    return patch


def _missing(wanted: Mapping[str, str] | None, found: Mapping[str, str] | None) -> dict[str, str]:
    there = found or {}
    return {key: value for key, value in (wanted or {}).items() if there.get(key) != value}


def status_of(
    spec: OperatorHubSpec, wished: Iterable[Wish], problems: Mapping[str, str]
) -> OperatorHubStatus:
    """What came of it: each default, then what is no default; `problems` by name."""
    sources = [
        _source(name_of(wish.catalog), wish.disabled, problems.get(name_of(wish.catalog), ""))
        for wish in wished
    ]
    known = {source.name for source in sources}
    unknown = {each.name: each.disabled for each in spec.sources if each.name not in known}
    sources += [_source(name, bool(disabled), NO_DEFAULT) for name, disabled in unknown.items()]
    return OperatorHubStatus(sources=tuple(sources))


def _source(name: str, disabled: bool, problem: str) -> HubSourceStatus:
    return HubSourceStatus(
        name=name, disabled=disabled, status=ERROR if problem else SUCCESS, message=problem
    )
