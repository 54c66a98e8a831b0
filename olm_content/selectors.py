"""Label selectors as Kubernetes defines them (`metav1.LabelSelector`)."""

from collections.abc import Iterator, Mapping, Sequence

from api.metadata import LabelSelector, LabelSelectorRequirement
from olm_content.formats.go_text import quote
from olm_content.label_grammar import key_faults, value_faults
from olm_runtime.errors import TerminalError

_WITH_VALUES = frozenset({"In", "NotIn"})
_OPERATORS = _WITH_VALUES | {"Exists", "DoesNotExist"}


class SelectorError(TerminalError):
    """A selector that says nothing that can be decided."""


def check(selector: LabelSelector) -> None:
    """Raises SelectorError for what the API server's schema lets pass, but no label can meet:
    keys and values that are none, an unknown operator, values where none or some are needed.
    """
    for key, value in selector.match_labels.items():
        _refuse([*_key_faults(key), *_value_faults(key, [value])])
    for requirement in selector.match_expressions:
        if requirement.operator not in _OPERATORS:
            operator = quote(requirement.operator)
            raise SelectorError(f"{operator} is not a valid label selector operator")
        key, values = requirement.key, requirement.values
        counted = _count_faults(requirement)
        _refuse([*_key_faults(key), *counted, *_value_faults(key, values)])


def _key_faults(key: str) -> Iterator[str]:
    if faults := key_faults(key):
        yield f"key: Invalid value: {quote(key)}: {'; '.join(faults)}"


def _value_faults(key: str, values: Sequence[str]) -> Iterator[str]:
    for place, value in enumerate(values):
        if faults := value_faults(value):
            yield f"values[{place}][{key}]: Invalid value: {quote(value)}: {'; '.join(faults)}"


def _count_faults(requirement: LabelSelectorRequirement) -> Iterator[str]:
    """Values where none belong, or none where some do."""
    values = requirement.values
    if requirement.operator in _WITH_VALUES and not values:
        yield (
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"
        )
    if requirement.operator not in _WITH_VALUES and values:
        yield (
            f"values: Invalid value: [{','.join(map(quote, values))}]: "
            "values set must be empty for exists and does not exist"
        )


def _refuse(faults: Sequence[str]) -> None:
    """Raises SelectorError with the fault, or with several as Kubernetes lists them."""
    if faults:
        raise SelectorError(faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]")


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
