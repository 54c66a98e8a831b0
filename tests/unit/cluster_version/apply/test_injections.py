"""What manifests get of a cluster's configuration."""

from typing import Any

import pytest
import yaml

from api.objects import KubeObject
from api.openshift.config.v1.kinds import API_SERVER, INFRASTRUCTURE, PROXY
from cluster_version.apply.injections import asked_for, injected
from cluster_version.names import DEFAULT_NAMESPACE, DEPLOYMENT_NAME, INJECT_PROXY, INJECT_TLS
from olm_runtime.errors import TerminalError

Json = dict[str, Any]
VALUES = {"httpProxy": "http://proxy:3128", "noProxy": ".svc"}
PROXIED = [
    {"name": "HTTP_PROXY", "value": "http://proxy:3128"},
    {"name": "HTTPS_PROXY"},
    {"name": "NO_PROXY", "value": ".svc"},
]


def workload(
    kind: str = "Deployment",
    name: str = "one",
    containers: Json | None = None,
    asks: str = "",
) -> KubeObject:
    """A workload; `containers` are environments by name, those with `init-` at the beginning.

    `asks`: names of containers that are to get the proxy.
    """
    annotations = {INJECT_PROXY: asks} if asks else {}
    listed = [{"name": each, "env": env} for each, env in (containers or {"a": []}).items()]
    pod = {
        "initContainers": [each for each in listed if each["name"].startswith("init-")],
        "containers": [each for each in listed if not each["name"].startswith("init-")],
    }
    meta = {"name": name, "namespace": DEFAULT_NAMESPACE, "annotations": annotations}
    spec = {"template": {"spec": pod}}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": meta, "spec": spec}


def environments(obj: KubeObject) -> Json:
    pod = obj["spec"]["template"]["spec"]
    return {each["name"]: each["env"] for field in pod for each in pod[field]}


@pytest.mark.parametrize("kind", ["Deployment", "DaemonSet"])
def test_named_containers_get_the_proxy(kind: str) -> None:
    other = [{"name": "X", "value": "1"}]
    manifest = workload(kind, containers={"init-a": [], "b": other, "c": []}, asks="init-a,b")
    assert list(asked_for(manifest)) == [PROXY]
    found = injected(manifest, {PROXY: {"status": VALUES}})
    assert environments(found) == {"init-a": PROXIED, "b": other + PROXIED, "c": []}
    assert environments(manifest) == {"init-a": [], "b": other, "c": []}


def test_a_variable_that_is_there_is_replaced_in_its_place() -> None:
    env = [{"name": "NO_PROXY", "value": "mine"}, {"name": "X"}]
    manifest = workload(containers={"a": env}, asks="a")
    found = injected(manifest, {PROXY: {"status": VALUES}})
    assert environments(found) == {"a": [PROXIED[2], {"name": "X"}, *PROXIED[:2]]}


@pytest.mark.parametrize("proxy", [None, {}, {"status": {}}, {"spec": VALUES}])
def test_without_a_proxy_nothing_is_set(proxy: KubeObject | None) -> None:
    manifest = workload(asks="a")
    assert injected(manifest, {PROXY: proxy}) == injected(manifest, {PROXY: None})
    assert environments(injected(manifest, {PROXY: proxy})) == {"a": []}


def test_a_container_that_is_not_there_is_an_error() -> None:
    with pytest.raises(TerminalError) as raised:
        injected(workload(asks="a,x"), {})
    assert raised.value.message == 'requested injection for non-existent container: "x"'


