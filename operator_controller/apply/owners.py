"""Who owns what operator-controller applies, and how that is marked.

The objects of a revision belong to its extension, so they pass from one revision to the next in one
write; a ClusterObjectSet of no extension owns its objects itself.
"""

from api.objects import annotations_of
from api.olm.v1 import names
from olm_rollout.ownership import Applier, Owner, controller_of, controller_reference
from operator_controller.apply.classic_owners import classic_owner
from operator_controller.apply.revisions import Revision, Revisions


def owner_labels(kind: str, name: str) -> dict[str, str]:
    """The labels that select everything of one owner."""
    return {names.LABEL_OWNER_KIND: kind, names.LABEL_OWNER_NAME: names.label_value(name)}


APPLIER = Applier(
    name="operator-controller",
    subject="extension",
    group=names.GROUP,
    field_manager=names.FIELD_MANAGER,
    former_field_manager=names.UPSTREAM_FIELD_MANAGER,
    revision_annotation=names.ANNOTATION_REVISION,
    retry_annotation=names.ANNOTATION_TRY_AGAIN,
    labels={names.LABEL_MANAGED_BY: names.FIELD_MANAGER},
    owner_labels=owner_labels,
    elsewhere=classic_owner,
)


def owner_of_extension(
    name: str, uid: str, *, namespace: str, history: Revisions, number: int
) -> Owner:
    """An extension as the owner of what one of its revisions applies.

    What upstream applied is controlled by its ClusterObjectSets.
    """
    kind = names.CLUSTER_EXTENSION
    return Owner(
        APPLIER,
        kind,
        name,
        uid,
        (controller_reference(names.API_VERSION, kind, name, uid),),
        number,
        newer=frozenset(r.number for r in history.newer_than(number)),
        ended=history.ended,
        namespace=namespace,
        former=frozenset(r.uid for r in history.every),
    )


def owner_of(revision: Revision, siblings: Revisions) -> Owner:
    """Who owns the objects of a revision: its extension, or else the ClusterObjectSet itself."""
    notes = annotations_of(revision.raw)
    account_namespace = notes.get(names.ANNOTATION_SERVICE_ACCOUNT_NAMESPACE, "")
    namespace = notes.get(names.ANNOTATION_INSTALL_NAMESPACE, account_namespace)
    controller = controller_of(revision.raw)
    if controller is not None and controller.get("kind") == names.CLUSTER_EXTENSION:
        return owner_of_extension(
            str(controller["name"]),
            str(controller["uid"]),
            namespace=namespace,
            history=siblings if siblings.every else Revisions((revision,)),
            number=revision.number,
        )
    kind, name, uid = names.CLUSTER_OBJECT_SET, revision.name, revision.uid
    reference = controller_reference(names.API_VERSION, kind, name, uid)
    return Owner(APPLIER, kind, name, uid, (reference,), revision.number, namespace=namespace)
