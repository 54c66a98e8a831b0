"""Extensions, the accounts that they are installed as, and their revisions. Pure."""

import re
from collections.abc import Iterator

from api.objects import (
    KubeObject,
    condition,
    is_deleting,
    key_of,
    labels_of,
    name_of,
)
from api.olm.v1 import names
from api.olm.v1.conditions import Reason
from olm_client.diagnosis.commands import commands_in
from olm_client.diagnosis.facts import NAMESPACE, SERVICE_ACCOUNT, Fact, Snapshot
from olm_client.diagnosis.findings import Finding, Remedy, Severity
from olm_client.diagnosis.words import counted
from olm_client.field_manager import APPLY
from olm_client.lifecycle.overview import HINT, Phase, State, extension_state
from olm_rollout.ownership import controller_of

_TAKEN = re.compile(
    r"(\S+) '([^']+)' already exists(?: in namespace '([^']+)')? and cannot be managed"
)
_OWNER = re.compile(r"it belongs to ClusterExtension '([^']+)'")
_LACKS = "requires the following permissions"
_CLUSTER_WIDE = frozenset({"ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition"})
"""Kinds of which a collision's message names the extension's namespace all the same."""
_STUCK = (Reason.RETRYING, Reason.BLOCKED, Reason.PROGRESS_DEADLINE_EXCEEDED)


def extensions(snapshot: Snapshot) -> Iterator[Finding]:
    """Extensions that are not as they should be, but for what other checks say better."""
    reported = {labels_of(obj).get(names.LABEL_OWNER_NAME) for obj in stuck_revisions(snapshot)}
    for extension in snapshot.all(Fact.EXTENSIONS):
        if is_deleting(extension) or names.label_value(name_of(extension)) in reported:
            continue
        state = extension_state(extension)
        if state.phase in (Phase.BLOCKED, Phase.RETRYING, Phase.DEGRADED):
            yield _failing(extension, state)


def _failing(extension: KubeObject, state: State) -> Finding:
    name = name_of(extension)
    what = {
        Phase.DEGRADED: "is installed and does not work",
        Phase.BLOCKED: "waits for a person",
        Phase.RETRYING: "fails, and is tried again",
    }[state.phase]
    return Finding(
        Severity.ERROR,
        f"{key_of(extension)} {what}",
        key_of(extension),
        why=state.message,
        remedies=(*_remedies(extension, state), _more(name, state)),
    )


def _remedies(extension: KubeObject, state: State) -> Iterator[Remedy]:
    spec = extension.get("spec") or {}
    package = ((spec.get("source") or {}).get("catalog") or {}).get("packageName") or ""
    if _LACKS in state.message:
        granted = (
            f"olm rbac {package} --extension {name_of(extension)} "
            f"--install-namespace {spec.get('namespace')} | {APPLY}"
        )
        yield Remedy("grant its account what it needs", (granted,))
    named = commands_in(state.hint)
    if named:
        yield Remedy(state.hint.partition(":")[0], named)


def _more(name: str, state: State) -> Remedy:
    if "no bundles found" in state.message:
        return Remedy("see of every bundle why it is not taken, and what is", (f"olm why {name}",))
    return Remedy("see its objects and all messages", (f"olm status {name}",))


def extensions_well(snapshot: Snapshot) -> str:
    """In a line."""
    return f"{counted(len(snapshot.all(Fact.EXTENSIONS)), 'extension')}, none fails"


def accounts(snapshot: Snapshot) -> Iterator[Finding]:
    """Namespaces and service accounts that extensions name, and that are not there."""
    for extension in snapshot.all(Fact.EXTENSIONS):
        spec = extension.get("spec") or {}
        place = str(spec.get("namespace") or "")
        account = str((spec.get("serviceAccount") or {}).get("name") or "")
        namespace = snapshot.find(Fact.NAMESPACES, NAMESPACE, place)
        if namespace is None:
            yield _missing(extension, f"namespace {place}", _made(place, account, both=True))
        elif is_deleting(namespace) and not is_deleting(extension):
            yield Finding(
                Severity.ERROR,
                f"{key_of(extension)} lives in namespace {place}, which is being deleted",
                key_of(extension),
                why="what is in the namespace goes, and is not made again while it is there",
                remedies=(
                    Remedy(
                        "remove the extension, too",
                        (f"olm uninstall {name_of(extension)}",),
                        loses="its custom resources go with its definitions",
                    ),
                ),
            )
        elif account and not snapshot.find(Fact.ACCOUNTS, SERVICE_ACCOUNT, account, place):
            made = _made(place, account, both=False)
            yield _missing(extension, f"service account {place}/{account}", made)


