"""The label that all components of an operator carry."""

from olm_classic.names import COMPONENT_LABEL_PREFIX

MAX_LABEL_NAME_LENGTH = 63


def operator_name(package: str, namespace: str) -> str:
    """The name of the Operator that a package installed in a namespace makes."""
    return f"{package}.{namespace}"


def component_label(package: str, namespace: str) -> str:
    """The key of the label, cut to what a label's name may have and still ending as one must."""
    name = operator_name(package, namespace)[:MAX_LABEL_NAME_LENGTH].rstrip(".-_")
    return f"{COMPONENT_LABEL_PREFIX}{name}"
