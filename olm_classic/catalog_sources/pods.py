"""The pod that serves a catalog. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from api.objects import KubeObject
from api.operators.v1alpha1.catalogsource import (
    CatalogSource,
    ExtractContent,
    GrpcPodConfig,
    SecurityConfig,
)
from olm_classic.catalog_sources.labels import (
    LABEL_CATALOG,
    LABEL_CONFIG_MAP_VERSION,
    LABEL_POD_HASH,
    LABEL_UPDATE,
    MANAGED,
    PORT,
    owner_reference,
)
from olm_classic.catalog_sources.validation import is_config_map
from olm_classic.hashes import deep_hash
from olm_classic.pull_policy import pull_policy
from olm_content.kube_types import quantity

SERVER, CONFIG_MAP_SERVER = "registry-server", "configmap-registry-server"
EXTRACT_UTILITIES, EXTRACT_CONTENT = "extract-utilities", "extract-content"
DEFAULT_PRIORITY_CLASS = "system-cluster-critical"
ANNOTATION_PRIORITY_CLASS = "operatorframework.io/priorityclass"
ANNOTATION_SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
LABEL_ENFORCED = "pod-security.kubernetes.io/enforce"
READINESS_DELAY_SECONDS, LIVENESS_DELAY_SECONDS = 5, 10
_UTILITIES, _CONTENT = "/utilities", "/extracted-catalog"
_LOGS = {"terminationMessagePolicy": "FallbackToLogsOnError"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Images:
    """The images of ours that catalogs are served with.

    opm         serves content that was extracted
    util        has `/bin/cp` and `/bin/copy-content`
    config_map  serves ConfigMaps

    Kubernetes decides when they are pulled: those of a release may be on the nodes already.
    """

    opm: str
    util: str
    config_map: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSettings:
    """What every catalog's pod is made with.

    workload_user  the user of confined pods; None leaves it to the image
    """

    images: Images
    workload_user: int | None = None


def catalog_pod(
    source: CatalogSource,
    raw: KubeObject,
    settings: PodSettings,
    *,
    namespace_labels: Mapping[str, str],
    account: str,
    config_map_version: str = "",
) -> KubeObject:
    """The pod of a catalog as it is created. `raw` is the same object as the server holds it."""
    spec = _spec(source, settings, account)
    _configure(spec, _config(source), source.metadata.annotations)
    if _is_restricted(source, namespace_labels):
        _confine(spec, settings.workload_user)
    version = {LABEL_CONFIG_MAP_VERSION: config_map_version} if config_map_version else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "generateName": f"{source.metadata.name}-",
            "namespace": source.metadata.namespace,
            "labels": {
                LABEL_CATALOG: source.metadata.name,
                LABEL_POD_HASH: deep_hash("PodSpec", spec),
                **MANAGED,
                **version,
            },
            "annotations": {**source.metadata.annotations, ANNOTATION_SAFE_TO_EVICT: "true"},
            "ownerReferences": [owner_reference(raw, controller=True)],
        },
        "spec": spec,
    }


def update_pod(pod: KubeObject) -> KubeObject:
    """The same pod, made to see whether the image has newer content; it gets no requests."""
    meta = pod["metadata"]
    labels = {**meta["labels"], LABEL_CATALOG: "", LABEL_UPDATE: meta["labels"][LABEL_CATALOG]}
    return {**pod, "metadata": {**meta, "labels": labels}}


def serving_container(source: CatalogSource) -> str:
    """The container whose image has the catalog's content."""
    if is_config_map(source.spec):
        return CONFIG_MAP_SERVER
    return EXTRACT_CONTENT if _config(source).extract_content else SERVER


def _config(source: CatalogSource) -> GrpcPodConfig:
    config = source.spec.grpc_pod_config
    return GrpcPodConfig() if config is None or is_config_map(source.spec) else config


def _spec(source: CatalogSource, settings: PodSettings, account: str) -> dict[str, Any]:
    images = settings.images
    extract = _config(source).extract_content
    if is_config_map(source.spec):
        names = source.spec.config_map, source.metadata.namespace
        container = _container(CONFIG_MAP_SERVER, images.config_map)
        container["command"] = ["configmap-server", "-c", names[0], "-n", names[1]]
    else:
        container = _container(SERVER, images.opm if extract else source.spec.image)
        if not extract:
            container["imagePullPolicy"] = pull_policy(source.spec.image)
    spec = {
        "containers": [container],
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "serviceAccountName": account,
    }
    if extract:
        _extract(spec, source.spec.image, images.util, extract)
    return spec


