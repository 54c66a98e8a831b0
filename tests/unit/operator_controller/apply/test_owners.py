"""Who owns the objects of a ClusterObjectSet."""

from typing import Any

from operator_controller.apply.owners import owner_labels, owner_of
from operator_controller.apply.revisions import Revision, Revisions, parse_revision

GROUP = "olm.operatorframework.io"
EXTENSION = {"kind": "ClusterExtension", "name": "ext", "uid": "uid-ext", "controller": True}


def revision(
    number: int = 1, *, notes: dict[str, str] | None = None, own: bool = False
) -> Revision:
    meta: dict[str, Any] = {
        "name": f"ext-{number}",
        "uid": f"uid-{number}",
        "annotations": notes or {},
    }
    meta |= {} if own else {"ownerReferences": [EXTENSION]}
    return parse_revision({"metadata": meta, "spec": {"revision": number}})


def test_the_namespace_is_known_whether_or_not_an_account_is_named() -> None:
    home = {f"{GROUP}/install-namespace": "home"}
    account = {f"{GROUP}/service-account-namespace": "accounts"}
    for notes, expected in ((home, "home"), (home | account, "home"), (account, "accounts")):
        assert owner_of(revision(notes=notes), Revisions()).namespace == expected


def test_a_revision_is_its_extensions_also_where_no_other_is_asked_for() -> None:
    owner = owner_of(revision(), Revisions())
    assert (owner.kind, owner.uid) == ("ClusterExtension", "uid-ext")
    assert owner.former == {"uid-1"}
    siblings = Revisions((revision(1), revision(2)))
    assert owner_of(revision(), siblings).former == {"uid-1", "uid-2"}


def test_a_set_of_no_extension_owns_its_objects_itself() -> None:
    owner = owner_of(revision(own=True), Revisions())
    assert (owner.kind, owner.uid) == ("ClusterObjectSet", "uid-1")
    assert not owner.former


def test_long_names_of_owners_fit_a_label() -> None:
    labels = owner_labels("ClusterExtension", "n" * 200)
    assert len(labels[f"{GROUP}/owner-name"]) == 63
