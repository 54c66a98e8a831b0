"""What of the cluster a ClusterServiceVersion needs, and whether it is there.

The texts are those of `status.requirementStatus`, which clients match. Permissions are another
matter: they are judged by the rights that an account really has.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from api.objects import GVK, KubeObject, annotations_of, is_true, metadata, name_of, namespace_of
from api.operators.names import ANNOTATION_INSTALLED_ALONGSIDE
from olm_content.names import CSV_KIND
from olm_content.versions import Version, VersionError, parse_version

Requirement = dict[str, str]
"""An entry of `status.requirementStatus`."""
Description = dict[str, Any]
"""A definition or API service, as a ClusterServiceVersion lists what it owns and requires."""


class Status(StrEnum):
    """How it stands with a requirement."""

    PRESENT = "Present"
    NOT_PRESENT = "NotPresent"
    NOT_SATISFIED = "PresentNotSatisfied"
    NOT_AVAILABLE = "PresentNotAvailable"
    DEPLOYMENT_FOUND = "DeploymentFound"
    DEPLOYMENT_NOT_FOUND = "DeploymentNotFound"


MET = frozenset({Status.PRESENT, Status.DEPLOYMENT_FOUND})

NOT_SERVED = "CRD version not served"

CSV = GVK("operators.coreos.com", "v1alpha1", CSV_KIND)
CRD = GVK("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
API_SERVICE = GVK("apiregistration.k8s.io", "v1", "APIService")


@dataclass(frozen=True, slots=True)
class Cluster:
    """What requirements are compared with; objects by name."""

    server_version: str | None
    """As the server reports it: `v1.30.2+k3s1`; None where it does not."""
    crds: Mapping[str, KubeObject] = field(default_factory=dict)
    api_services: Mapping[str, KubeObject] = field(default_factory=dict)
    kinds: Collection[GVK] = ()
    """What the server serves."""


def are_met(requirements: Iterable[Requirement]) -> bool:
    """Whether nothing is missing."""
    return all(requirement["status"] in MET for requirement in requirements)


def required_definitions(csv: KubeObject) -> set[str]:
    """The names of the definitions that it owns or requires."""
    described = csv["spec"].get("customresourcedefinitions") or {}
    return {each["name"] for part in ("owned", "required") for each in described.get(part) or ()}


def required_kinds(csv: KubeObject) -> list[GVK]:
    """The kinds that the server must serve, however it does."""
    services = csv["spec"].get("apiservicedefinitions") or {}
    needed = [*(services.get("required") or ()), *(csv["spec"].get("nativeAPIs") or ())]
    return [_gvk(each) for each in needed]


def required_groups(csv: KubeObject) -> set[tuple[str, str]]:
    """Group and version of the kinds of API servers that it requires or owns."""
    services = csv["spec"].get("apiservicedefinitions") or {}
    owned = [_gvk(each) for each in services.get("owned") or ()]
    return {(each.group, each.version) for each in (*required_kinds(csv), *owned)}


def gave_way(requirements: Iterable[Requirement], definitions: Collection[str]) -> bool:
    """Whether only versions of these definitions are missing, which are no longer served.

    A new version of an operator may end versions that the one before it owned.
    """
    missing = [each for each in requirements if each["status"] not in MET]
    return bool(missing) and all(
        each["message"] == NOT_SERVED and each["name"] in definitions for each in missing
    )


def requirements(
    csv: KubeObject, cluster: Cluster, ancestors: Collection[str] = ()
) -> Iterator[Requirement]:
    """Every requirement, in the order of the status.

    `ancestors` are the names of those that this ClusterServiceVersion replaces, one after another.
    """
    spec = csv["spec"]
    if minimum := spec.get("minKubeVersion"):
        yield _kube_version(name_of(csv), minimum, cluster.server_version)
    yield from _definitions(csv, cluster, ancestors)
    services = spec.get("apiservicedefinitions") or {}
    for service in sorted(services.get("required") or (), key=_api_service_name):
        yield _required_api_service(service, cluster)
    strategy = (spec.get("install") or {}).get("spec") or {}
    deployments = {deployment["name"] for deployment in strategy.get("deployments") or ()}
    for service in sorted(services.get("owned") or (), key=_api_service_name):
        found = service.get("deploymentName") in deployments
        status = Status.DEPLOYMENT_FOUND if found else Status.DEPLOYMENT_NOT_FOUND
        yield _requirement(API_SERVICE, _api_service_name(service), status)
    for native in spec.get("nativeAPIs") or ():
        yield _native_api(_gvk(native), cluster)


def _requirement(
    gvk: GVK, name: str, status: Status, message: str = "", uid: str = ""
) -> Requirement:
    identity = {"group": gvk.group, "version": gvk.version, "kind": gvk.kind, "name": name}
    verdict = {"status": status.value, "message": message}
    return {**identity, **verdict, "uuid": uid} if uid else {**identity, **verdict}


# --- the version of the server ---------------------------------------------------------------


def _kube_version(name: str, minimum: str, server_version: str | None) -> Requirement:
    status, message = _compared(minimum, server_version)
    return _requirement(CSV, name, status, message)


def _compared(minimum: str, server_version: str | None) -> tuple[Status, str]:
    if server_version is None:
        return Status.NOT_SATISFIED, "Server version discovery error"
    # What providers put behind a dash is not to make the version a prerelease.
    server = _version(server_version.partition("-")[0])
    if server is None:
        return Status.NOT_SATISFIED, "Server version parsing error"
    needed = _version(minimum)
    if needed is None:
        return Status.NOT_SATISFIED, "CSV version parsing error"
    if needed.key > server.key:
        problem = f"minKubeVersion ({minimum}) > server version ({server})"
        return Status.NOT_SATISFIED, f"CSV version requirement not met: {problem}"
    return (
        Status.PRESENT,
        f"CSV minKubeVersion ({minimum}) less than server version ({server_version})",
    )


def _version(text: str) -> Version | None:
    try:
        return parse_version(text.removeprefix("v"))
    except VersionError:
        return None


# --- definitions -----------------------------------------------------------------------------


def _definitions(
    csv: KubeObject, cluster: Cluster, ancestors: Collection[str]
) -> Iterator[Requirement]:
    """One entry a name; what is both owned and required is owned."""
    described = csv["spec"].get("customresourcedefinitions") or {}
    owned = {entry["name"]: entry for entry in described.get("owned") or ()}
    required = {entry["name"]: entry for entry in described.get("required") or ()}
    for name, entry in sorted((required | owned).items()):
        crd = cluster.crds.get(name)
        if crd is None:
            yield _requirement(CRD, name, Status.NOT_PRESENT, "CRD is not present")
            continue
        others = _installed_by_others(csv, crd, ancestors) if name in owned else []
        status, message = _definition_status(entry, crd, others)
        uid = metadata(crd).get("uid", "") if status is Status.PRESENT else ""
        yield _requirement(CRD, name, status, message, uid)


def _installed_by_others(csv: KubeObject, crd: KubeObject, ancestors: Collection[str]) -> list[str]:
    """The ancestors whose plan applied the definition while that of this one has not yet."""
    alongside = {
        value
        for key, value in annotations_of(crd).items()
        if key.startswith(ANNOTATION_INSTALLED_ALONGSIDE)
    }
    namespace = namespace_of(csv)
    if f"{namespace}/{name_of(csv)}" in alongside:
        return []
    return sorted(name for name in ancestors if f"{namespace}/{name}" in alongside)


def _definition_status(
    description: Description, crd: KubeObject, others: list[str]
) -> tuple[Status, str]:
    if others:
        names = ", ".join(others)
        return Status.NOT_SATISFIED, f"CRD installed alongside other CSV(s): {names}"
    versions = crd["spec"].get("versions") or ()
    served = {version["name"] for version in versions if version.get("served")}
    if description["version"] not in served:
        return Status.NOT_PRESENT, NOT_SERVED
    if is_true(crd, "Established") and is_true(crd, "NamesAccepted"):
        return Status.PRESENT, "CRD is present and Established condition is true"
    return (
        Status.NOT_AVAILABLE,
        "CRD is present but the Established condition is False (not available)",
    )


# --- API services and native APIs ------------------------------------------------------------


def _api_service_name(description: Description) -> str:
    return f"{description['version']}.{description['group']}"


def _gvk(description: Description) -> GVK:
    return GVK(description["group"], description["version"], description["kind"])


def _required_api_service(description: Description, cluster: Cluster) -> Requirement:
    name = _api_service_name(description)
    service = cluster.api_services.get(name) or {}
    if is_true(service, "Available") and _gvk(description) in cluster.kinds:
        return _requirement(API_SERVICE, name, Status.PRESENT, uid=metadata(service).get("uid", ""))
    return _requirement(API_SERVICE, name, Status.NOT_PRESENT)


def _native_api(gvk: GVK, cluster: Cluster) -> Requirement:
    name = f"{gvk.version}.{gvk.group}"
    if gvk in cluster.kinds:
        return _requirement(gvk, name, Status.PRESENT, "Native API exists")
    return _requirement(gvk, name, Status.NOT_PRESENT, "Native API does not exist")
