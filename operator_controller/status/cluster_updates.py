"""Whether what is installed lets OpenShift go to its next minor version.

Source: the documents, "Compatibility with OpenShift Container Platform versions". Only the major
and the minor version count: of 4.18.0 as of 4.18.0-rc.1 the next minor version is 4.19.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from api.objects import KubeObject
from api.olm.v1 import names
from olm_content.bundle.properties import (
    MinorVersion,
    PropertiesError,
    max_openshift_version,
    next_version,
)
from olm_content.names import MAX_OPENSHIFT_VERSION
from olm_content.versions import VersionError, parse_version
from olm_rollout.ownership import controller_of
from operator_controller.apply.revisions import parse_revision

INCOMPATIBLE = "IncompatibleOperatorsInstalled"
UNREADABLE = "FailureGettingExtensionMetadata"
UNCHECKED = "ErrorCheckingOperatorCompatibility"
"""The reasons for which an update is forbidden; OpenShift's words."""


class Declaration(NamedTuple):
    """The version limit of an active revision's bundle; `latest` is None when it cannot be read.

    `problem` is then why.
    """

    extension: str
    bundle: str
    latest: MinorVersion | None
    problem: str = ""

    def __str__(self) -> str:
        said = self.problem or f"{MAX_OPENSHIFT_VERSION} {self.latest}"
        return f'ClusterExtension "{self.extension}" (bundle "{self.bundle}", {said})'


class UnknownVersionError(ValueError):
    """The cluster does not say which version it has."""


class Compatibility(NamedTuple):
    """Whether OpenShift may be updated to its next minor version; no reason if it may."""

    reason: str
    message: str


def declarations(object_sets: Iterable[KubeObject]) -> tuple[Declaration, ...]:
    """What the active revisions of all extensions declare, by the name of the extension.

    A revision that is rolling out counts too: its objects may be there already.
    """
    found = {_declaration(raw) for raw in object_sets}
    return tuple(sorted((each for each in found if each is not None), key=str))


def _declaration(raw: KubeObject) -> Declaration | None:
    revision = parse_revision(raw)
    owner: Mapping[str, Any] = controller_of(raw) or {}
    if revision.archived or revision.deleting or owner.get("kind") != names.CLUSTER_EXTENSION:
        return None
    return declaration(owner["name"], revision.bundle.name, revision.properties)


def declaration(extension: str, bundle: str, properties: str) -> Declaration | None:
    """What a bundle declares by its properties, as JSON text; None if nothing."""
    try:
        latest = max_openshift_version(properties)
    except PropertiesError as error:
        return Declaration(extension, bundle, None, str(error))
    return Declaration(extension, bundle, latest) if latest else None


def current_version(cluster_version: KubeObject | None) -> MinorVersion:
    """The minor version that the cluster has, or is on its way to. Raises UnknownVersionError.

    An update that was accepted is desired, and the newest of the history.
    """
    if cluster_version is None:
        raise UnknownVersionError('there is no ClusterVersion "version"')
    status = cluster_version.get("status") or {}
    entries = [status.get("desired") or {}, *(status.get("history") or ())]
    text = next((str(each["version"]) for each in entries if each.get("version")), "")
    try:
        found = parse_version(text)
    except VersionError as error:
        raise UnknownVersionError(
            f'ClusterVersion "version" desires version "{text}": {error.message}'
        ) from error
    return MinorVersion(found.major, found.minor)


def compatibility(
    declared: Sequence[Declaration], current: MinorVersion | None, problem: str = ""
) -> Compatibility:
    """What stands against the next minor version, if anything does.

    `problem` is why the cluster's version is not known. What cannot be checked is forbidden, but
    only where there is something to check.
    """
    if current is None:
        if not declared:
            return Compatibility("", "no installed bundle names a last version of OpenShift")
        named = ", ".join(map(str, declared))
        return Compatibility(
            UNCHECKED,
            f"cannot tell which version of OpenShift is next: {problem}; named by {named}",
        )
    following = next_version(current)
    against = [each for each in declared if each.latest is None or each.latest < following]
    if not against:
        return Compatibility("", f"nothing that is installed forbids OpenShift {following}")
    read = any(each.latest for each in against)
    message = (
        f"OpenShift {following} is not permitted by {', '.join(map(str, against))}: update to "
        "versions that permit it, or delete what has none"
    )
    return Compatibility(INCOMPATIBLE if read else UNREADABLE, message)
