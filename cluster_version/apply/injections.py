"""What manifests of a release get of a cluster's configuration before they are applied.

Source of the rules: upstream's notes, sections 5.5 and 10.4.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from api.objects import GVK, KubeObject, annotations_of, gvk_of, name_of, namespace_of
from api.openshift.config.v1.kinds import API_SERVER, INFRASTRUCTURE, PROXY
from cluster_version.apply.tls_profiles import TlsSettings, tls_settings
from cluster_version.names import DEFAULT_NAMESPACE, DEPLOYMENT_NAME, INJECT_PROXY, INJECT_TLS
from olm_content.formats.go_text import quote
from olm_content.formats.kube_yaml import YamlError, load_all
from olm_content.formats.yaml_text import dump_all
from olm_runtime.errors import TerminalError

CONFIGURATION_NAME = "cluster"
"""Of the only object of each kind of a cluster's configuration."""

_DEPLOYMENT, _DAEMON_SET = GVK("apps", "v1", "Deployment"), GVK("apps", "v1", "DaemonSet")
_CONFIG_MAP = GVK("", "v1", "ConfigMap")
_HTTPS_PORT = 443
_INTERNAL_ADDRESS = ("apiServerInternalURI", "apiServerInternalURL")
"""On the wire, and as upstream's notes call it."""


def asked_for(manifest: KubeObject) -> Iterator[GVK]:
    """The kinds of configuration that are put into a manifest."""
    for injection in _INJECTIONS:
        if injection.is_asked(manifest):
            yield injection.kind


def injected(manifest: KubeObject, found: Mapping[GVK, KubeObject | None]) -> KubeObject:
    """The manifest with what it is to get of a configuration; None for one that there is not.

    Raises TerminalError for a manifest that names a container it does not have.
    """
    for injection in _INJECTIONS:
        if injection.is_asked(manifest):
            manifest = injection.inject(manifest, found.get(injection.kind) or {})
    return manifest


# --- the proxy, and the way to the API server ------------------------------------------------


def _asks_for_proxy(manifest: KubeObject) -> bool:
    is_workload = gvk_of(manifest) in (_DEPLOYMENT, _DAEMON_SET)
    return is_workload and bool(annotations_of(manifest).get(INJECT_PROXY))


def _with_proxy(manifest: KubeObject, proxy: KubeObject) -> KubeObject:
    status = proxy.get("status") or {}
    fields = {"HTTP_PROXY": "httpProxy", "HTTPS_PROXY": "httpsProxy", "NO_PROXY": "noProxy"}
    values = {name: status.get(field) or "" for name, field in fields.items()}
    containers = annotations_of(manifest)[INJECT_PROXY].split(",")
    return _with_variables(manifest, containers, values if any(values.values()) else {})


def _is_own_deployment(manifest: KubeObject) -> bool:
    place = namespace_of(manifest), name_of(manifest)
    return gvk_of(manifest) == _DEPLOYMENT and place == (DEFAULT_NAMESPACE, DEPLOYMENT_NAME)


def _with_api_server(manifest: KubeObject, infrastructure: KubeObject) -> KubeObject:
    """The own Deployment by way of the load balancer, which no restart of a server takes away."""
    status = infrastructure.get("status") or {}
    address = next((status[field] for field in _INTERNAL_ADDRESS if status.get(field)), "")
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port or _HTTPS_PORT
    except ValueError as error:
        raise TerminalError(f"the internal address of the API server: {error}") from error
    if not host:
        return manifest
    values = {"KUBERNETES_SERVICE_PORT": str(port), "KUBERNETES_SERVICE_HOST": host}
    return _with_variables(manifest, [DEPLOYMENT_NAME], values)


def _with_variables(
    manifest: KubeObject, containers: Collection[str], values: Mapping[str, str]
) -> KubeObject:
    """The workload with variables in the containers of these names. Raises TerminalError."""
    spec = manifest.get("spec") or {}
    template = spec.get("template") or {}
    pod = template.get("spec") or {}
    lists = {field: pod.get(field) or () for field in ("initContainers", "containers")}
    there = {container.get("name") for listed in lists.values() for container in listed}
    for name in containers:
        if name not in there:
            raise TerminalError(f"requested injection for non-existent container: {quote(name)}")
    changed = {
        field: [
            _with_environment(each, values) if each.get("name") in containers else each
            for each in listed
        ]
        for field, listed in lists.items()
        if listed
    }
    return {**manifest, "spec": {**spec, "template": {**template, "spec": {**pod, **changed}}}}


def _with_environment(container: Mapping[str, Any], values: Mapping[str, str]) -> Mapping[str, Any]:
    """The container with these variables, those that it has already in their place."""
    if not values:
        return container
    before = container.get("env") or ()
    there = {variable.get("name") for variable in before}
    env = [
        _variable(each["name"], values[each["name"]]) if each.get("name") in values else each
        for each in before
    ]
    env += [_variable(name, value) for name, value in values.items() if name not in there]
    return {**container, "env": env}


def _variable(name: str, value: str) -> dict[str, str]:
    """As the API server has it: without a value that is empty."""
    return {"name": name, "value": value} if value else {"name": name}


# --- TLS settings ----------------------------------------------------------------------------

_CONFIGURATIONS = {
    ("operator.openshift.io/v1alpha1", "GenericOperatorConfig"),
    ("config.openshift.io/v1", "GenericControllerConfig"),
}
"""apiVersion and kind of the files that have TLS settings."""


def _asks_for_tls(manifest: KubeObject) -> bool:
    return gvk_of(manifest) == _CONFIG_MAP and annotations_of(manifest).get(INJECT_TLS) == "true"


def _with_tls(manifest: KubeObject, api_server: KubeObject) -> KubeObject:
    settings = tls_settings((api_server.get("spec") or {}).get("tlsSecurityProfile"))
    data = manifest.get("data")
    if not data:
        return manifest
    return {**manifest, "data": {key: _file(text, settings) for key, text in data.items()}}


def _file(text: str, settings: TlsSettings) -> str:
    """A file of a ConfigMap; one that is no configuration of an operator as it is."""
    try:
        documents = list(load_all(text.encode()))
    except YamlError:
        return text
    if len(documents) != 1 or not isinstance(documents[0], dict):
        return text
    [content] = documents
    if (content.get("apiVersion"), content.get("kind")) not in _CONFIGURATIONS:
        return text
    serving = content.get("servingInfo") or {}
    if not isinstance(serving, dict):
        raise TerminalError("failed to inject the TLS configuration: servingInfo is not a map")
    wanted = {"cipherSuites": list(settings.ciphers), "minTLSVersion": settings.lowest_version}
    after = {
        key: value for key, value in {**serving, **wanted}.items() if value or key not in wanted
    }
    return text if after == serving else dump_all([{**content, "servingInfo": after}])


class _Injection(NamedTuple):
    kind: GVK
    is_asked: Callable[[KubeObject], bool]
    inject: Callable[[KubeObject, KubeObject], KubeObject]


_INJECTIONS = (
    _Injection(PROXY, _asks_for_proxy, _with_proxy),
    _Injection(INFRASTRUCTURE, _is_own_deployment, _with_api_server),
    _Injection(API_SERVER, _asks_for_tls, _with_tls),
)
