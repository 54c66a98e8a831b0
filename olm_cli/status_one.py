"""The state of one extension: what `olm status EXTENSION` prints."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from api.objects import KubeObject, gvk_of, labels_of, name_of, namespace_of
from api.olm.v1 import names
from olm_cli.field_manager import APPLY
from olm_cli.history_cluster import content_of
from olm_cli.lifecycle.live_objects import LiveObject, read_live
from olm_cli.lifecycle.obstacle import UNSERVED
from olm_cli.lifecycle.overview import Phase, extension_facts, extension_state, source_text
from olm_cli.short_hashes import short_names
from olm_cli.table import table
from olm_runtime.cli.display import wrapped
from olm_runtime.controller.kstatus import RECONCILING, STALLED
from olm_runtime.errors import OLMError
from olm_runtime.kube.client import KubeClient
from operator_controller.apply.history import state_of
from operator_controller.apply.owners import owner_labels
from operator_controller.apply.revisions import Revision, Revisions

_LACKS = "requires the following permissions"
_COLOURS = {"True": "green", "False": "red"}
_WARNINGS = {"True": "yellow"}
"""Of conditions that are bad when True."""


async def facts_of(
    kube: KubeClient, raw: KubeObject, object_sets: Sequence[KubeObject]
) -> dict[str, Any]:
    """The answer as data; `object_sets` are those of the whole cluster."""
    labels = owner_labels(names.CLUSTER_EXTENSION, name_of(raw)).items()
    own = [each for each in object_sets if labels <= labels_of(each).items()]
    revisions = Revisions.of(own)
    shown = revisions.latest or (revisions.unfinished[-1] if revisions.unfinished else None)
    account = ((raw.get("spec") or {}).get("serviceAccount") or {}).get("name", "")
    facts = extension_facts(raw)
    return {
        **facts,
        "asksFor": source_text(raw),
        "serviceAccount": account,
        "conditions": (raw.get("status") or {}).get("conditions") or [],
        "revisions": [_revision(each, revisions) for each in revisions.unfinished],
        **await _objects(kube, shown),
        "hint": _hint(raw, facts),
    }


def _revision(revision: Revision, revisions: Revisions) -> dict[str, Any]:
    return {
        "revision": revision.number,
        "name": revision.name,
        "bundle": revision.bundle.name,
        "image": revision.bundle.image,
        "state": state_of(revision, revisions).value,
    }


async def _objects(kube: KubeClient, revision: Revision | None) -> dict[str, Any]:
    """The objects of a revision as they are, or why they are not known."""
    if revision is None:
        return {"objects": []}
    try:
        desired = await content_of(kube, revision, what_for="the objects of a revision are told")
        return {"objects": [_object(each) for each in await read_live(kube, desired)]}
    except OLMError as error:
        return {"objects": [], "objectsUnknown": error.message}


def _object(found: LiveObject) -> dict[str, Any]:
    obj = found.desired
    return {
        "apiVersion": gvk_of(obj).api_version,
        "kind": gvk_of(obj).kind,
        "namespace": namespace_of(obj),
        "name": name_of(obj),
        "state": found.state,
        "message": found.fault,
    }


def _hint(raw: KubeObject, facts: Mapping[str, Any]) -> str:
    """What to do: the condition's own hint, else a command that shows more."""
    if facts.get("hint"):
        return str(facts["hint"])
    name = name_of(raw)
    match extension_state(raw).phase:
        case Phase.RETRYING | Phase.BLOCKED if "no bundles found" in facts["message"]:
            return f"of every bundle why it is not taken: olm why {name}"
        case Phase.RETRYING | Phase.BLOCKED if _LACKS in facts["message"]:
            return (
                f"grant what {facts['package']} needs: olm upgrade {name} --grant\n"
                f"or olm rbac {facts['package']} "
                f"--extension {name} --install-namespace {facts['namespace']} | {APPLY}"
            )
        case Phase.RETRYING | Phase.BLOCKED if "no matches for kind" in facts["message"]:
            return UNSERVED
        case Phase.PENDING:
            return "if this lasts, see whether operator-controller runs"
        case _:
            return ""


def lines_of(facts: Mapping[str, Any], *, wide: bool = False) -> Iterator[str]:
    """The answer as text."""
    phase = Phase(facts["phase"])
    yield click.style(f"{facts['name']}: {facts['asksFor']}", bold=True)
    yield f"phase      {click.style(phase.value, fg=phase.colour)}"
    yield f"installed  {facts['bundle'] or 'nothing'}"
    yield f"as         {_account(facts)}"
    for revision in facts["revisions"]:
        yield f"revision   {revision['name']}: {revision['bundle']}, {revision['state']}"
    yield ""
    yield from _conditions(facts["conditions"], facts["hint"])
    yield ""
    yield from _object_lines(facts, wide=wide)
    if facts["hint"]:
        yield ""
        yield from (f"hint: {hint}" for hint in facts["hint"].splitlines())


def _account(facts: Mapping[str, Any]) -> str:
    if not facts["serviceAccount"]:
        return f"operator-controller itself, in namespace {facts['namespace']}"
    return f"service account {facts['namespace']}/{facts['serviceAccount']}"


def _conditions(conditions: Sequence[Mapping[str, Any]], hint: str) -> Iterator[str]:
    """A paragraph for each, without the hint that is told at the end."""
    if not conditions:
        yield "no conditions yet"
        return
    shown = [found for found in conditions if found["type"] not in (RECONCILING, STALLED)]
    width = max(len(found["type"]) for found in shown)  # those two repeat what others say
    told = {f"hint: {line}" for line in hint.splitlines()}
    for found in shown:
        message = "\n".join(line for line in found["message"].splitlines() if line not in told)
        text = f"{found['reason']}: {message}" if message else found["reason"]
        first, *rest = wrapped(text, " " * (width + 10))
        colours = _WARNINGS if found["type"].endswith("Deprecated") else _COLOURS
        value = click.style(f"{found['status']:8}", fg=colours.get(found["status"]))
        yield f"{found['type']:{width}}  {value}{first}"
        yield from rest


def _object_lines(facts: Mapping[str, Any], *, wide: bool) -> Iterator[str]:
    objects = facts["objects"]
    if "objectsUnknown" in facts:
        yield f"objects: {facts['objectsUnknown']}"
    elif not objects:
        yield "no objects"
    else:
        names = [obj["name"] for obj in objects]
        shown = names if wide else short_names(names)
        rows = [_row(obj, name) for obj, name in zip(objects, shown, strict=True)]
        yield from table(("OBJECT", "STATE", ""), rows, wide=wide)


def _row(obj: Mapping[str, Any], name: str) -> tuple[str, str, str]:
    place = f"{obj['namespace']}/" if obj["namespace"] else ""
    colour = "green" if obj["state"] == "Ready" else "red"
    state = click.style(obj["state"], fg=colour)
    return f"{obj['kind']} {place}{name}", state, " ".join(obj["message"].split())
