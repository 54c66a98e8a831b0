"""The user's `deploymentConfig` laid over a generated Deployment.

Source of the rules: OLM v0's SubscriptionConfig, whose users expect the same effect. They are
applied after certificates are mounted, so a user may override even those by name.
"""

from typing import Any

from api.objects import KubeObject

AFFINITY_FIELDS = ("nodeAffinity", "podAffinity", "podAntiAffinity")


def configured(deployment: KubeObject, config: dict[str, Any]) -> KubeObject:
    """The deployment with `config` applied; itself when there is nothing to apply.

    Changes the deployment's pod template in place, which its generator made for this.
    """
    if not config:
        return deployment
    pod = deployment["spec"]["template"]["spec"]
    if containers := pod.get("containers"):
        pod["containers"] = [_container(container, config) for container in containers]
    if volumes := config.get("volumes"):
        pod["volumes"] = _overridden(pod.get("volumes") or [], volumes)
    if tolerations := config.get("tolerations"):
        pod["tolerations"] = _with_new(pod.get("tolerations") or [], tolerations)
    if config.get("nodeSelector") is not None:
        pod["nodeSelector"] = config["nodeSelector"]
    _apply_affinity(pod, config.get("affinity"))
    add_annotations(deployment, config.get("annotations") or {})
    return deployment


def _container(container: dict[str, Any], config: dict[str, Any]) -> dict[str, Any]:
    changed = dict(container)
    if env := config.get("env"):
        changed["env"] = _overridden(container.get("env") or [], env)
    if env_from := config.get("envFrom"):
        changed["envFrom"] = _with_new(container.get("envFrom") or [], env_from)
    if mounts := config.get("volumeMounts"):
        changed["volumeMounts"] = _overridden(container.get("volumeMounts") or [], mounts)
    if config.get("resources") is not None:
        changed["resources"] = config["resources"]
    return changed


def _overridden(existing: list[Any], given: list[Any]) -> list[Any]:
    """`existing` with entries of the same name replaced where they stand, others added.

    Of several of one name that exist the last one is replaced; given ones do not replace each
    other. The API server takes the last one of a name too.
    """
    result = list(existing)
    places = {entry["name"]: index for index, entry in enumerate(existing)}
    for entry in given:
        if entry["name"] in places:
            result[places[entry["name"]]] = entry
        else:
            result.append(entry)
    return result


def _with_new(existing: list[Any], given: list[Any]) -> list[Any]:
    """`existing` with those of `given` that are not in it already."""
    result = list(existing)
    for entry in given:
        if entry not in result:
            result.append(entry)
    return result


def _apply_affinity(pod: dict[str, Any], given: dict[str, Any] | None) -> None:
    """Absent keeps all, empty removes all, each field replaces its own or, empty, removes it."""
    if given is None:
        return
    affinity = dict(pod.get("affinity") or {}) if given else {}
    for field in AFFINITY_FIELDS:
        if given.get(field) is not None:
            affinity[field] = given[field]
            if _says_nothing(given[field]):
                del affinity[field]
    if not all(map(_says_nothing, affinity.values())):
        pod["affinity"] = affinity
    else:
        pod.pop("affinity", None)


def _says_nothing(affinity: dict[str, Any]) -> bool:
    """Whether one kind of affinity asks for nothing: required node terms may be an empty list."""
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if isinstance(required, dict):
        required = required.get("nodeSelectorTerms")
    return not required and not affinity.get("preferredDuringSchedulingIgnoredDuringExecution")


def add_annotations(deployment: KubeObject, given: dict[str, str]) -> None:
    """Users add annotations; what the bundle says stands."""
    if not given:
        return
    for owner in (deployment, deployment["spec"]["template"]):
        metadata = owner["metadata"]
        metadata["annotations"] = {**given, **(metadata.get("annotations") or {})}