@pytest.mark.parametrize(
    ("address", "host", "port"),
    [
        ("https://api-int.example.com:6443", "api-int.example.com", "6443"),
        ("https://api-int.example.com", "api-int.example.com", "443"),
        ("https://[fd00::1]:6443", "fd00::1", "6443"),
    ],
)
def test_the_operator_itself_goes_by_way_of_the_load_balancer(
    address: str, host: str, port: str
) -> None:
    before = [{"name": "KUBERNETES_SERVICE_HOST", "value": "127.0.0.1"}]
    own = workload(name=DEPLOYMENT_NAME, containers={DEPLOYMENT_NAME: before, "b": []})
    assert list(asked_for(own)) == [INFRASTRUCTURE]
    found = injected(own, {INFRASTRUCTURE: {"status": {"apiServerInternalURI": address}}})
    assert environments(found) == {
        DEPLOYMENT_NAME: [
            {"name": "KUBERNETES_SERVICE_HOST", "value": host},
            {"name": "KUBERNETES_SERVICE_PORT", "value": port},
        ],
        "b": [],
    }
    assert injected(own, {INFRASTRUCTURE: None}) == own


def test_an_address_that_is_none_is_an_error() -> None:
    own = workload(name=DEPLOYMENT_NAME, containers={DEPLOYMENT_NAME: []})
    with pytest.raises(TerminalError, match="the internal address of the API server: "):
        injected(own, {INFRASTRUCTURE: {"status": {"apiServerInternalURI": "https://a:b"}}})


def config_map(text: str, value: str = "true") -> KubeObject:
    meta = {"name": "one", "annotations": {INJECT_TLS: value}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"c.yaml": text}}


CONFIG = """\
# of an operator
apiVersion: operator.openshift.io/v1alpha1
kind: GenericOperatorConfig
servingInfo:
  bindAddress: :8443
  minTLSVersion: VersionTLS10
leaderElection: {disable: true}
"""


def serving(profile: Json | None, text: str = CONFIG) -> Json:
    server = None if profile is None else {"spec": {"tlsSecurityProfile": profile}}
    found = injected(config_map(text), {API_SERVER: server})
    content: Json = yaml.safe_load(found["data"]["c.yaml"])
    assert content["leaderElection"] == {"disable": True}
    assert content["servingInfo"].pop("bindAddress") == ":8443"
    return dict(content["servingInfo"])


def test_configuration_of_operators_gets_the_tls_settings() -> None:
    assert list(asked_for(config_map(CONFIG))) == [API_SERVER]
    modern = serving({"type": "Modern"})
    assert modern["minTLSVersion"] == "VersionTLS13"
    assert modern["cipherSuites"] == [
        "TLS_AES_128_GCM_SHA256",
        "TLS_AES_256_GCM_SHA384",
        "TLS_CHACHA20_POLY1305_SHA256",
    ]
    default = serving(None)
    assert default == serving({"type": "Intermediate"}) == serving({"type": "Custom"})
    assert default["minTLSVersion"] == "VersionTLS12"
    assert len(default["cipherSuites"]) == 9
    assert len(serving({"type": "Old"})["cipherSuites"]) == 21


def test_a_profile_of_ones_own_has_the_ciphers_that_operators_can_use() -> None:
    ciphers = ["ECDHE-RSA-AES128-GCM-SHA256", "DHE-RSA-AES128-SHA256", "AES128-SHA"]
    custom = {"ciphers": ciphers, "minTLSVersion": "VersionTLS11"}
    assert serving({"type": "Custom", "custom": custom}) == {
        "minTLSVersion": "VersionTLS11",
        "cipherSuites": ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_RSA_WITH_AES_128_CBC_SHA"],
    }


def test_what_has_the_settings_keeps_its_form() -> None:
    once = injected(config_map(CONFIG), {})
    assert injected(once, {}) == once


@pytest.mark.parametrize(
    "text",
    [
        CONFIG.replace("GenericOperatorConfig", "Other"),
        CONFIG.replace("v1alpha1", "v1"),
        "a: [",
        "just text",
        "",
    ],
)
def test_other_files_stay_as_they_are(text: str) -> None:
    assert injected(config_map(text), {}) == config_map(text)


def test_what_does_not_ask_gets_nothing() -> None:
    others = [
        config_map(CONFIG, "false"),
        workload(),
        workload("StatefulSet", asks="a"),
        workload("DaemonSet", DEPLOYMENT_NAME),
    ]
    for manifest in others:
        assert list(asked_for(manifest)) == []
        assert injected(manifest, {}) is manifest
