"""The label of an operator's components."""

from olm_classic.components import component_label


def test_the_label_names_package_and_namespace() -> None:
    assert component_label("etcd", "operators") == "operators.coreos.com/etcd.operators"


def test_a_long_name_is_cut_and_ends_as_a_label_must() -> None:
    assert component_label("p" * 70, "ns") == f"operators.coreos.com/{'p' * 63}"
    assert component_label("p" * 62, "ns") == f"operators.coreos.com/{'p' * 62}"
    assert component_label("p" * 60 + "-_-", "ns") == f"operators.coreos.com/{'p' * 60}"
