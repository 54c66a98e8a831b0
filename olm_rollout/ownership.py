"""Who applies objects and for whom: values that a program gives."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from api.objects import KubeObject, annotations_of, metadata

Reference = dict[str, object]
"""One of `metadata.ownerReferences`."""


class Applier(NamedTuple):
    """A program that applies objects, and how it marks them.

    `name`: of the program, in messages. `subject`: what its owners are, in messages. `group`: the
    API group of its owners. `labels`: on all objects. `owner_labels`: on the objects of an owner,
    from its kind and name; they select them. `revision_annotation` has the number of the revision
    that applied an object last, `retry_annotation` is changed to have the API server try again.
    `former_field_manager`: of updates by the program whose objects this one inherits.
    `elsewhere`: of an object that another program manages and that is taken over by no policy, a
    hint naming whose it is; else an empty string.
    """

    name: str
    subject: str
    group: str
    field_manager: str
    former_field_manager: str
    revision_annotation: str
    retry_annotation: str
    labels: Mapping[str, str]
    owner_labels: Callable[[str, str], Mapping[str, str]]
    elsewhere: Callable[[KubeObject], str]

    def selector(self, kind: str, name: str) -> str:
        """A label selector for the objects of an owner."""
        return ",".join(f"{k}={v}" for k, v in self.owner_labels(kind, name).items())

    def has_revision(self, live: KubeObject) -> bool:
        """Whether an object says which revision applied it last."""
        return self.revision_annotation in annotations_of(live)

    def revision_of(self, live: KubeObject) -> int:
        """The number of the revision that applied an object last, 0 if it does not say."""
        text = annotations_of(live).get(self.revision_annotation, "")
        return int(text) if text.isascii() and text.isdigit() else 0


class Owner(NamedTuple):
    """What owns the objects that are applied, and the number of the revision that applies them.

    `references`: the owner references of its objects. `newer`: revisions in service that are newer
    than this one. `ended`: those out of service, whose objects may be removed. `namespace`: where
    its objects are, for messages about cluster-scoped ones. `former`: the uids of objects that
    controlled its objects before.
    """

    applier: Applier
    kind: str
    name: str
    uid: str
    references: tuple[Reference, ...]
    revision: int
    newer: frozenset[int] = frozenset()
    ended: frozenset[int] = frozenset()
    namespace: str = ""
    former: frozenset[str] = frozenset()

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels that select its objects."""
        return self.applier.owner_labels(self.kind, self.name)

    @property
    def selector(self) -> str:
        """The same as a label selector."""
        return self.applier.selector(self.kind, self.name)

    def controls(self, live: KubeObject) -> bool:
        """Whether an object is this owner's, or was before and still has its former controller."""
        uid = (controller_of(live) or {}).get("uid")
        return uid == self.uid or uid in self.former


def controller_reference(api_version: str, kind: str, name: str, uid: str) -> Reference:
    """The owner reference of a controller, which blocks its deletion in the foreground."""
    return {
        "apiVersion": api_version,
        "kind": kind,
        "name": name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def controller_of(live: KubeObject) -> Reference | None:
    """The owner reference with `controller: true`, if there is one."""
    references = metadata(live).get("ownerReferences") or ()
    return next((r for r in references if r.get("controller")), None)


def demoted_controller(live: KubeObject) -> list[Reference]:
    """The owner references with nobody as the controller; the server allows only one."""
    references = metadata(live).get("ownerReferences") or ()
    return [{**r, "controller": False} if r.get("controller") else dict(r) for r in references]
