"""Sentences: one for every reason, bounded in length, and none that decides anything."""

import pytest

from api.olm.v1.clusterextension import CatalogFilter
from olm_content.fbc.model import Edge, Entry
from operator_controller.resolve import Cause, Findings, Note, NoteKind, Reason, Request
from operator_controller.resolve.explain import note_text, sentence, summary

REQUEST = Request(CatalogFilter(package_name="p", version="1.x", channels=("stable",)))
OF_CATALOGS = {Reason.CATALOG_NOT_SELECTED, Reason.CATALOG_UNAVAILABLE, Reason.PACKAGE_ABSENT}


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_has_a_sentence(reason: Reason) -> None:
    reported = sentence(Cause(catalog="a", reason=reason, bundle="b", detail="the detail"), REQUEST)
    assert reported
    assert not reported.endswith(".")
    assert "{" not in reported


@pytest.mark.parametrize("kind", NoteKind)
def test_every_kind_of_note_has_a_text(kind: NoteKind) -> None:
    assert "a" in note_text(Note(kind=kind, catalog="a", bundle="b"))


@pytest.mark.parametrize("reason", [r for r in Reason if r not in OF_CATALOGS])
def test_every_reason_of_a_bundle_is_counted(reason: Reason) -> None:
    reported = summary(Findings((Cause(catalog="a", reason=reason, bundle="b"),)))
    assert reported.startswith("considered 1 bundle: 1 ")


def test_long_lists_are_cut() -> None:
    entry = Entry("b", skips=tuple(f"b.v{n}" for n in range(300)))
    edges = tuple(Edge(f"c{n}", entry) for n in range(10))
    cause = Cause(catalog="a", reason=Reason.NOT_A_SUCCESSOR, bundle="b", edges=edges)
    reported = sentence(cause, REQUEST)
    assert "in channel c0 it skips b.v0, b.v1, b.v2 and 297 more" in reported
    assert reported.endswith(" and 7 more")
    assert len(reported) < 400


def test_braces_in_facts_are_only_text() -> None:
    odd = Request(CatalogFilter(package_name="p", version="{detail}"))
    reported = sentence(Cause(catalog="a", reason=Reason.OUT_OF_RANGE, bundle="b"), odd)
    assert reported == "its version is not in the range {detail}"
