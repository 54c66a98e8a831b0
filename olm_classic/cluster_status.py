"""What OLM Classic says in ClusterOperators: how it is, and which updates are forbidden. Pure.

Texts are those that clients of upstream's OLM match.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from api.objects import KubeObject, annotations_of, name_of, namespace_of
from api.openshift.config.v1.clusteroperator import RawStatus, Verdict, merged_conditions
from api.operators.names import GROUP
from olm_classic.names import ANNOTATION_PROPERTIES
from olm_content.bundle.properties import MinorVersion, next_version
from olm_content.formats import go_json
from olm_content.kube_types.go_scalars import ShapeError, tolerant_version
from olm_content.names import MAX_OPENSHIFT_VERSION

INCOMPATIBLE = "IncompatibleOperatorsInstalled"
UNCHECKED = "ErrorCheckingOperatorCompatibility"
BLOCKING = (
    "ClusterServiceVersions blocking minor version upgrades to 4.23 or major version upgrades to "
    "5.0:"
)
UNCHECKED_TEXT = (
    "Encountered errors while checking compatibility with the next minor version of OpenShift: "
)
WAITING = "Waiting for updates to take effect"
_SAME = {MinorVersion(4, 23): MinorVersion(5, 0)}
"""One release under two names."""


class LimitError(ValueError):
    """A property that names no version of OpenShift."""


@dataclass(frozen=True, slots=True)
class Component:
    """A part of OLM that a ClusterOperator is about.

    name       in the versions of the status
    release    of OpenShift that it is part of, or our own version
    resources  of the group of OLM that are to be looked at when something is wrong
    """

    name: str
    release: str
    namespace: str
    resources: tuple[str, ...]


def component_status(
    component: Component,
    old: Mapping[str, Any],
    now: datetime,
    *,
    upgradeable: Verdict,
    problem: str = "",
) -> RawStatus:
    """The status to be; `problem` is why the component does not work yet, empty if it does."""
    release = component.release
    progressing = f"Waiting to see update {release} succeed" if problem else f"Deployed {release}"
    verdicts = [
        ("Degraded", False, "", ""),
        ("Progressing", bool(problem), "", progressing),
        ("Available", not problem, "", problem),
        upgradeable,
    ]
    versions = [{"name": each, "version": release} for each in ("operator", component.name)]
    related = [{"group": "", "resource": "namespaces", "name": component.namespace}]
    related += [{"group": GROUP, "resource": each, "name": ""} for each in component.resources]
    return {
        **old,
        "conditions": merged_conditions(old, verdicts, now),
        "versions": [] if problem else versions,
        "relatedObjects": related,
    }


def always_upgradeable() -> Verdict:
    """What nothing stands against."""
    return "Upgradeable", True, "", "Safe to upgrade"


def upgradeable(csvs: Iterable[KubeObject], release: str) -> Verdict:
    """Whether installed operators let OpenShift go on from a release; "" for one not known.

    `csvs` are no copies.
    """
    if not release:
        return _forbidden(UNCHECKED, UNCHECKED_TEXT + "RELEASE_VERSION is not set")
    try:
        current = minor_version(release, of_release=True)
    except LimitError as error:
        return _forbidden(UNCHECKED, f"{UNCHECKED_TEXT}{error}")
    following = _comparable(next_version(current))
    invalid, incompatible = [], []
    for csv in sorted(csvs, key=lambda each: (namespace_of(each), name_of(each))):
        named = f"{namespace_of(csv)}/{name_of(csv)}"
        try:
            latest = max_version(csv)
        except LimitError as error:
            invalid.append(f"- {named} has invalid {MAX_OPENSHIFT_VERSION} properties: {error}")
        else:
            if latest is not None and _comparable(latest) < following:
                incompatible.append(f"- maximum supported OCP version for {named} is {latest}")
    if not invalid and not incompatible:
        return always_upgradeable()
    return _forbidden(INCOMPATIBLE, "\n".join([BLOCKING, *invalid, *incompatible]))


def _forbidden(reason: str, message: str) -> Verdict:
    return "Upgradeable", False, reason, message


def _comparable(version: MinorVersion) -> MinorVersion:
    return _SAME.get(version, version)


def max_version(csv: KubeObject) -> MinorVersion | None:
    """The last version of OpenShift that an operator works with; None if it names none.

    Raises LimitError.
    """
    text = annotations_of(csv).get(ANNOTATION_PROPERTIES)
    if text is None:
        return None
    values = [value for kind, value in _properties(text) if kind == MAX_OPENSHIFT_VERSION]
    if len(values) > 1:
        raise LimitError(
            f'defining more than one "{MAX_OPENSHIFT_VERSION}" property is not allowed'
        )
    return minor_version(values[0]) if values else None


def _properties(text: str) -> list[tuple[str, str]]:
    """Type and value, the value as the JSON text that it is. Raises LimitError."""
    try:
        found = json.loads(text, parse_float=_Number, parse_int=_Number)
        given = found.get("properties") or []
        return [(each["type"], _text(each.get("value"))) for each in given]
    except (ValueError, RecursionError, AttributeError, TypeError, KeyError) as error:
        raise LimitError("its properties cannot be read") from error


class _Number(str):
    """A number as it is written: 4.10 is not 4.1."""

    __slots__ = ()


def _text(value: Any) -> str:
    return value if isinstance(value, str) else go_json.dumps(value)


def minor_version(text: str, *, of_release: bool = False) -> MinorVersion:
    """The version that a text means, read tolerantly; of a release, more than that may be said.

    Raises LimitError.
    """
    value = text.strip('"')
    if not value:
        raise LimitError('value cannot be "" (an empty string)')
    try:
        version = tolerant_version(value)
    except ShapeError as error:
        raise LimitError(f'failed to parse "{value}" as semver: {error}') from error
    if not of_release and (version.patch or version.prerelease):
        raise LimitError(
            f"property {MAX_OPENSHIFT_VERSION} must specify only <major>.<minor> version, "
            f"got invalid value {version}"
        )
    return MinorVersion(version.major, version.minor)