def _container(name: str, image: str) -> dict[str, Any]:
    probe = {"grpc": {"port": PORT}, "timeoutSeconds": 5}
    return {
        "name": name,
        "image": image,
        "ports": [{"name": "grpc", "containerPort": PORT}],
        "readinessProbe": probe | {"initialDelaySeconds": READINESS_DELAY_SECONDS},
        "livenessProbe": probe | {"initialDelaySeconds": LIVENESS_DELAY_SECONDS},
        "startupProbe": probe | {"failureThreshold": 10, "periodSeconds": 10},
        "resources": {"requests": {"cpu": "10m", "memory": "50Mi"}},
        "securityContext": {"readOnlyRootFilesystem": False},
        **_LOGS,
    }


def _extract(spec: dict[str, Any], image: str, util: str, extract: ExtractContent) -> None:
    """Has the content copied out of the image, and served by our opm."""
    paths = [f"--catalog.from={extract.catalog_dir}", f"--catalog.to={_CONTENT}/catalog"]
    if extract.cache_dir:
        paths += [f"--cache.from={extract.cache_dir}", f"--cache.to={_CONTENT}/cache"]
    utilities = {"name": "utilities", "mountPath": _UTILITIES}
    content = {"name": "catalog-content", "mountPath": _CONTENT}
    spec["initContainers"] = [
        {
            "name": EXTRACT_UTILITIES,
            "image": util,
            "command": ["cp"],
            "args": ["/bin/copy-content", f"{_UTILITIES}/copy-content"],
            "volumeMounts": [utilities],
            **_LOGS,
        },
        {
            "name": EXTRACT_CONTENT,
            "image": image,
            "imagePullPolicy": pull_policy(image),
            "command": [f"{_UTILITIES}/copy-content"],
            "args": paths,
            "volumeMounts": [utilities, content],
            **_LOGS,
        },
    ]
    cache = [f"--cache-dir={_CONTENT}/cache"] if extract.cache_dir else []
    mounts, names = [content], ["utilities", "catalog-content"]
    if not extract.cache_dir:  # opm makes its cache in a folder of its own
        mounts.append({"name": "tmpdir", "mountPath": "/tmp/"})  # noqa: S108 - in the container
        names.append("tmpdir")
    spec["volumes"] = [{"name": name, "emptyDir": {}} for name in names]
    spec["containers"][0] |= {
        "command": ["/bin/opm"],
        "args": ["serve", f"{_CONTENT}/catalog", *cache],
        "volumeMounts": mounts,
        "securityContext": {"readOnlyRootFilesystem": True},
    }


def _configure(spec: dict[str, Any], config: GrpcPodConfig, annotations: Mapping[str, str]) -> None:
    """Lays over the pod what the catalog's own configuration says of it."""
    if config.node_selector:
        spec["nodeSelector"] = dict(config.node_selector)
    if config.tolerations:
        spec["tolerations"] = [dict(each) for each in config.tolerations]
    if config.affinity is not None:
        spec["affinity"] = dict(config.affinity)
    named = config.priority_class_name
    default = DEFAULT_PRIORITY_CLASS if named is None else named
    priority = annotations.get(ANNOTATION_PRIORITY_CLASS) or default
    if priority:
        spec["priorityClassName"] = priority
    if config.memory_target is not None:
        container = spec["containers"][0]
        container["resources"]["requests"]["memory"] = str(config.memory_target)
        limit = quantity.value_of(str(config.memory_target)) // Decimal(2**20)
        container["env"] = [{"name": "GOMEMLIMIT", "value": f"{limit}MiB"}]


def _is_restricted(source: CatalogSource, namespace_labels: Mapping[str, str]) -> bool:
    config = source.spec.grpc_pod_config
    if config is not None and config.security_context_config is not None:
        return config.security_context_config is SecurityConfig.RESTRICTED
    return namespace_labels.get(LABEL_ENFORCED) == "restricted"


def _confine(spec: dict[str, Any], user: int | None) -> None:
    """Has the pod meet the pod security standard `restricted`."""
    context: dict[str, Any] = {"seccompProfile": {"type": "RuntimeDefault"}}
    if user is not None:
        context |= {"runAsUser": user, "runAsNonRoot": True}
    spec["securityContext"] = context
    for container in [*spec["containers"], *spec.get("initContainers", ())]:
        container["securityContext"] = {
            **container.get("securityContext", {}),
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        }
