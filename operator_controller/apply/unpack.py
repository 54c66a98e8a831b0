"""The phases of a ClusterObjectSet with objects, read from the Secrets that it refers to."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from api.objects import KubeObject
from olm_rollout.adoption import Policy
from olm_rollout.phases import Phase
from olm_runtime.errors import TransientError
from operator_controller.apply.stored import ContentError, content_key, decode, is_digest

MISSING_SECONDS = 5.0
"""Content that comes, or comes back, is noticed within this time."""

Where = tuple[str, str]
"""Namespace and name of a Secret."""


class MissingContentError(TransientError):
    """The content of a revision is not there (yet): a Secret may still come or come back.

    So it is too where something else is in its place.
    """


def unpack(
    spec: Mapping[str, Any], secrets: Mapping[Where, KubeObject], home: str
) -> tuple[Phase, ...]:
    """The phases of a ClusterObjectSet's spec with objects; `secrets` by (namespace, name).

    A reference without a namespace is to one in `home`. Raises ContentError, or
    MissingContentError naming the phase, the Secret and the key.
    """
    _check_immutable(secrets)
    return tuple(_phase(phase, spec, secrets, home) for phase in spec.get("phases") or ())


def _phase(
    phase: Mapping[str, Any],
    spec: Mapping[str, Any],
    secrets: Mapping[Where, KubeObject],
    home: str,
) -> Phase:
    found = [
        (obj, _policy(entry, phase, spec.get("collisionProtection")))
        for entry in phase["objects"]
        for obj in _items(_object(phase["name"], entry, secrets, home))
    ]
    objects, policies = tuple(obj for obj, _ in found), tuple(policy for _, policy in found)
    return Phase(phase["name"], objects, policies)


def _items(obj: KubeObject) -> Sequence[KubeObject]:
    """The objects of a List, or else the object itself."""
    if (obj.get("apiVersion"), obj.get("kind")) != ("v1", "List"):
        return [obj]
    items = obj.get("items")
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise ContentError("the items of a stored List are no objects")
    return items


def _check_immutable(secrets: Mapping[Where, KubeObject]) -> None:
    """What a revision holds must never change under it."""
    open_ones = sorted("/".join(w) for w, secret in secrets.items() if not secret.get("immutable"))
    if open_ones:
        raise ContentError(
            "the following secrets are not immutable (referenced secrets must have immutable set "
            f"to true): {', '.join(open_ones)}"
        )


def _policy(entry: Mapping[str, Any], phase: Mapping[str, Any], whole: str | None) -> Policy:
    key = "collisionProtection"
    return Policy(entry.get(key) or phase.get(key) or whole or Policy.PREVENT)


def _object(
    phase: str, entry: Mapping[str, Any], secrets: Mapping[Where, KubeObject], home: str
) -> KubeObject:
    ref = entry.get("ref")
    if ref is None:
        inline: KubeObject = entry["object"]
        return inline
    where = (ref.get("namespace") or home, ref["name"])
    prefix = f'resolving ref in phase "{phase}": '
    if where not in secrets:
        raise MissingContentError(
            f"{prefix}Secret {where[0]}/{where[1]} not found", within=MISSING_SECONDS
        )
    data = (secrets[where].get("data") or {}).get(ref["key"])
    if data is None:
        raise MissingContentError(
            f'{prefix}key "{ref["key"]}" not found in Secret {where[0]}/{where[1]}',
            within=MISSING_SECONDS,
        )
    stored = base64.b64decode(data)
    if is_digest(ref["key"]) and content_key(stored) != ref["key"]:
        raise MissingContentError(
            f'{prefix}key "{ref["key"]}" in Secret {where[0]}/{where[1]} does not hold what it is '
            "the digest of",
            hint=f"delete the Secret: kubectl delete secret {where[1]} --namespace {where[0]}; "
            "of an extension it is made again",
            within=MISSING_SECONDS,
        )
    return decode(stored)


def refs(phases: Sequence[Mapping[str, Any]], home: str) -> frozenset[Where]:
    """The Secrets that phases refer to."""
    return frozenset(
        ((entry["ref"].get("namespace") or home), entry["ref"]["name"])
        for phase in phases
        for entry in phase["objects"]
        if entry.get("ref")
    )