def _made(place: str, account: str, *, both: bool) -> tuple[str, ...]:
    namespace = (f"kubectl create namespace {place}",) if both else ()
    command = f"kubectl create serviceaccount {account} --namespace {place}"
    return (*namespace, *((command,) if account else ()))


def _missing(extension: KubeObject, what: str, commands: tuple[str, ...]) -> Finding:
    leaving = is_deleting(extension)
    why = (
        "its deletion waits for the account with whose rights its objects are removed"
        if leaving
        else "its objects are read and written with the rights of this account: none is restored"
    )
    return Finding(
        Severity.ERROR,
        f"{key_of(extension)} names {what}, which is not there",
        key_of(extension),
        why=why,
        remedies=(
            Remedy(
                "make it again" + ("; the deletion goes on by itself" if leaving else ""), commands
            ),
        ),
    )


def accounts_well(snapshot: Snapshot) -> str:
    """In a line."""
    count = len(snapshot.all(Fact.ACCOUNTS))
    return f"every namespace and service account that extensions name is there ({count})"


def stuck_revisions(snapshot: Snapshot) -> list[KubeObject]:
    """Active revisions that do not come further, of extensions that are to stay."""
    leaving = {name_of(obj) for obj in snapshot.all(Fact.EXTENSIONS) if is_deleting(obj)}
    return [
        obj
        for obj in snapshot.all(Fact.OBJECT_SETS)
        if (obj.get("spec") or {}).get("lifecycleState") != "Archived"
        and not is_deleting(obj)
        and (controller_of(obj) or {}).get("name") not in leaving
        and (condition(obj, "Progressing") or {}).get("reason") in _STUCK
    ]


def revisions(snapshot: Snapshot) -> Iterator[Finding]:
    """Revisions that cannot proceed: objects of somebody else, fields that cannot change."""
    for obj in stuck_revisions(snapshot):
        message = str((condition(obj, "Progressing") or {}).get("message") or "")
        state = State.of_message(Phase.RETRYING, message)
        owner = labels_of(obj).get(names.LABEL_OWNER_NAME, "")
        alone = f"kubectl describe clusterobjectset {name_of(obj)}"
        look = f"olm status {owner}" if owner else alone
        of_whom = f" of extension {owner}" if owner else ""
        yield Finding(
            Severity.ERROR,
            f"{key_of(obj)}{of_whom} cannot proceed",
            key_of(obj),
            why=message.replace(f"\n{HINT}", "; "),
            remedies=(
                *_collision(message, owner),
                *_hinted(state.hint),
                Remedy("see its objects and all messages", (look,)),
            ),
        )


def _collision(message: str, owner: str) -> Iterator[Remedy]:
    other = _OWNER.search(message)
    if other and other[1] != owner:
        yield Remedy(
            f"remove the extension that has the object, {other[1]}",
            (f"olm uninstall {other[1]}",),
            loses="all that it has installed",
        )
    for kind, name, namespace in _TAKEN.findall(message):
        inside = namespace and kind not in _CLUSTER_WIDE
        place = f" --namespace {namespace}" if inside else ""
        yield Remedy(
            "remove the object, if it is not needed; it is made anew",
            (f"kubectl delete {kind.lower()} {name}{place}",),
            loses="what is in the object",
        )


def _hinted(hint: str) -> Iterator[Remedy]:
    commands = commands_in(hint)
    if commands:
        yield Remedy(hint.partition(": kubectl")[0], commands[:1])


def revisions_well(snapshot: Snapshot) -> str:
    """In a line."""
    return f"{counted(len(snapshot.all(Fact.OBJECT_SETS)), 'revision')}, none is stuck"
