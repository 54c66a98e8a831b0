"""Which objects others name, so that they can be read: services, certificates, registries. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from api.objects import GVK, KubeObject, gvk_of, name_of, namespace_of
from olm_client.diagnosis.facts import (
    API_SERVICE,
    CONFIG_MAP,
    DEFINITION,
    MUTATING,
    SECRET,
    VALIDATING,
)


@dataclass(frozen=True, slots=True, order=True)
class Named:
    """An object that another one names."""

    kind: GVK
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Call:
    """A server that the API server calls: who says so, its Service, the CAs to trust (base64).

    `place` is the JSON pointer of the `clientConfig` in the caller.
    """

    caller: KubeObject
    place: str
    name: str
    namespace: str
    service: str
    authorities: str

    @property
    def number(self) -> int:
        """Of the webhook in its configuration."""
        return int(self.place.split("/")[2])


def calls(objects: Iterable[KubeObject]) -> Iterator[Call]:
    """The Services that webhook configurations, definitions and API services name."""
    for obj in objects:
        gvk = gvk_of(obj)
        if gvk in (VALIDATING, MUTATING):
            for number, webhook in enumerate(obj.get("webhooks") or ()):
                place = f"/webhooks/{number}/clientConfig"
                yield from _call(obj, place, str(webhook.get("name")), webhook.get("clientConfig"))
        elif gvk == DEFINITION:
            conversion = (obj.get("spec") or {}).get("conversion") or {}
            config = (conversion.get("webhook") or {}).get("clientConfig")
            yield from _call(obj, "/spec/conversion/webhook/clientConfig", name_of(obj), config)
        elif gvk == API_SERVICE:
            yield from _call(obj, "/spec", name_of(obj), obj.get("spec"))


def _call(obj: KubeObject, place: str, name: str, config: Any) -> Iterator[Call]:
    service = (config or {}).get("service")
    if service:
        authorities = str(config.get("caBundle") or "")
        yield Call(obj, place, name, service["namespace"], service["name"], authorities)


def pod_spec(workload: KubeObject) -> dict[str, Any]:
    """The specification of a workload's pods."""
    template = (workload.get("spec") or {}).get("template") or {}
    found: dict[str, Any] = template.get("spec") or {}
    return found


def pod_labels(workload: KubeObject) -> dict[str, str]:
    """The labels of a workload's pods."""
    template = (workload.get("spec") or {}).get("template") or {}
    found: dict[str, str] = (template.get("metadata") or {}).get("labels") or {}
    return found


def is_behind(workload: KubeObject, service: KubeObject) -> bool:
    """Whether a Service leads to the pods of a workload."""
    selector = (service.get("spec") or {}).get("selector") or {}
    same = namespace_of(workload) == namespace_of(service)
    return bool(selector) and same and selector.items() <= pod_labels(workload).items()


def mounted(workload: KubeObject) -> list[Named]:
    """The Secrets and ConfigMaps that are volumes of a workload's pods."""
    volumes = pod_spec(workload).get("volumes") or ()
    return [each for volume in volumes for each in _sources(volume, namespace_of(workload))]


def _sources(volume: dict[str, Any], namespace: str) -> Iterator[Named]:
    if volume.get("secret"):
        yield Named(SECRET, namespace, str(volume["secret"].get("secretName")))
    if volume.get("configMap"):
        yield Named(CONFIG_MAP, namespace, str(volume["configMap"].get("name")))
    for source in (volume.get("projected") or {}).get("sources") or ():
        for key, kind in (("secret", SECRET), ("configMap", CONFIG_MAP)):
            if source.get(key):
                yield Named(kind, namespace, str(source[key].get("name")))


def flag_values(workload: KubeObject, flag: str) -> list[str]:
    """The values that the first container is given for a flag, `--flag=value`."""
    containers = pod_spec(workload).get("containers") or [{}]
    arguments = [*(containers[0].get("command") or ()), *(containers[0].get("args") or ())]
    start = f"--{flag}="
    return [str(each).removeprefix(start) for each in arguments if str(each).startswith(start)]


def certificates_at(workload: KubeObject, path: str) -> list[Named]:
    """The Secrets and ConfigMaps that a workload finds a file or folder in.

    Where the program writes them itself, as the flag `--serving-cert` says, its Secrets.
    """
    for given in flag_values(workload, "serving-cert"):
        secret = given.partition(":")[0]
        if f"/{secret}/" in f"{path}/":
            return [Named(SECRET, namespace_of(workload), secret)]
    mounts = (pod_spec(workload).get("containers") or [{}])[0].get("volumeMounts") or ()
    fitting = [m for m in mounts if f"{path}/".startswith(f"{m['mountPath'].rstrip('/')}/")]
    if not fitting:
        return []
    volume = max(fitting, key=lambda mount: len(mount["mountPath"]))["name"]
    volumes = pod_spec(workload).get("volumes") or ()
    return [
        each
        for found in volumes
        if found.get("name") == volume
        for each in _sources(found, namespace_of(workload))
    ]


def registry_of(reference: str) -> str:
    """The registry of an image's reference, empty where it names none."""
    host = reference.partition("/")[0]
    return host if "/" in reference and ("." in host or ":" in host or host == "localhost") else ""


def image_of(catalog: KubeObject) -> str:
    """The reference of a catalog's image."""
    source = (catalog.get("spec") or {}).get("source") or {}
    return str((source.get("image") or {}).get("ref") or "")
