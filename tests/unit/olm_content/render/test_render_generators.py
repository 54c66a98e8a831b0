from typing import Any

import pytest

from olm_content.bundle.files import BundleError
from olm_content.bundle.model import (
    ClusterServiceVersion,
    DeploymentTemplate,
    Permission,
    RegistryV1,
    Webhook,
    WebhookType,
)
from olm_content.render.install import InstallRequest, install_objects
from olm_content.render.names import content_hash, object_name
from olm_content.render.options import CertificateProvider, RenderError, RenderOptions
from olm_content.render.renderer import GENERATORS, render

POD = {
    "containers": [
        {
            "name": "main",
            "volumeMounts": [
                {"name": "old", "mountPath": "/tmp/k8s-webhook-server/serving-certs"},
                {"name": "data", "mountPath": "/data"},
                {"name": "webhook-cert", "mountPath": "/elsewhere"},
            ],
        }
    ],
    "volumes": [{"name": "old", "emptyDir": {}}, {"name": "data", "emptyDir": {}}],
}
TEMPLATE = {"metadata": {"annotations": {"a": "pod"}}, "spec": POD}
SPEC = {"selector": {"matchLabels": {"app": "op"}}, "template": TEMPLATE, "replicas": 1}

CSV = ClusterServiceVersion(
    name="op.v1",
    annotations={"a": "csv", "b": "csv"},
    install_modes=frozenset({"AllNamespaces", "OwnNamespace", "SingleNamespace"}),
    deployments=(DeploymentTemplate("op.main", {"l": "m"}, SPEC),),
    permissions=(Permission("op", ({"verbs": ["get"], "resources": ["pods"]},)),),
    cluster_permissions=(Permission("", ({"verbs": ["list"]},)),),
    webhooks=(),
    owned_crds=("c",),
    owned_api_services=(),
)
CRD: dict[str, Any] = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
CRD |= {"metadata": {"name": "c"}, "spec": {"group": "g"}}
OTHERS = (
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "wrong"}},
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "p"}},
)
BUNDLE = RegistryV1("p", CSV, (CRD,), OTHERS)


def webhook(kind: WebhookType, name: str = "hook-", **fields: Any) -> Webhook:
    return Webhook(kind.value, name, "op.main", fields.get("containerPort", 0), fields)


def with_webhooks(*webhooks: Webhook, modes: frozenset[str] = CSV.install_modes) -> RegistryV1:
    return BUNDLE._replace(csv=CSV._replace(webhooks=webhooks, install_modes=modes))


def rendered(
    bundle: RegistryV1 = BUNDLE, *, watch: str = "", **options: Any
) -> list[dict[str, Any]]:
    return render(
        bundle,
        RenderOptions(install_namespace="install", target_namespaces=(watch,), **options),
    )


def of_kind(kind: str, objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [obj for obj in objects if obj["kind"] == kind]


def pod_spec(objects: list[dict[str, Any]]) -> dict[str, Any]:
    (deployment,) = of_kind("Deployment", objects)
    spec: dict[str, Any] = deployment["spec"]["template"]["spec"]
    return spec


def test_the_list_of_generators_is_complete_and_in_order() -> None:
    assert [generator.__name__ for generator in GENERATORS] == [
        "service_accounts",
        "namespaced_permissions",
        "cluster_permissions",
        "crds",
        "additional_objects",
        "deployments",
        "validating_webhooks",
        "mutating_webhooks",
        "services",
        "certificates",
    ]


@pytest.mark.parametrize(
    ("value", "digest"),
    [
        ("a", "1lu1qv1451mq7gv9upu1cx8ffffi07rel5xvbvvc44dh"),
        (None, "2im0kl1kwvzn46sr4cdtkvmdzrlurvj51xdzhwdht8l0"),
        ({}, "16jfjhihxbzhfhs1k5mimq740kvioi98pfbea9q6qtf9"),
    ],
)
def test_hashes_are_those_of_upstream(value: Any, digest: str) -> None:
    assert content_hash(value) == digest


@pytest.mark.parametrize(
    ("base", "suffix", "name"),
    [
        ("a", "b", "a-b"),
        ("a" * 60, "bcd", f"{'a' * 60}-bcd"),
        ("a" * 61, "bcd", f"{'a' * 59}-bcd"),
    ],
)
def test_names_are_cut_with_upstreams_oddity(base: str, suffix: str, name: str) -> None:
    assert object_name(base, suffix) == name


def test_service_accounts_are_those_named_in_permissions_but_default() -> None:
    accounts = of_kind("ServiceAccount", rendered())
    assert [a["metadata"] for a in accounts] == [{"name": "op", "namespace": "install"}]


def test_permissions_become_roles_in_the_watched_namespace() -> None:
    (role,) = of_kind("Role", rendered(watch="apps"))
    (binding,) = of_kind("RoleBinding", rendered(watch="apps"))
    assert role["metadata"]["namespace"] == binding["metadata"]["namespace"] == "apps"
    assert role["metadata"]["name"].startswith("op.v1-op-")
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "op", "namespace": "install"}]


