"""What must hold of a revision's content before any of it is written.

Content that a user wrote may have faults; all are reported at once, in the order of the phases.
"""

from collections.abc import Iterable, Sequence

from api.objects import KubeObject, gvk_of, key_of, metadata, name_of
from olm_rollout.phases import Identity, Phase, identity
from olm_runtime.errors import TerminalError

SERVER_OWNED = (
    "uid",
    "generation",
    "generateName",
    "finalizers",
    "ownerReferences",
    "resourceVersion",
)
"""Metadata that is the server's or ours to set."""


def check_phases(phases: Sequence[Phase]) -> None:
    """Raises TerminalError with one line for each fault."""
    faults = list(_faults(phases))
    if faults:
        raise TerminalError("revision validation error:\n" + "\n".join(faults))


def _faults(phases: Sequence[Phase]) -> Iterable[str]:
    seen: dict[Identity, str] = {}
    for phase in phases:
        for number, obj in enumerate(phase.objects):
            where = f'phase "{phase.name}": {_called(obj, number)}'
            for fault in _object_faults(obj):
                yield f"{where}: {fault}"
            if name_of(obj) and identity(obj) in seen:
                yield f'{where}: is in phase "{seen[identity(obj)]}" already'
            seen.setdefault(identity(obj), phase.name)


def _called(obj: KubeObject, number: int) -> str:
    return str(key_of(obj)) if name_of(obj) else f"object {number}"


def _object_faults(obj: KubeObject) -> Iterable[str]:
    gvk = gvk_of(obj)
    missing = (("apiVersion", gvk.version), ("kind", gvk.kind), ("metadata.name", name_of(obj)))
    for name, value in missing:
        if not value:
            yield f"{name} is missing"
    for name in SERVER_OWNED:
        if metadata(obj).get(name):
            yield f"metadata.{name} must not be set"
