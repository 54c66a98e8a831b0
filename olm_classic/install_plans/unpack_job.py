"""The Job that unpacks a bundle into its ConfigMap, what lets it, and how far it is. Pure.

All have the ConfigMap's name and go with it. The pod is upstream's, so that its images do.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from api.objects import GVK, KubeObject, condition, metadata, name_of, namespace_of
from olm_classic.install_plans.lookups import UnpackFailed
from olm_classic.names import LABEL_BUNDLE_UNPACK, LABEL_MANAGED
from olm_classic.pull_policy import pull_policy

JOB = GVK("batch", "v1", "Job")
RETAINED_JOBS = 5
BACKOFF_LIMIT = 3
TTL_SECONDS = 300
ARCHITECTURES = ("amd64", "arm64", "ppc64le", "s390x")
GRACE_SECONDS = 120
PULL_TROUBLE = frozenset({"ErrImagePull", "ImagePullBackOff"})
_BUNDLE, _UTIL = {"name": "bundle", "mountPath": "/bundle"}, {"name": "util", "mountPath": "/util"}


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSettings:
    """What the pods of all Jobs are made with.

    opm, util  images that have opm, and `/bin/cp` with `/bin/cpb`, which copies a bundle out of the
               image that it runs in; the product's own has both
    user       that they run as; None leaves it to the images
    """

    opm: str
    util: str
    user: int | None


def unpack_objects(config_map: KubeObject) -> list[KubeObject]:
    """The account of the pod, and its right to write the ConfigMap."""
    name, namespace = name_of(config_map), namespace_of(config_map)
    rbac = "rbac.authorization.k8s.io"
    rule = {
        "apiGroups": [""],
        "resources": ["configmaps"],
        "resourceNames": [name],
        "verbs": ["create", "get", "update"],
    }
    role = {"apiGroup": rbac, "kind": "Role", "name": name}
    subject = {"kind": "ServiceAccount", "name": name, "namespace": namespace}
    return [
        _owned(config_map, "v1", "ServiceAccount"),
        _owned(config_map, f"{rbac}/v1", "Role", rules=[rule]),
        _owned(config_map, f"{rbac}/v1", "RoleBinding", roleRef=role, subjects=[subject]),
    ]


def unpack_job(
    config_map: KubeObject,
    image: str,
    settings: JobSettings,
    *,
    suffix: str = "",
    seconds: float,
    secrets: Sequence[str],
) -> KubeObject:
    """The Job. `seconds` until it is given up, 0 for never; `secrets` are the catalog's."""
    labels = {LABEL_BUNDLE_UNPACK: name_of(config_map), LABEL_MANAGED: "true"}
    spec = {
        "backoffLimit": BACKOFF_LIMIT,
        "ttlSecondsAfterFinished": TTL_SECONDS,
        **({"activeDeadlineSeconds": max(1, round(seconds))} if seconds else {}),
        "template": {
            "metadata": {"name": name_of(config_map), "labels": labels},
            "spec": _pod(config_map, image, settings, secrets),
        },
    }
    job = _owned(config_map, JOB.api_version, JOB.kind, spec=spec)
    named = {"name": f"{name_of(config_map)[:57]}-{suffix}"} if suffix else {}
    return {**job, "metadata": {**job["metadata"], "labels": labels, **named}}


def _owned(config_map: KubeObject, version: str, kind: str, **fields: Any) -> KubeObject:
    owner = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": name_of(config_map),
        "uid": metadata(config_map)["uid"],
        "controller": False,
        "blockOwnerDeletion": False,
    }
    meta = {
        "namespace": namespace_of(config_map),
        "name": name_of(config_map),
        "labels": {LABEL_MANAGED: "true"},
        "ownerReferences": [owner],
    }
    return {"apiVersion": version, "kind": kind, "metadata": meta, **fields}


