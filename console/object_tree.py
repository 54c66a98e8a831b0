"""The objects of an extension as a tree: who owns which, how each does, its Events. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.objects import KubeObject, condition, is_deleting, metadata, name_of, namespace_of

Key = tuple[str, str, str]
"""Kind, namespace, name."""
POD, REPLICA_SET = "Pod", "ReplicaSet"
MAX_EVENTS = 5
"""Of an object, the newest."""
MAX_CHILDREN = 50
MAX_TEXT = 500


@dataclass(frozen=True, slots=True)
class Happened:
    """An Event; `time` as the API server writes it."""

    reason: str
    note: str
    time: str
    warning: bool


@dataclass(frozen=True, slots=True)
class Node:
    """An object; `state` is Ready where nothing is wrong."""

    kind: str
    namespace: str
    name: str
    state: str
    message: str
    events: Sequence[Happened]
    children: Sequence["Node"]


def tree(
    objects: Iterable[Mapping[str, Any]],
    owned: Iterable[KubeObject],
    events: Mapping[Key, Sequence[Happened]],
) -> dict[str, list[Node]]:
    """By namespace, "" for the whole cluster; what is not Ready comes first.

    objects  of a revision, as `olm status -o json` shows them
    owned    ReplicaSets and Pods
    events   Events, as `by_object` has them
    """
    children = defaultdict(list)
    for each in owned:
        for owner in metadata(each).get("ownerReferences") or ():
            children[owner.get("kind"), namespace_of(each), owner.get("name")].append(each)
    found = defaultdict(list)
    for facts in objects:
        key = facts["kind"], facts["namespace"], facts["name"]
        node = Node(
            *key,
            state=facts["state"],
            message=facts["message"],
            events=events.get(key, ()),
            children=list(_below(key, children, events)),
        )
        found[facts["namespace"]].append(node)
    return {place: sorted(found[place], key=_urgency) for place in sorted(found)}


def _urgency(node: Node) -> tuple[bool, str, str]:
    return node.state == "Ready", node.kind, node.name


def _below(
    key: Key, children: Mapping[Key, Sequence[KubeObject]], events: Mapping[Key, Sequence[Happened]]
) -> Iterator[Node]:
    """ReplicaSets and Pods, and below ReplicaSets Pods alone: whoever owns may say anything."""
    is_set = key[0] == REPLICA_SET
    several = [each for each in children.get(key, ()) if not is_set or each.get("kind") == POD]
    for each in several[:MAX_CHILDREN]:
        kind = str(each.get("kind"))
        own = kind, namespace_of(each), name_of(each)
        below = list(_below(own, children, events)) if kind == REPLICA_SET else []
        if kind == REPLICA_SET and not (each.get("spec") or {}).get("replicas") and not below:
            continue  # of an earlier version
        state, message = _pod_state(each) if kind == POD else _set_state(each)
        yield Node(*own, state, message, events.get(own, ()), below)


def _set_state(replica_set: KubeObject) -> tuple[str, str]:
    wanted = (replica_set.get("spec") or {}).get("replicas") or 0
    ready = (replica_set.get("status") or {}).get("readyReplicas") or 0
    return ("Ready", "") if ready >= wanted else ("NotReady", f"{ready} of {wanted} pods are ready")


def _pod_state(pod: KubeObject) -> tuple[str, str]:
    if is_deleting(pod):
        return "Deleting", ""
    status = pod.get("status") or {}
    ready = condition(pod, "Ready") or {}
    if ready.get("status") == "True" or status.get("phase") == "Succeeded":
        return "Ready", ""
    return "NotReady", _cut(next(_why(pod), status.get("phase") or "not looked at yet"))


def _why(pod: KubeObject) -> Iterator[str]:
    """What holds a pod up, the most telling first."""
    status = pod.get("status") or {}
    for container in status.get("containerStatuses") or ():
        state = container.get("state") or {}
        waits = state.get("waiting") or state.get("terminated")
        if waits:
            text = ": ".join(filter(None, (waits.get("reason"), waits.get("message"))))
            yield f"container {container.get('name')}: {text}"
    scheduled = condition(pod, "PodScheduled") or {}
    if scheduled.get("status") == "False":
        yield scheduled.get("message") or scheduled.get("reason") or "is on no node"


def by_object(events: Iterable[KubeObject]) -> dict[Key, list[Happened]]:
    """The newest few of each object."""
    found = defaultdict(list)
    for each in events:
        about = each.get("regarding") or {}
        key = about.get("kind") or "", about.get("namespace") or "", about.get("name") or ""
        found[key].append(_happened(each))
    return {
        key: sorted(several, key=lambda each: each.time, reverse=True)[:MAX_EVENTS]
        for key, several in found.items()
    }


def _happened(event: KubeObject) -> Happened:
    time = (
        (event.get("series") or {}).get("lastObservedTime")
        or event.get("eventTime")
        or event.get("deprecatedLastTimestamp")
        or metadata(event).get("creationTimestamp")
    )
    return Happened(
        reason=_cut(str(event.get("reason") or "")),
        note=_cut(str(event.get("note") or "")),
        time=str(time or ""),
        warning=event.get("type") == "Warning",
    )


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"
