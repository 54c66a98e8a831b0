"""Whether an operator can watch what its OperatorGroup selects."""

import pytest

from olm_classic.csv.install_modes import unsupported

TOO_MANY = "MultiNamespace InstallModeType not supported, cannot configure to watch 2 namespaces"
OWN = "OwnNamespace InstallModeType not supported, cannot configure to watch own namespace"
MIXED = (
    "operatorgroup has invalid selected namespaces, "
    "NamespaceAll found when |selected namespaces| > 1"
)


@pytest.mark.parametrize(
    ("supported", "targets", "expected"),
    [
        ({"OwnNamespace"}, ["own"], None),
        ({"SingleNamespace"}, ["own"], OWN),
        ({"AllNamespaces"}, [""], None),
        ({"AllNamespaces"}, ["a", "b"], TOO_MANY),
        ({"MultiNamespace"}, ["a", "own"], OWN),
        ({"MultiNamespace"}, ["own", ""], OWN),
        ({"MultiNamespace"}, ["", "own"], MIXED),
        ({"MultiNamespace", "OwnNamespace"}, ["own", ""], MIXED),
        ({"MultiNamespace", "OwnNamespace"}, ["own", "a"], None),
    ],
)
def test_no_mode_stands_for_another(
    supported: set[str], targets: list[str], expected: str | None
) -> None:
    assert unsupported(supported, "own", targets) == expected
