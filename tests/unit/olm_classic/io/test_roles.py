"""When a role is as wanted, so that nothing is written."""

from typing import Any

import pytest

from api.objects import KubeObject
from olm_classic.io.roles import is_as_wanted

RULES = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
AGGREGATED = {"clusterRoleSelectors": [{"matchLabels": {"a": "true"}}]}


def role(*, labels: tuple[str, ...] = ("a",), owner: str = "u", **content: Any) -> KubeObject:
    return {
        "metadata": {"labels": dict.fromkeys(labels, "x"), "ownerReferences": [{"uid": owner}]},
        **content,
    }


@pytest.mark.parametrize(
    ("wanted", "found", "holds"),
    [
        (role(rules=RULES), role(rules=RULES, labels=("a", "b")), True),
        (role(rules=RULES, labels=("a", "b")), role(rules=RULES), False),
        (role(rules=RULES), role(rules=RULES, owner="another"), False),
        (role(rules=RULES), role(rules=[]), False),
        (role(rules=[]), role(rules=None), True),
        (role(rules=[]), role(rules=RULES), False),
        (role(aggregationRule=AGGREGATED), role(aggregationRule=AGGREGATED, rules=RULES), True),
        (role(aggregationRule=AGGREGATED), role(rules=RULES), False),
        (role(rules=[]), role(aggregationRule=AGGREGATED, rules=[]), False),
    ],
)
def test_it_may_say_more_of_itself_but_not_give_more(
    wanted: KubeObject, found: KubeObject, holds: bool
) -> None:
    assert is_as_wanted(wanted, found) is holds