def _pod(
    config_map: KubeObject, image: str, settings: JobSettings, secrets: Sequence[str]
) -> dict[str, Any]:
    name, namespace = name_of(config_map), namespace_of(config_map)
    extract = ["opm", "alpha", "bundle", "extract", "-m", "/bundle/"]
    confined: dict[str, Any] = {"seccompProfile": {"type": "RuntimeDefault"}}
    if settings.user is not None:
        confined |= {"runAsUser": settings.user, "runAsNonRoot": True}
    return {
        "restartPolicy": "Never",
        "serviceAccountName": name,
        "imagePullSecrets": [{"name": each} for each in secrets],
        "securityContext": confined,
        "initContainers": [
            _container("util", settings.util, ["/bin/cp", "-Rv", "/bin/cpb", "/util/cpb"], _UTIL),
            {
                **_container("pull", image, ["/util/cpb", "/bundle"], _BUNDLE, _UTIL),
                "imagePullPolicy": pull_policy(image),
            },
        ],
        "containers": [
            {
                **_container(
                    "extract", settings.opm, [*extract, "-n", namespace, "-c", name, "-z"], _BUNDLE
                ),
                "env": [{"name": "CONTAINER_IMAGE", "value": image}],
            }
        ],
        "volumes": [{"name": each["name"], "emptyDir": {}} for each in (_BUNDLE, _UTIL)],
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "tolerations": list(_tolerations()),
    }


def _container(name: str, image: str, command: list[str], *mounts: Mapping[str, str]) -> Any:
    """Pulled as Kubernetes has it: an image of a release may be loaded onto nodes beforehand."""
    return {
        "name": name,
        "image": image,
        "command": command,
        "volumeMounts": list(mounts),
        "resources": {"requests": {"cpu": "10m", "memory": "50Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }


def _tolerations() -> Iterator[dict[str, Any]]:
    for each in ARCHITECTURES:
        yield {"key": "kubernetes.io/arch", "value": each, "operator": "Equal"}
    master = "node-role.kubernetes.io/master"
    yield {"key": master, "operator": "Exists", "effect": "NoSchedule"}
    for each in ("unreachable", "not-ready"):
        yield {
            "key": f"node.kubernetes.io/{each}",
            "operator": "Exists",
            "effect": "NoExecute",
            "tolerationSeconds": GRACE_SECONDS,
        }


def by_age(jobs: Iterable[KubeObject], config_map: KubeObject) -> list[KubeObject]:
    """The Jobs of a ConfigMap, the newest first; those of one that is gone go with it."""
    uid = metadata(config_map)["uid"]
    own = [
        each
        for each in jobs
        if any(owner["uid"] == uid for owner in metadata(each).get("ownerReferences") or ())
    ]
    return sorted(own, key=lambda job: str(metadata(job)["creationTimestamp"]), reverse=True)


def failure_of(job: KubeObject) -> UnpackFailed | None:
    """How it failed, in upstream's words; None for one that did not."""
    found = condition(job, "Failed")
    if found is None or found["status"] != "True":
        return None
    reason, message = found.get("reason") or "", found.get("message") or ""
    return UnpackFailed("BundleUnpackFailed", f"Bundle unpacking failed - {reason}: {message}")


def may_be_replaced(job: KubeObject, now: datetime, retry_seconds: float) -> bool:
    """Whether a failed one has rested for as long as the OperatorGroup asks; never without that."""
    found = condition(job, "Failed")
    if not retry_seconds or found is None:
        return False
    since = datetime.fromisoformat(found["lastTransitionTime"])
    return now - since >= timedelta(seconds=retry_seconds)


def waiting_of(pods: Iterable[KubeObject]) -> str:
    """What the pods of a Job wait for, if an image does not come; empty if nothing is wrong."""
    messages = [
        f"Unpack pod({namespace_of(pod)}/{name_of(pod)}) container({each['name']}) is pending. "
        f"Reason: {waiting['reason']}, Message: {waiting.get('message') or ''}"
        for pod in pods
        for each in _statuses(pod)
        if (waiting := (each.get("state") or {}).get("waiting"))
        and waiting.get("reason") in PULL_TROUBLE
    ]
    return f"unpack job not completed: {' | '.join(messages)}" if messages else ""


def _statuses(pod: KubeObject) -> Iterator[Mapping[str, Any]]:
    status = pod.get("status") or {}
    yield from status.get("initContainerStatuses") or ()
    yield from status.get("containerStatuses") or ()