def test_an_operator_that_watches_all_gets_its_permissions_everywhere() -> None:
    objects = rendered()
    assert of_kind("Role", objects) == []
    default, promoted = of_kind("ClusterRole", objects)
    assert default["metadata"]["name"].startswith("op.v1-default-")
    assert promoted["rules"][-1] == {
        "verbs": ["get", "list", "watch"],
        "apiGroups": [""],
        "resources": ["namespaces"],
    }


def test_additional_objects_move_to_the_install_namespace_if_they_have_one() -> None:
    objects = rendered()
    assert of_kind("ConfigMap", objects)[0]["metadata"] == {"name": "m", "namespace": "install"}
    assert of_kind("PriorityClass", objects)[0]["metadata"] == {"name": "p"}


def test_deployments_are_given_what_to_watch() -> None:
    (deployment,) = of_kind("Deployment", rendered(watch="apps"))
    assert deployment["metadata"] == {
        "name": "op.main",
        "namespace": "install",
        "labels": {"l": "m"},
    }
    assert deployment["spec"]["revisionHistoryLimit"] == 1
    assert deployment["spec"]["template"]["metadata"]["annotations"] == {
        "a": "pod",
        "b": "csv",
        "olm.targetNamespaces": "apps",
        "olm.operatorNamespace": "install",
    }


@pytest.mark.parametrize("provider", list(CertificateProvider))
def test_certificates_replace_what_was_mounted_in_their_place(
    provider: CertificateProvider,
) -> None:
    bundle = with_webhooks(webhook(WebhookType.VALIDATING, "hook"))
    pod = pod_spec(rendered(bundle, certificate_provider=provider))
    assert [volume["name"] for volume in pod["volumes"]] == [
        "data",
        "webhook-cert",
        "apiservice-cert",
    ]
    assert pod["volumes"][1]["secret"]["secretName"] == "op-main-service-cert"
    assert [mount["name"] for mount in pod["containers"][0]["volumeMounts"]] == [
        "data",
        "webhook-cert",
        "apiservice-cert",
    ]


def test_without_webhooks_nothing_is_mounted() -> None:
    assert pod_spec(rendered(certificate_provider=CertificateProvider.SELF)) == POD


@pytest.mark.parametrize(
    ("provider", "caller", "service"),
    [
        (
            CertificateProvider.CERT_MANAGER,
            {"cert-manager.io/inject-ca-from": "install/op-main-service-cert"},
            None,
        ),
        (
            CertificateProvider.OPENSHIFT_SERVICE_CA,
            {"service.beta.openshift.io/inject-cabundle": "true"},
            {"service.beta.openshift.io/serving-cert-secret-name": "op-main-service-cert"},
        ),
        (
            CertificateProvider.SELF,
            {"olm.operatorframework.io/inject-ca-from-secret": "install/op-main-service-cert"},
            {"olm.operatorframework.io/serving-cert-secret-name": "op-main-service-cert"},
        ),
    ],
)
def test_each_provider_is_reported_in_its_own_words(
    provider: CertificateProvider, caller: dict[str, str], service: dict[str, str] | None
) -> None:
    bundle = with_webhooks(webhook(WebhookType.MUTATING, "hook"))
    objects = rendered(bundle, certificate_provider=provider)
    (configuration,) = of_kind("MutatingWebhookConfiguration", objects)
    assert configuration["metadata"]["annotations"] == caller
    assert of_kind("Service", objects)[0]["metadata"].get("annotations") == service
    kinds = {obj["kind"] for obj in objects}
    brought = {
        CertificateProvider.CERT_MANAGER: {"Issuer", "Certificate"},
        CertificateProvider.OPENSHIFT_SERVICE_CA: set(),
        CertificateProvider.SELF: {"Secret"},
    }
    assert kinds & {"Issuer", "Certificate", "Secret"} == brought[provider]


