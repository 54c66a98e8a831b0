"""The `config` of a Subscription, and the cluster's proxy, laid over an operator's Deployment.

Init containers are left alone. What `olm_content.render.deployment_config` does for OLM v1 comes
from the same rules, but differs where a name or an entry is there twice, and in affinity.
"""

from typing import Any

from api.objects import KubeObject
from olm_classic.dialect import Dialect
from olm_content.render.deployment_config import AFFINITY_FIELDS, add_annotations

PROXY_VARIABLES = frozenset({"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"})

Entry = dict[str, Any]


def configured(
    deployment: KubeObject,
    config: dict[str, Any] | None,
    proxy: list[Entry] | None = None,
    *,
    dialect: Dialect = Dialect.DOCUMENTS,
) -> KubeObject:
    """A Deployment that follows `config`; the given one is not changed.

    `proxy` are the environment variables of the cluster's proxy. They count unless the config sets
    one of their names; that the ClusterServiceVersion sets one does not keep them away.
    """
    config = config or {}
    template = deployment["spec"]["template"]
    pod = dict(template["spec"])
    result = {
        **deployment,
        "metadata": dict(deployment["metadata"]),
        "spec": {
            **deployment["spec"],
            "template": {**template, "metadata": dict(template.get("metadata") or {}), "spec": pod},
        },
    }
    config = {**config, "env": _environment(config.get("env") or [], proxy or [])}
    if containers := pod.get("containers"):
        pod["containers"] = [_container(container, config, dialect) for container in containers]
    _configure_pod(pod, config, dialect)
    add_annotations(result, config.get("annotations") or {})
    return result


def _environment(configured_env: list[Entry], proxy: list[Entry]) -> list[Entry]:
    """The variables to set: the user's, and those of the proxy if the user says nothing of it."""
    if any(variable["name"] in PROXY_VARIABLES for variable in configured_env):
        return configured_env
    return configured_env + [variable for variable in proxy if variable.get("value")]


def _container(container: Entry, config: dict[str, Any], dialect: Dialect) -> Entry:
    changed = dict(container)
    if env := config["env"]:
        changed["env"] = _replaced(container.get("env") or [], env)
    if sources := config.get("envFrom"):
        changed["envFrom"] = _with_new(container.get("envFrom") or [], sources)
    if mounts := config.get("volumeMounts"):
        existing = container.get("volumeMounts") or []
        changed["volumeMounts"] = _replaced(existing, _heeded(existing, mounts, dialect))
    if config.get("resources") is not None:
        changed["resources"] = config["resources"]
    return changed


def _configure_pod(pod: dict[str, Any], config: dict[str, Any], dialect: Dialect) -> None:
    if volumes := config.get("volumes"):
        existing = pod.get("volumes") or []
        pod["volumes"] = _replaced(existing, _heeded(existing, volumes, dialect))
    if tolerations := config.get("tolerations"):
        pod["tolerations"] = _with_new(pod.get("tolerations") or [], tolerations)
    if config.get("nodeSelector") is not None:
        _set(pod, "nodeSelector", config["nodeSelector"])
    if config.get("affinity") is not None:
        _set(pod, "affinity", _affinity(pod.get("affinity") or {}, config["affinity"], dialect))


def _set(pod: dict[str, Any], field: str, value: dict[str, Any]) -> None:
    """Set a field of which an empty value is as good as none."""
    if value:
        pod[field] = value
    else:
        pod.pop(field, None)


def _replaced(existing: list[Entry], given: list[Entry]) -> list[Entry]:
    """`existing` with the first entry of a given one's name replaced, others added at the end.

    Given entries do not replace each other.
    """
    result = list(existing)
    places = {entry["name"]: index for index, entry in reversed(list(enumerate(existing)))}
    for entry in given:
        if entry["name"] in places:
            result[places[entry["name"]]] = entry
        else:
            result.append(entry)
    return result


def _heeded(existing: list[Entry], given: list[Entry], dialect: Dialect) -> list[Entry]:
    """The given volumes or mounts that have an effect.

    Upstream loses those that would replace one once it has added another.
    """
    if dialect is Dialect.DOCUMENTS:
        return given
    names = {entry["name"] for entry in existing}
    added = next((i for i, entry in enumerate(given) if entry["name"] not in names), len(given))
    return given[:added] + [entry for entry in given[added:] if entry["name"] not in names]


def _with_new(existing: list[Entry], given: list[Entry]) -> list[Entry]:
    """`existing` with those of `given` that are not in it; the given ones may be equal."""
    return existing + [entry for entry in given if entry not in existing]


def _affinity(existing: dict[str, Any], given: dict[str, Any], dialect: Dialect) -> dict[str, Any]:
    """Each part replaces its own or, empty, removes it; all is removed by an empty whole.

    Where there was none, the given one stands as it is. To upstream an empty `podAntiAffinity` is
    an empty whole.
    """
    parts = {field: given[field] for field in AFFINITY_FIELDS if given.get(field) is not None}
    if not parts or not existing:
        return parts
    if dialect is Dialect.UPSTREAM and parts.get("podAntiAffinity") == {}:
        return {}
    return {field: part for field, part in (existing | parts).items() if part or field not in parts}
