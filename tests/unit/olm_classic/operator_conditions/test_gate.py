"""Whether an operator may be replaced."""

from typing import Any

import pytest

from olm_classic.operator_conditions.gate import not_upgradeable

GENERATION = 3


def _says(status: str, generation: int | None = GENERATION, kind: str = "Upgradeable") -> Any:
    said = {"type": kind, "status": status, "reason": "migration", "message": "it migrates"}
    return said if generation is None else {**said, "observedGeneration": generation}


def _condition(*said: Any, overrides: Any = ()) -> dict[str, Any]:
    return {
        "metadata": {"name": "etcd.v1", "namespace": "operators", "generation": GENERATION},
        "spec": {"overrides": list(overrides)},
        "status": {"conditions": list(said)},
    }


OUTDATED = 'the operatorcondition status "Upgradeable"="{}" is outdated'
REFUSED = "the operator is not upgradeable: it migrates"


@pytest.mark.parametrize(
    ("condition", "refusal"),
    [
        (None, ""),
        ({"metadata": {"generation": 1}}, ""),
        (_condition(), ""),
        (_condition(_says("True")), ""),
        (_condition(_says("Unknown")), ""),
        (_condition(_says("False")), REFUSED),
        (_condition(_says("False", kind="Degraded")), ""),
        (_condition(_says("False", 2)), OUTDATED.format("False")),
        (_condition(_says("True", 2)), OUTDATED.format("True")),
        (_condition(_says("Unknown", 4)), OUTDATED.format("Unknown")),
        (_condition(_says("True", None)), OUTDATED.format("True")),
        (_condition(_says("False"), overrides=[_says("True")]), ""),
        (_condition(_says("False", 2), overrides=[_says("True", None)]), ""),
        (_condition(_says("True"), overrides=[_says("False")]), REFUSED),
        (_condition(_says("True"), overrides=[_says("Unknown")]), REFUSED),
        (_condition(_says("False"), overrides=[_says("True", kind="Degraded")]), REFUSED),
    ],
)
def test_an_override_goes_before_what_the_operator_says_of_its_present_generation(
    condition: Any, refusal: str
) -> None:
    assert not_upgradeable(condition) == refusal
