"""What is asked of the API server for a manifest, given what is on the cluster.

Source of the rules: upstream's notes, section 10.1.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from api.objects import KubeObject, annotations_of, gvk_of, metadata
from api.openshift.config.v1.kinds import CLUSTER_OPERATOR, CLUSTER_VERSION
from cluster_version.apply.merging import merged
from cluster_version.names import CREATE_ONLY, DELETE
from cluster_version.payload.task_graph import State
from olm_content.formats.go_text import quote
from olm_runtime.errors import TerminalError

OWNER_NAME = "version"


class Verb(StrEnum):
    """How the API server names what is asked of it."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked, and the object: as it is to be, or the one to be deleted."""

    verb: Verb
    object: KubeObject


def request_for(manifest: KubeObject, live: KubeObject | None, state: State) -> Request | None:
    """What is asked for a manifest whose object was just read; None if nothing is.

    Raises TerminalError for a manifest that says what it cannot mean.
    """
    if is_deletion(manifest):
        is_due = live is not None and state is State.UPDATING
        return Request(Verb.DELETE, manifest) if is_due else None
    if live is None:
        return Request(Verb.CREATE, manifest)
    if is_create_only(manifest) or _is_left_to_its_operator(manifest, state):
        return None
    after = merged(live, manifest)
    return None if after is live else Request(Verb.UPDATE, after)


def _is_left_to_its_operator(manifest: KubeObject, state: State) -> bool:
    return gvk_of(manifest) == CLUSTER_OPERATOR and state is not State.RECONCILING


def is_create_only(manifest: KubeObject) -> bool:
    """Whether what became of an object since it was created is left as it is."""
    return annotations_of(manifest).get(CREATE_ONLY, "").casefold() == "true"


def is_deletion(manifest: KubeObject) -> bool:
    """Whether a manifest names an object that is to go. Raises TerminalError."""
    value = annotations_of(manifest).get(DELETE)
    if value not in (None, "true"):
        raise TerminalError(f"Invalid delete annotation {quote(DELETE)} value: {quote(value)}")
    return value is not None


def owned(manifest: KubeObject, uid: str) -> KubeObject:
    """The manifest with the ClusterVersion of this UID as owner, if it names no other owner."""
    named = metadata(manifest).get("ownerReferences") or ()
    others = [owner for owner in named if owner.get("kind") != CLUSTER_VERSION.kind]
    owner: dict[str, Any] = {
        "apiVersion": CLUSTER_VERSION.api_version,
        "kind": CLUSTER_VERSION.kind,
        "name": OWNER_NAME,
        "uid": uid,
    }
    if not is_create_only(manifest):
        owner["controller"] = True
    owners = others or [owner]
    return {**manifest, "metadata": {**metadata(manifest), "ownerReferences": owners}}
