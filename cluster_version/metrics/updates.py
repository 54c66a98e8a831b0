"""The samples of what a cluster can be updated to, of its capabilities and its installer."""

from collections.abc import Iterator, Mapping
from typing import Any

from api.objects import KubeObject, condition, is_true
from cluster_version.metrics.versions import seconds
from cluster_version.status.whole import RETRIEVED
from olm_runtime.metrics.exposition import Labels

DEFAULT_UPSTREAM = "<default>"
RECOMMENDED, APPLIES = "Recommended", "Applies"
INSTALLERS = {"openshift-install": "openshift-install", "openshift-install-manifests": "other"}
"""The kinds of installers by the names of the ConfigMaps that they leave, the surest first."""

_MISSING = "<missing>"
_APPLIES = {"True": 1, "False": 0}


def _status(cluster_version: KubeObject) -> Mapping[str, Any]:
    return cluster_version.get("status") or {}


def available_updates(
    cluster_version: KubeObject, update_service: str
) -> Iterator[tuple[Labels, float]]:
    """How many there are; nothing if it was never found out.

    `update_service` is asked in place of what the ClusterVersion names, unless it is empty.
    """
    spec, available = cluster_version["spec"], _status(cluster_version).get("availableUpdates")
    named = spec.get("upstream") or ""
    if named or available or is_true(cluster_version, RETRIEVED):
        upstream = update_service or named or DEFAULT_UPSTREAM
        labels = {"upstream": upstream, "channel": spec.get("channel") or ""}
        yield labels, len(available or ())


def capabilities(cluster_version: KubeObject) -> Iterator[tuple[Labels, float]]:
    """1 for those that are enabled and 0 for the others that are known."""
    found = _status(cluster_version).get("capabilities") or {}
    enabled = found.get("enabledCapabilities") or ()
    for name in dict.fromkeys([*enabled, *(found.get("knownCapabilities") or ())]):
        yield {"name": name}, int(name in enabled)


def recommended_since(cluster_version: KubeObject) -> Iterator[tuple[Labels, float]]:
    """When it was last found anew of each conditional update whether it is recommended."""
    for update in _status(cluster_version).get("conditionalUpdates") or ():
        for said in update.get("conditions") or ():
            if said["type"] == RECOMMENDED:
                verdict = {key: said.get(key) or "" for key in ("status", "reason")}
                labels = {
                    "version": update["release"]["version"],
                    "condition": RECOMMENDED,
                    **verdict,
                }
                yield labels, seconds(said.get("lastTransitionTime"))


def risks(cluster_version: KubeObject) -> Iterator[tuple[Labels, float]]:
    """1 for each risk that applies, 0 for one that does not, -1 if it is not known."""
    for risk in _status(cluster_version).get("conditionalUpdateRisks") or ():
        said = condition({"status": risk}, APPLIES)
        if said is not None:
            reason = said.get("reason") or ""
            labels = {"condition": APPLIES, "risk": risk["name"], "reason": reason}
            yield labels, _APPLIES.get(said.get("status") or "", -1)


def installer(config_maps: Mapping[str, KubeObject]) -> Iterator[tuple[Labels, float]]:
    """What installed the cluster, by the ConfigMaps of INSTALLERS that there are, by name."""
    for name, kind in INSTALLERS.items():
        if name in config_maps:
            data = config_maps[name].get("data") or {}
            details = {key: data.get(key, _MISSING) for key in ("version", "invoker")}
            yield {"type": kind, **details}, 1
            return
    yield {"type": "", "version": "", "invoker": ""}, 1
