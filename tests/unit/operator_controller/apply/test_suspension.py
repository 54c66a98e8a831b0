"""Which annotations suspend an object."""

import pytest

from api.objects import KubeObject
from operator_controller.apply.suspension import suspension_of

GROUP = "olm.operatorframework.io"


def obj(*, deleting: bool = False, **annotations: str) -> KubeObject:
    notes = {f"{GROUP}/{key.replace('_', '-')}": value for key, value in annotations.items()}
    deletion = {"deletionTimestamp": "2026-01-01T00:00:00Z"} if deleting else {}
    return {"metadata": {"name": "x", "annotations": notes, **deletion}}


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        pytest.param({"metadata": {"name": "x"}}, None, id="no annotation"),
        pytest.param(obj(suspend_reason="why"), None, id="a reason alone"),
        pytest.param(obj(suspend="false"), None, id="switched off"),
        pytest.param(obj(suspend="true"), "suspended", id="without a reason"),
        pytest.param(obj(suspend="yes", suspend_reason=""), "suspended", id="any other value"),
        pytest.param(
            obj(suspend="true", suspend_reason="a\nb "), "suspended: a b", id="in one line"
        ),
        pytest.param(obj(deleting=True, suspend="true"), None, id="deletion goes on"),
    ],
)
def test_suspended(raw: KubeObject, text: str | None) -> None:
    found = suspension_of(raw)
    assert (found.text if found else None) == text
