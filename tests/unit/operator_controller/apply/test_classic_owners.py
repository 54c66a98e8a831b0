"""Whose an object is by what OLM Classic says on it."""

from typing import Any

import pytest

from operator_controller.apply.classic_owners import classic_owner
from operator_controller.apply.owners import APPLIER

CSV = {"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion"}
LABELS = {
    "olm.owner": "shop.v1",
    "olm.owner.kind": "ClusterServiceVersion",
    "olm.owner.namespace": "team",
}
NOTE = "operatorframework.io/installed-alongside-1"
HERE = (
    "it belongs to ClusterServiceVersion 'shop.v1' in namespace 'ns' of OLM Classic; "
    "an object has one owner"
)
TEAM = HERE.replace("'ns'", "'team'")


@pytest.mark.parametrize(
    ("meta", "hint"),
    [
        pytest.param({"ownerReferences": [{**CSV, "name": "shop.v1"}]}, HERE, id="by reference"),
        pytest.param({"labels": LABELS}, TEAM, id="by labels, outside its namespace"),
        pytest.param(
            {"annotations": {NOTE: "team/shop.v1"}},
            f"{TEAM}; if that is gone, remove the annotation '{NOTE}'",
            id="a definition",
        ),
        pytest.param(
            {"ownerReferences": [{**CSV, "apiVersion": "example.com/v1", "name": "x"}]},
            "",
            id="a kind of the same name in another group",
        ),
        pytest.param(
            {"labels": {**LABELS, "olm.owner.kind": "CatalogSource"}}, "", id="a catalog's"
        ),
        pytest.param({}, "", id="nobody's"),
    ],
)
def test_whose_it_is(meta: dict[str, Any], hint: str) -> None:
    live = {"kind": "Service", "metadata": {"name": "x", "namespace": "ns", **meta}}
    assert classic_owner(live) == hint
    assert APPLIER.elsewhere(live) == hint
