"""The probes that a ClusterObjectSet brings itself (`spec.progressionProbes`), on live objects.

All assertions of a probe must hold; all that fail are reported. Wording: upstream's.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, assert_never

from api import wire
from api.objects import GVK, KubeObject, condition, gvk_of, labels_of
from api.olm.v1.probes import (
    Assertion,
    ConditionEqualProbe,
    FieldsEqualProbe,
    FieldValueProbe,
    ProgressionProbe,
    SelectorType,
)
from olm_content.formats.go_text import quote
from olm_content.selectors import check, selects
from olm_runtime.errors import TerminalError

_MISSING = object()


@dataclass(frozen=True, slots=True)
class Progression:
    """A probe as a rollout asks it (`olm_rollout.probes.GivenProbe`)."""

    probe: ProgressionProbe

    def may_select(self, gvk: GVK) -> bool:
        """Whether it may be for objects of a kind; by label, only an object itself says."""
        selector = self.probe.selector
        match selector.type:
            case SelectorType.LABEL:
                return True
            case SelectorType.GROUP_KIND:
                kind = selector.group_kind
                return kind is not None and (kind.group, kind.kind) == (gvk.group, gvk.kind)
            case _:
                assert_never(selector.type)

    def selects(self, live: KubeObject) -> bool:
        """Whether it is for a live object."""
        if self.probe.selector.label is not None:
            return selects(self.probe.selector.label, labels_of(live))
        return self.may_select(gvk_of(live))

    def failures(self, live: KubeObject) -> tuple[str, ...]:
        """What does not hold of an object that it is for."""
        found = (_failure(assertion, live) for assertion in self.probe.assertions)
        return tuple(message for message in found if message)


def read_probes(given: Iterable[Mapping[str, Any]]) -> tuple[Progression, ...]:
    """The probes of `spec.progressionProbes`.

    Raises InvalidObjectError for what is no probe, and TerminalError for a label selector that the
    API's schema cannot refuse.
    """
    probes = [wire.read(ProgressionProbe, raw, subject="a progressionProbe") for raw in given]
    for probe in probes:
        if probe.selector.label is not None:
            try:
                check(probe.selector.label)
            except TerminalError as error:
                raise TerminalError(
                    f"invalid label selector in progressionProbe: {error.message}"
                ) from error
    return tuple(map(Progression, probes))


def _failure(assertion: Assertion, live: KubeObject) -> str:
    """Empty when it holds. The API's schema sees to it that one of the three is there."""
    if assertion.condition_equal is not None:
        return _condition_equal(assertion.condition_equal, live)
    if assertion.fields_equal is not None:
        return _fields_equal(assertion.fields_equal, live)
    if assertion.field_value is not None:
        return _field_value(assertion.field_value, live)
    return f"the assertion of type {assertion.type} says nothing"


def _condition_equal(wanted: ConditionEqualProbe, live: KubeObject) -> str:
    found = condition(live, wanted.type)
    if found is None:
        return f'condition "{wanted.type}" == "{wanted.status}": not reported'
    observed = found.get("observedGeneration")
    if observed is not None and observed != (live.get("metadata") or {}).get("generation"):
        return f'condition "{wanted.type}" == "{wanted.status}": outdated'
    if found.get("status") == wanted.status:
        return ""
    detail = found.get("message") or found.get("reason") or ""
    text = f'condition "{wanted.type}" == "{wanted.status}": is {found.get("status")}'
    return f"{text}: {detail}" if detail else text


def _fields_equal(wanted: FieldsEqualProbe, live: KubeObject) -> str:
    values = []
    for path in (wanted.field_a, wanted.field_b):
        value = _at(live, path)
        if value is _MISSING:
            return f'"{wanted.field_a}" == "{wanted.field_b}": "{path}" is missing'
        values.append(value)
    if values[0] == values[1]:
        return ""
    return (
        f'"{wanted.field_a}" == "{wanted.field_b}": {_shown(values[0])} is not {_shown(values[1])}'
    )


def _field_value(wanted: FieldValueProbe, live: KubeObject) -> str:
    value = _at(live, wanted.field_path)
    if value is _MISSING:
        return f'missing key: "{wanted.field_path}"'
    if _text(value) == wanted.value:
        return ""
    return (
        f'value at key "{wanted.field_path}" != "{wanted.value}"; '
        f'expected: "{wanted.value}" got: {_shown(value)}'
    )


def _at(live: KubeObject, path: str) -> Any:
    value: Any = live
    for part in path.split("."):
        if not isinstance(value, dict) or part not in value:
            return _MISSING
        value = value[part]
    return value


def _text(value: Any) -> str | None:
    """A scalar as the API writes the expected value, which is text; None for what is no scalar."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case _:
            return None


def _shown(value: Any) -> str:
    text = _text(value)
    return quote(text) if text is not None else "no single value"
