"""What an object of a manifest is to be on the cluster, given what it is.

Source of the rules: upstream's notes, sections 10.1 and 10.2.
"""

from typing import Any

from api.objects import KubeObject, gvk_of, metadata
from cluster_version.apply.kinds import KINDS

_NOT_COMPARED = frozenset({"apiVersion", "kind", "metadata", "status"})
_REPLACED = ("annotations", "labels", "ownerReferences")


def merged(live: KubeObject, manifest: KubeObject) -> KubeObject:
    """The object to be written; `live` itself when nothing is to change.

    Raises TerminalError where a manifest is not of its kind's shape.
    """
    kind = KINDS.get(gvk_of(manifest))
    if kind is None:
        return _replaced(live, manifest)
    before = kind.read(live)
    after: KubeObject = kind.rule(before, kind.read(manifest))
    if after is before:
        return live
    return {**after, "status": live["status"]} if "status" in live else after


def _replaced(live: KubeObject, manifest: KubeObject) -> KubeObject:
    """The object with all fields of the manifest, and its metadata if one of them differs.

    A field that only the cluster has stays.
    """
    wanted = _content(manifest)
    if wanted == _content(live):
        return live
    after = {**live, **wanted, "metadata": _replaced_metadata(live, manifest)}
    return live if after == live else after


def _content(obj: KubeObject) -> dict[str, Any]:
    return {key: value for key, value in obj.items() if key not in _NOT_COMPARED}


def _replaced_metadata(live: KubeObject, manifest: KubeObject) -> dict[str, Any]:
    stays = {key: value for key, value in metadata(live).items() if key not in _REPLACED}
    comes = {key: metadata(manifest)[key] for key in _REPLACED if metadata(manifest).get(key)}
    return {**stays, **comes}
