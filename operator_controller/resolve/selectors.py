"""Label selectors as Kubernetes defines them (`metav1.LabelSelector`)."""

from collections.abc import Mapping

from api.v1.common import LabelSelector, LabelSelectorRequirement
from olm_shared.errors import TerminalError
from olm_shared.go_text import quote


class SelectorError(TerminalError):
    """A selector that says nothing that can be decided."""


def check(selector: LabelSelector) -> None:
    """Raises SelectorError for an unknown operator, or values where none or some are needed."""
    for requirement in selector.match_expressions:
        match requirement.operator:
            case "In" | "NotIn" if not requirement.values:
                raise SelectorError(
                    "values: Invalid value: []: "
                    "for 'in', 'notin' operators, values set can't be empty"
                )
            case "Exists" | "DoesNotExist" if requirement.values:
                raise SelectorError(
                    "values: Invalid value: "
                    f"[{','.join(map(quote, requirement.values))}]: "
                    "values set must be empty for exists and does not exist"
                )
            case "In" | "NotIn" | "Exists" | "DoesNotExist":
                continue
            case _:
                raise SelectorError(
                    f"{quote(requirement.operator)} is not a valid label selector operator"
                )


def selects(selector: LabelSelector, labels: Mapping[str, str]) -> bool:
    """Whether the labels meet every requirement; a selector without any selects everything."""
    return all(labels.get(key) == value for key, value in selector.match_labels.items()) and all(
        _holds(requirement, labels) for requirement in selector.match_expressions
    )


def _holds(requirement: LabelSelectorRequirement, labels: Mapping[str, str]) -> bool:
    """One requirement; `NotIn` holds for an absent label too."""
    value = labels.get(requirement.key)
    match requirement.operator:
        case "In":
            return value in requirement.values
        case "NotIn":
            return value not in requirement.values
        case "Exists":
            return value is not None
        case _:
            return value is None