def test_webhook_configurations_say_what_the_definition_says() -> None:
    fields = {"rules": [{"resources": ["x"]}], "sideEffects": "None", "webhookPath": "/v"}
    bundle = with_webhooks(webhook(WebhookType.VALIDATING, "hook", **fields, containerPort=8443))
    (configuration,) = of_kind("ValidatingWebhookConfiguration", rendered(bundle, watch="apps"))
    assert configuration["metadata"] == {"name": "hook", "namespace": "install"}
    assert configuration["webhooks"] == [
        {
            "name": "hook",
            "clientConfig": {
                "service": {
                    "namespace": "install",
                    "name": "op-main-service",
                    "port": 8443,
                    "path": "/v",
                }
            },
            "rules": [{"resources": ["x"]}],
            "sideEffects": "None",
            "namespaceSelector": {
                "matchExpressions": [
                    {"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["apps"]}
                ]
            },
        }
    ]


def test_services_have_each_port_once_in_order() -> None:
    bundle = with_webhooks(
        webhook(WebhookType.VALIDATING, "a", containerPort=9443, targetPort=9000),
        webhook(WebhookType.VALIDATING, "b"),
        webhook(WebhookType.MUTATING, "c"),
    )
    (service,) = of_kind("Service", rendered(bundle))
    assert service["spec"] == {
        "ports": [
            {"name": "443", "port": 443, "targetPort": 443},
            {"name": "9443", "port": 9443, "targetPort": 9000},
        ],
        "selector": {"app": "op"},
    }


ONLY_ALL = frozenset({"AllNamespaces"})


def test_converted_definitions_point_at_their_webhook() -> None:
    hook = webhook(
        WebhookType.CONVERSION, "hook", conversionCRDs=["c"], admissionReviewVersions=["v1"]
    )
    bundle = with_webhooks(hook, modes=ONLY_ALL)
    (crd,) = of_kind(
        "CustomResourceDefinition",
        rendered(bundle, certificate_provider=CertificateProvider.OPENSHIFT_SERVICE_CA),
    )
    assert crd["metadata"]["annotations"] == {"service.beta.openshift.io/inject-cabundle": "true"}
    webhook_part = crd["spec"]["conversion"]["webhook"]
    assert webhook_part["conversionReviewVersions"] == ["v1"]
    assert webhook_part["clientConfig"]["service"] == {
        "namespace": "install",
        "name": "op-main-service",
        "path": "/",
        "port": 0,
    }
    assert "conversion" not in CRD["spec"]


def test_a_converted_definition_may_not_preserve_unknown_fields() -> None:
    hook = webhook(WebhookType.CONVERSION, "hook", conversionCRDs=["c"])
    crd = {**CRD, "spec": {"preserveUnknownFields": True}}
    bundle = with_webhooks(hook, modes=ONLY_ALL)._replace(crds=(crd,))
    with pytest.raises(RenderError, match=r"must have \.spec\.preserveUnknownFields set to false"):
        rendered(bundle)


@pytest.mark.parametrize(
    ("modes", "targets", "fault"),
    [
        ({"OwnNamespace"}, None, "[]: exactly one target namespace must be specified"),
        ({"MultiNamespace"}, None, "[]: at least one target namespace must be specified"),
        (
            {"OwnNamespace"},
            ("",),
            "[]: supported install modes [OwnNamespace] do not support targeting all namespaces",
        ),
        (
            {"SingleNamespace", "AllNamespaces"},
            ("install",),
            (
                "[install]: supported install modes [AllNamespaces SingleNamespace] do not support "
                "targeting own namespace"
            ),
        ),
        (
            {"OwnNamespace"},
            ("a",),
            "[a]: supported install modes [OwnNamespace] do not support target namespaces [a]",
        ),
        (
            {"SingleNamespace"},
            ("a", "b"),
            (
                "[a b]: supported install modes [SingleNamespace] do not support target namespaces "
                "[a b]"
            ),
        ),
    ],
)
def test_target_namespaces_must_fit_the_install_modes(
    modes: set[str], targets: tuple[str, ...] | None, fault: str
) -> None:
    bundle = BUNDLE._replace(csv=CSV._replace(install_modes=frozenset(modes)))
    options = RenderOptions(install_namespace="install", target_namespaces=targets)
    with pytest.raises(RenderError) as error:
        render(bundle, options)
    assert error.value.message == f"invalid option(s): invalid target namespaces {fault}"


def test_all_faults_of_a_bundle_are_reported_at_once() -> None:
    bundle = BUNDLE._replace(package_name="", crds=())
    with pytest.raises(RenderError) as error:
        rendered(bundle)
    assert len(error.value.message.splitlines()) == 2


@pytest.mark.parametrize(
    ("csv", "fault"),
    [
        (CSV._replace(owned_api_services=("s",)), "apiServiceDefintions are not supported"),
        (
            CSV._replace(webhooks=(webhook(WebhookType.VALIDATING),)),
            "webhookDefinitions are not supported",
        ),
        (
            CSV._replace(install_modes=frozenset({"MultiNamespace"})),
            (
                "bundle must support at least one of [AllNamespaces SingleNamespace OwnNamespace] "
                "install modes"
            ),
        ),
    ],
)
def test_what_cannot_be_installed_at_all_is_refused_first(
    csv: ClusterServiceVersion, fault: str
) -> None:
    request = InstallRequest(install_namespace="install", config={"unknown": 1})
    with pytest.raises(BundleError) as error:
        install_objects(BUNDLE._replace(csv=csv), request)
    assert error.value.message == f"unsupported bundle: {fault}"


REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

CONFIG_CASES: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    (
        "env is overridden by name where it stands, else added",
        {"containers": [{"name": "c", "env": [{"name": "A", "value": "1"}, {"name": "B"}]}]},
        {"env": [{"name": "A", "value": "2"}, {"name": "C"}]},
        {
            "containers": [
                {"name": "c", "env": [{"name": "A", "value": "2"}, {"name": "B"}, {"name": "C"}]}
            ]
        },
    ),
    (
        "envFrom is added unless it is there",
        {"containers": [{"name": "c", "envFrom": [{"prefix": "a"}]}]},
        {"envFrom": [{"prefix": "a"}, {"prefix": "b"}]},
        {"containers": [{"name": "c", "envFrom": [{"prefix": "a"}, {"prefix": "b"}]}]},
    ),
    (
        "volumes and mounts are overridden by name",
        {"volumes": [{"name": "v", "emptyDir": {}}], "containers": [{"name": "c"}]},
        {
            "volumes": [{"name": "v", "secret": {}}],
            "volumeMounts": [{"name": "v", "mountPath": "/v"}],
        },
        {
            "volumes": [{"name": "v", "secret": {}}],
            "containers": [{"name": "c", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}],
        },
    ),
    (
        "tolerations are added unless they are there",
        {"tolerations": [{"key": "a"}]},
        {"tolerations": [{"key": "a"}, {"key": "b"}]},
        {"tolerations": [{"key": "a"}, {"key": "b"}]},
    ),
    (
        "resources are replaced in every container",
        {"containers": [{"name": "c", "resources": {"limits": {"cpu": "1"}}}, {"name": "d"}]},
        {"resources": {"requests": {"cpu": "1"}}},
        {
            "containers": [
                {"name": "c", "resources": {"requests": {"cpu": "1"}}},
                {"name": "d", "resources": {"requests": {"cpu": "1"}}},
            ]
        },
    ),
    (
        "an empty node selector replaces",
        {"nodeSelector": {"a": "b"}},
        {"nodeSelector": {}},
        {"nodeSelector": {}},
    ),
    (
        "an empty affinity removes all",
        {"affinity": {"nodeAffinity": {"x": 1}}},
        {"affinity": {}},
        {},
    ),
    (
        "each field of affinity replaces or, empty, removes its own",
        {"affinity": {"nodeAffinity": {PREFERRED: [1]}, "podAffinity": {REQUIRED: [2]}}},
        {"affinity": {"nodeAffinity": {}, "podAntiAffinity": {REQUIRED: [3]}}},
        {"affinity": {"podAffinity": {REQUIRED: [2]}, "podAntiAffinity": {REQUIRED: [3]}}},
    ),
    (
        "node affinity without terms is empty",
        {"affinity": {"nodeAffinity": {PREFERRED: [1]}}},
        {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": []}}}},
        {},
    ),
    (
        "the last of several of a name is replaced, new ones are all added",
        {"volumes": [{"name": "a", "x": 1}, {"name": "a", "x": 2}]},
        {"volumes": [{"name": "a", "x": 3}, {"name": "b", "x": 4}, {"name": "b", "x": 5}]},
        {
            "volumes": [
                {"name": "a", "x": 1},
                {"name": "a", "x": 3},
                {"name": "b", "x": 4},
                {"name": "b", "x": 5},
            ]
        },
    ),
]


@pytest.mark.parametrize(
    ("pod", "config", "wanted"),
    [case[1:] for case in CONFIG_CASES],
    ids=[case[0] for case in CONFIG_CASES],
)
def test_deployment_config(
    pod: dict[str, Any], config: dict[str, Any], wanted: dict[str, Any]
) -> None:
    template = DeploymentTemplate("op", {}, {"template": {"spec": pod}})
    bundle = BUNDLE._replace(csv=CSV._replace(deployments=(template,)))
    assert pod_spec(rendered(bundle, deployment_config=config)) == wanted


def test_users_annotations_do_not_replace_the_bundles() -> None:
    config = {"annotations": {"a": "user", "c": "user"}}
    (deployment,) = of_kind("Deployment", rendered(deployment_config=config))
    assert deployment["metadata"]["annotations"] == {"a": "user", "c": "user"}
    annotations = deployment["spec"]["template"]["metadata"]["annotations"]
    assert (annotations["a"], annotations["c"]) == ("pod", "user")
