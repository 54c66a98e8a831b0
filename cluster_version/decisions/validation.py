"""What is wrong with the spec of a ClusterVersion that the API server has taken.

Source of the rules: upstream's notes, section 2.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from typing import Any
from uuid import RFC_4122

from api.objects import KubeObject, name_of
from cluster_version.cluster_ids import parse_cluster_id
from cluster_version.decisions.objects import spec_of, status_of
from cluster_version.decisions.urls import is_address
from olm_content.formats.go_text import quote
from olm_content.versions import VersionError, parse_version
from olm_runtime.errors import TerminalError

Json = dict[str, Any]

INVALID = "Invalid"
"""The condition that there is while a ClusterVersion is invalid."""
REASON = "InvalidClusterVersion"

NAME, CLUSTER_ID, UPSTREAM = "metadata.name", "spec.clusterID", "spec.upstream"
DESIRED = "spec.desiredUpdate"
VERSION = f"{DESIRED}.version"
ACCEPTED_RISKS = f"{DESIRED}.acceptRisks"

_LABEL, _MAX_LABEL = "[a-z]([-a-z0-9]*[a-z0-9])?", 63
_NO_LABEL = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    f"regex used for validation is '{_LABEL}')"
)
_RANDOM_VERSION = 4


class Fault(Enum):
    """How a field is wrong: the name of the kind of error, and the words for it."""

    INVALID = "FieldValueInvalid", "Invalid value"
    REQUIRED = "FieldValueRequired", "Required value"
    FORBIDDEN = "FieldValueForbidden", "Forbidden"


@dataclass(frozen=True, slots=True)
class FieldError:
    """A field that is wrong; `value` is what it holds, if that is what is wrong."""

    field: str
    detail: str
    fault: Fault = Fault.INVALID
    value: str = ""

    @property
    def message(self) -> str:
        """As Kubernetes words it."""
        value = f": {quote(self.value)}" if self.fault is Fault.INVALID else ""
        return f"{self.field}: {self.fault.value[1]}{value}: {self.detail}"


def field_errors(
    cluster_version: KubeObject, *, risks_can_be_accepted: bool = False
) -> tuple[FieldError, ...]:
    """What is wrong; `risks_can_be_accepted` is whether the gate for that is on."""
    spec = spec_of(cluster_version)
    desired = spec.get("desiredUpdate")
    of_desired = (
        () if desired is None else _of_desired(cluster_version, desired, risks_can_be_accepted)
    )
    return (
        *_of_name(name_of(cluster_version)),
        *_of_upstream(spec.get("upstream") or ""),
        *_of_cluster_id(spec.get("clusterID") or ""),
        *islice(of_desired, 1),
    )


def _of_name(name: str) -> Iterator[FieldError]:
    if not name:
        yield FieldError(NAME, "name or generateName is required", Fault.REQUIRED)
        return
    if len(name) > _MAX_LABEL:
        yield FieldError(NAME, f"must be no more than {_MAX_LABEL} characters", value=name)
    if not re.fullmatch(_LABEL, name):
        yield FieldError(NAME, _NO_LABEL, value=name)


def _of_upstream(upstream: str) -> Iterator[FieldError]:
    if not is_address(upstream):
        yield FieldError(UPSTREAM, "must be a valid URL or empty", value=upstream)


def _of_cluster_id(text: str) -> Iterator[FieldError]:
    if not text:
        return
    try:
        found = parse_cluster_id(text)
    except TerminalError:
        found = None
    if found is None or found.variant != RFC_4122:
        yield FieldError(CLUSTER_ID, "must be an RFC4122-variant UUID", value=text)
    elif found.version != _RANDOM_VERSION:
        yield FieldError(CLUSTER_ID, "must be a version-4 UUID", value=text)


def _of_desired(
    cluster_version: KubeObject, desired: Json, risks_can_be_accepted: bool
) -> Iterator[FieldError]:
    """The first of these counts."""
    accepted = desired.get("acceptRisks")
    if accepted and not risks_can_be_accepted:
        yield FieldError(ACCEPTED_RISKS, "acceptRisks must not be specified", Fault.FORBIDDEN)
    version, image = desired.get("version") or "", desired.get("image") or ""
    if not (version or image or desired.get("architecture") or accepted):
        choice = "version, image, or acceptRisks" if risks_can_be_accepted else "version, or image"
        yield FieldError(DESIRED, f"must specify architecture, {choice}", Fault.REQUIRED)
    if version and not _is_version(version):
        problem = "must be a semantic version (1.2.3[-...])"
        yield FieldError(VERSION, problem, value=version)
    elif version and not image:
        problem = _of_payloads(_payloads(cluster_version, version))
        if problem:
            yield FieldError(VERSION, problem, value=version)


def _is_version(text: str) -> bool:
    try:
        parse_version(text)
    except VersionError:
        return False
    return True


def _of_payloads(count: int) -> str:
    if not count:
        return "when image is empty the update must be an available update"
    several = "there are multiple possible payloads for this version, specify the exact image"
    return several if count > 1 else ""


def _payloads(cluster_version: KubeObject, version: str) -> int:
    """How many available updates of a version have an image; else whether one was applied once."""
    status = status_of(cluster_version)

    def count(releases: Sequence[Json] | None) -> int:
        found = (each for each in releases or () if each.get("version") == version)
        return sum(bool(each.get("image")) for each in found)

    return count(status.get("availableUpdates")) or min(count(status.get("history")), 1)


def without_faults(cluster_version: KubeObject, errors: Sequence[FieldError]) -> KubeObject:
    """The ClusterVersion as work goes on with it: fields that are wrong are empty."""
    if not errors:
        return cluster_version
    spec = {**spec_of(cluster_version)}
    for error in errors:
        if error.field.startswith(f"{DESIRED}."):
            spec["desiredUpdate"] = None
        elif error.field == UPSTREAM:
            spec["upstream"] = ""
        elif error.field == CLUSTER_ID:
            spec["clusterID"] = ""
    return {**cluster_version, "spec": spec}


def message_of(errors: Sequence[FieldError]) -> str:
    """The message of the condition Invalid."""
    problem = "The cluster version is invalid:"
    if len(errors) == 1:
        return f"{problem} {errors[0].message}"
    return "\n".join([problem, *(f"* {error.message}" for error in errors), ""])
