"""The API server, what the user may do, and OLM's API in it. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from api.objects import (
    KubeObject,
    annotations_of,
    condition,
    is_deleting,
    is_true,
    key_of,
    labels_of,
)
from api.olm.v1 import names
from api.olm.v1.kinds import CATALOG, EXTENSION
from olm_client.diagnosis.facts import DEFINITION, OURS, Fact, Snapshot, crd_name
from olm_client.diagnosis.findings import Finding, Remedy, Severity
from olm_client.diagnosis.programs import PROGRAMS, deployments_of
from olm_client.diagnosis.schemas import missing_fields

OLDEST_SERVER = (1, 30)
"""The version of Kubernetes that the product needs."""
_CHART = "charts/olmv1"
_INSTALL = (
    f"helm install olmv1 {_CHART} --namespace {names.DEFAULT_SYSTEM_NAMESPACE} "
    "--create-namespace --set image.repository=REPOSITORY"
)
_UPGRADE = (
    f"helm upgrade olmv1 {_CHART} --namespace {names.DEFAULT_SYSTEM_NAMESPACE} "
    "--reset-then-reuse-values"
)
INSTALL = Remedy("install it, as docs/how-to/install.md says", (_INSTALL,))
_VERSION_LABEL = "app.kubernetes.io/version"


def api_server(snapshot: Snapshot) -> Iterator[Finding]:
    """Whether the server is new enough."""
    found = re.match(r"v(\d+)\.(\d+)", snapshot.version)
    version = tuple(map(int, found.groups())) if found else OLDEST_SERVER
    if version < OLDEST_SERVER:
        oldest = ".".join(map(str, OLDEST_SERVER))
        yield Finding(
            Severity.ERROR,
            f"the API server is {snapshot.version}; OLM needs Kubernetes {oldest} or newer",
            remedies=(Remedy("upgrade the cluster", ("kubectl version",)),),
        )


def api_server_well(snapshot: Snapshot) -> str:
    """In a line."""
    user = f" as {snapshot.user}" if snapshot.user else ""
    return f"Kubernetes {snapshot.version} at {snapshot.server}{user}"


def rights(snapshot: Snapshot) -> Iterator[Finding]:
    """What commands need and the user may not."""
    missing = [right for right in snapshot.rights if not right.allowed]
    for commands in dict.fromkeys(right.commands for right in missing):
        lacking = [right for right in missing if right.commands == commands]
        verbs = ",".join(right.verb for right in lacking)
        first = lacking[0]
        where = f" in namespace {first.namespace}" if first.namespace else ""
        yield Finding(
            Severity.WARNING,
            f"you may not {verbs} {first.resource}{where}: {commands} will not work for you",
            remedies=(_grant(snapshot, verbs, first.resource, first.namespace),),
        )


def _grant(snapshot: Snapshot, verbs: str, resource: str, namespace: str) -> Remedy:
    kind, binding = ("role", "rolebinding") if namespace else ("clusterrole", "clusterrolebinding")
    name = f"olm-user-{re.sub('[^a-z0-9]+', '-', resource.partition('.')[0])}"
    place = f" --namespace {namespace}" if namespace else ""
    user = snapshot.user or "USER"
    return Remedy(
        "an administrator grants it",
        (
            f"kubectl create {kind} {name} --verb={verbs} --resource={resource}{place}",
            f"kubectl create {binding} {name} --{kind}={name} --user={user}{place}",
        ),
    )


def rights_well(_: Snapshot) -> str:
    """In a line."""
    return "you may do what the commands of olm need"


def definitions(snapshot: Snapshot) -> Iterator[Finding]:
    """Our kinds: there, served, not on their way out."""
    if not snapshot.is_installed:
        yield Finding(
            Severity.ERROR,
            "Operator Lifecycle Manager v1 is not installed in this cluster",
            why="none of its kinds is served; or the kubeconfig means another cluster",
            remedies=(INSTALL,),
        )
        return
    for kind in (EXTENSION, CATALOG):
        if snapshot.find(Fact.DEFINITIONS, DEFINITION, crd_name(kind)) is None:
            yield Finding(
                Severity.ERROR,
                f"the cluster does not know the kind {kind.kind}",
                why=f"CustomResourceDefinition {crd_name(kind)} is missing",
                remedies=(_reapply(),),
            )
    for kind in OURS:
        found = snapshot.find(Fact.DEFINITIONS, DEFINITION, crd_name(kind))
        if found is not None:
            yield from _definition(found)


def _definition(found: KubeObject) -> Iterator[Finding]:
    if is_deleting(found):
        why = (condition(found, "Terminating") or {}).get("message") or ""
        yield Finding(
            Severity.ERROR,
            f"{key_of(found)} is being deleted, and with it all its objects",
            key_of(found),
            why=str(why),
            remedies=(_reapply(),),
        )
    elif not is_true(found, "Established"):
        problem = condition(found, "NamesAccepted") or {}
        yield Finding(
            Severity.ERROR,
            f"{key_of(found)} is not served",
            key_of(found),
            why=str(problem.get("message") or "it is not established"),
            remedies=(_reapply(),),
        )


def _reapply() -> Remedy:
    return Remedy(
        "apply the definitions again",
        ("kubectl apply --server-side --force-conflicts --filename config/crd",),
    )


def definitions_well(snapshot: Snapshot) -> str:
    """In a line."""
    channels = {
        annotations_of(found).get(names.ANNOTATION_GENERATOR, "standard")
        for kind in OURS
        if (found := snapshot.find(Fact.DEFINITIONS, DEFINITION, crd_name(kind))) is not None
    }
    return f"the API {names.API_VERSION} is served ({', '.join(sorted(channels))})"


def versions(snapshot: Snapshot) -> Iterator[Finding]:
    """Definitions that lack fields which the programs set or read, and programs that differ."""
    if not _is_ours(snapshot):
        return
    for kind in OURS:
        found = snapshot.find(Fact.DEFINITIONS, DEFINITION, crd_name(kind))
        missing = missing_fields(found, kind) if found is not None else ()
        if found is not None and missing:
            yield Finding(
                Severity.ERROR,
                f"{key_of(found)} is older than the programs: it lacks {', '.join(missing[:5])}",
                key_of(found),
                why="the API server drops fields that a definition does not have, without a word",
                remedies=(_reapply(),),
            )
    by_program = {
        program.name: sorted({version_of(obj) for obj in deployments_of(snapshot, program)})
        for program in PROGRAMS
    }
    if len({version for found in by_program.values() for version in found}) > 1:
        text = ", ".join(f"{name} {'/'.join(found)}" for name, found in by_program.items() if found)
        yield Finding(
            Severity.WARNING,
            f"the programs are of different versions: {text}",
            remedies=(Remedy("upgrade the release as a whole", (_UPGRADE,)),),
        )


def _is_ours(snapshot: Snapshot) -> bool:
    """Whether a chart of ours installed the programs: upstream's definitions have other fields."""
    return any(
        labels_of(obj).get("helm.sh/chart", "").startswith("olmv1-")
        for program in PROGRAMS
        for obj in deployments_of(snapshot, program)
    )


def version_of(workload: KubeObject) -> str:
    """A program's version: the label, else the tag of its image."""
    containers: Sequence[Mapping[str, Any]] = (
        ((workload.get("spec") or {}).get("template") or {}).get("spec") or {}
    ).get("containers") or ({},)
    tag = str(containers[0].get("image") or "").partition("@")[0].rpartition(":")[2]
    return labels_of(workload).get(_VERSION_LABEL) or ("" if "/" in tag else tag)


def versions_well(snapshot: Snapshot) -> str:
    """In a line."""
    found = [
        f"{program.name} {version_of(obj)}".strip()
        for program in PROGRAMS
        for obj in deployments_of(snapshot, program)
    ]
    return ", ".join(found) or "the programs run outside the cluster: their versions are not known"
