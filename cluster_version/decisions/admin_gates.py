"""Gates that an administrator acknowledges before an update to another minor version.

Source of the rules: upstream's notes, section 8.1.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from api.objects import GVK, KubeObject, annotations_of, gvk_of, name_of, namespace_of
from cluster_version.decisions.risk import DOCUMENTATION, Risk
from cluster_version.names import DELETE
from olm_content.formats.go_text import quote
from olm_content.versions import Version, VersionError, parse_version
from olm_runtime.errors import TerminalError

GATES, GATES_NAMESPACE = "admin-gates", "openshift-config-managed"
"""The ConfigMap of the gates: the text for the administrator by name of a gate."""
ACKS, ACKS_NAMESPACE = "admin-acks", "openshift-config"
"""The ConfigMap in which the administrator acknowledges them under the same names."""
SOURCE = "AdminAck"

_CONFIG_MAP = GVK("", "v1", "ConfigMap")

_NAME = "^ack-([4-5][.][0-9]{1,})-[^-]"
_ADDRESS = re.compile(r"https://[^\s\"'<>()]*[^\s\"'<>().,;:!?]")


def known_data(
    place: tuple[str, str], found: KubeObject | None, manifests: Iterable[KubeObject]
) -> dict[str, str] | None:
    """The data of the ConfigMap of gates or acknowledgements; None if they are not known.

    `place` is its name and namespace, `found` what the cluster has. One that is not there is empty,
    unless it is among the manifests of the release that is applied: then it is missing.
    """
    if found is not None:
        return found.get("data") or {}
    return None if any(_is_at(place, each) for each in manifests) else {}


def _is_at(place: tuple[str, str], manifest: KubeObject) -> bool:
    is_there = gvk_of(manifest) == _CONFIG_MAP and DELETE not in annotations_of(manifest)
    return is_there and (name_of(manifest), namespace_of(manifest)) == place


def gate_risks(
    gates: Mapping[str, str], acks: Mapping[str, str], current: Version
) -> Iterator[Risk]:
    """One of each gate that is not acknowledged or cannot be, ordered by name."""
    found = (_risk(name, text, acks, current) for name, text in sorted(gates.items()))
    return (risk for risk in found if risk is not None)


def _risk(name: str, text: str, acks: Mapping[str, str], current: Version) -> Risk | None:
    named = f"{SOURCE}-{name}"
    try:
        applies = _applies(name, current)
    except TerminalError as error:
        problem = f"{GATES} configmap gate {quote(name)} is invalid: {error.message}"
        return Risk(named, problem)
    if applies and not text:
        return Risk(named, f"{GATES} configmap gate {name} must contain a non-empty value.")
    if not applies or acks.get(name) == "true":
        return None
    address = _ADDRESS.search(text)
    return Risk(named, text, address[0] if address else DOCUMENTATION)


def _applies(name: str, current: Version) -> bool:
    """Whether a gate is one of the current minor version. Raises TerminalError."""
    found = re.match(_NAME, name)
    if found is None:
        problem = f"{GATES} configmap gate name {name} has invalid format; must comply with"
        raise TerminalError(f"{problem} {quote(_NAME)}")
    try:
        version = parse_version(f"{found[1]}.0")
    except VersionError as error:
        problem = f"failed to parse SemVer ack version from admin-gate {quote(name)}"
        raise TerminalError(f"{problem}: {error.message}") from error
    return (version.major, version.minor) == (current.major, current.minor)
