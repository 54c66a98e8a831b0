"""Which of a revision's objects ask for certificates, and the objects with what they asked for.

The annotations are those that the renderer writes for the provider `self`. What is filled in
becomes part of what is applied, so a CA bundle that somebody removes is restored like any field.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.objects import (
    KubeObject,
    ObjectKey,
    annotations_of,
    gvk_of,
    key_of,
    metadata,
    name_of,
    namespace_of,
)
from api.olm.v1 import names
from olm_content.render.certificates import Serving
from olm_rollout.phases import Phase
from olm_runtime.certificates.callers import trusting
from olm_runtime.certificates.content import SecretContent

Where = tuple[str, str]
"""Namespace and name of a Secret."""


@dataclass(frozen=True, slots=True)
class Filled:
    """The objects to apply, and what was put into those that asked."""

    phases: tuple[Phase, ...]
    values: Mapping[ObjectKey, Any]


def demands(phases: Sequence[Phase]) -> dict[Where, tuple[str, ...]]:
    """The DNS names to certify, by the Secret that is to hold the certificate.

    A Secret has to be one of the revision's own objects.
    """
    brought = {_where(obj) for obj in _objects(phases) if _is_secret(obj)}
    asked: dict[Where, tuple[str, ...]] = {}
    for obj in _objects(phases):
        secret = annotations_of(obj).get(names.ANNOTATION_SERVING_SECRET)
        where = (namespace_of(obj), secret or "")
        if obj.get("kind") == "Service" and where in brought:
            asked[where] = Serving(name_of(obj), namespace_of(obj)).dns_names
    return asked


def filled(
    phases: Sequence[Phase], contents: Mapping[Where, SecretContent], uids: Mapping[Where, str]
) -> Filled:
    """The phases with certificates in their Secrets and CA bundles in their callers.

    `uids`: of the Secrets that are there. What was made from one of them must not be written when
    it is deleted meanwhile: who deletes a Secret wants another certificate.
    """
    values: dict[ObjectKey, Any] = {}
    result = []
    for phase in phases:
        objects = tuple(_fill(obj, contents, uids, values) for obj in phase.objects)
        result.append(phase._replace(objects=objects))
    return Filled(tuple(result), values)


def _fill(
    obj: KubeObject,
    contents: Mapping[Where, SecretContent],
    uids: Mapping[Where, str],
    values: dict[ObjectKey, Any],
) -> KubeObject:
    where = _where(obj)
    if _is_secret(obj) and where in contents:
        data = contents[where].data()
        values[key_of(obj)] = data
        read = {"uid": uids[where]} if where in uids else {}
        return {**obj, "metadata": {**metadata(obj), **read}, "data": data}
    namespace, _, name = annotations_of(obj).get(names.ANNOTATION_INJECT_CA, "").partition("/")
    trusted = contents.get((namespace, name))
    if trusted is None:
        return obj
    changed = trusting(obj, trusted.bundle)
    if changed is not obj:
        values[key_of(obj)] = trusted.bundle.decode()
    return changed


def _objects(phases: Sequence[Phase]) -> Iterator[KubeObject]:
    return (obj for phase in phases for obj in phase.objects)


def _is_secret(obj: KubeObject) -> bool:
    gvk = gvk_of(obj)
    return (gvk.group, gvk.kind) == ("", "Secret")


def _where(obj: KubeObject) -> Where:
    return namespace_of(obj), name_of(obj)
