"""The state of one extension, as data."""

from collections.abc import Mapping, Sequence
from typing import Any

from api.objects import KubeObject, gvk_of, labels_of, name_of, namespace_of
from api.olm.v1 import names
from olm_client.field_manager import APPLY
from olm_client.history import content_of
from olm_client.lifecycle.live_objects import LiveObject, read_live
from olm_client.lifecycle.obstacle import UNSERVED
from olm_client.lifecycle.overview import Phase, extension_facts, extension_state, source_text
from olm_runtime.errors import OLMError
from olm_runtime.kube.client import KubeClient
from operator_controller.apply.history import state_of
from operator_controller.apply.owners import owner_labels
from operator_controller.apply.revisions import Revision, Revisions

_LACKS = "requires the following permissions"


async def facts_of(
    kube: KubeClient, raw: KubeObject, object_sets: Sequence[KubeObject]
) -> dict[str, Any]:
    """The answer as data; `object_sets` are those of the whole cluster."""
    labels = owner_labels(names.CLUSTER_EXTENSION, name_of(raw)).items()
    own = [each for each in object_sets if labels <= labels_of(each).items()]
    revisions = Revisions.of(own)
    shown = revisions.latest or (revisions.unfinished[-1] if revisions.unfinished else None)
    account = ((raw.get("spec") or {}).get("serviceAccount") or {}).get("name", "")
    facts = extension_facts(raw)
    return {
        **facts,
        "asksFor": source_text(raw),
        "serviceAccount": account,
        "conditions": (raw.get("status") or {}).get("conditions") or [],
        "revisions": [_revision(each, revisions) for each in revisions.unfinished],
        **await _objects(kube, shown),
        "hint": _hint(raw, facts),
    }


def _revision(revision: Revision, revisions: Revisions) -> dict[str, Any]:
    return {
        "revision": revision.number,
        "name": revision.name,
        "bundle": revision.bundle.name,
        "image": revision.bundle.image,
        "state": state_of(revision, revisions).value,
    }


async def _objects(kube: KubeClient, revision: Revision | None) -> dict[str, Any]:
    """The objects of a revision as they are, or why they are not known."""
    if revision is None:
        return {"objects": []}
    try:
        desired = await content_of(kube, revision, what_for="the objects of a revision are told")
        return {"objects": [_object(each) for each in await read_live(kube, desired)]}
    except OLMError as error:
        return {"objects": [], "objectsUnknown": error.message}


def _object(found: LiveObject) -> dict[str, Any]:
    obj = found.desired
    return {
        "apiVersion": gvk_of(obj).api_version,
        "kind": gvk_of(obj).kind,
        "namespace": namespace_of(obj),
        "name": name_of(obj),
        "state": found.state,
        "message": found.fault,
    }


def _hint(raw: KubeObject, facts: Mapping[str, Any]) -> str:
    """What to do: the condition's own hint, else a command that shows more."""
    if facts.get("hint"):
        return str(facts["hint"])
    name = name_of(raw)
    match extension_state(raw).phase:
        case Phase.RETRYING | Phase.BLOCKED if "no bundles found" in facts["message"]:
            return f"of every bundle why it is not taken: olm why {name}"
        case Phase.RETRYING | Phase.BLOCKED if _LACKS in facts["message"]:
            return (
                f"grant what {facts['package']} needs: olm upgrade {name} --grant\n"
                f"or olm rbac {facts['package']} "
                f"--extension {name} --install-namespace {facts['namespace']} | {APPLY}"
            )
        case Phase.RETRYING | Phase.BLOCKED if "no matches for kind" in facts["message"]:
            return UNSERVED
        case Phase.PENDING:
            return "if this lasts, see whether operator-controller runs"
        case _:
            return ""
