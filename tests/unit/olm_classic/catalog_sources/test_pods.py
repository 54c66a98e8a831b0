"""The pod of a catalog, and what stands around it."""

from typing import Any

import pytest

from api.objects import KubeObject, labels_of, name_of
from olm_classic.catalog_sources import objects
from olm_classic.catalog_sources.labels import LABEL_POD_HASH, LABEL_UPDATE
from olm_classic.catalog_sources.observed import address_of
from olm_classic.catalog_sources.pods import (
    PodSettings,
    catalog_pod,
    serving_container,
    update_pod,
)
from olm_classic.catalog_sources.status import Findings, Problem, status_of
from olm_classic.catalog_sources.validation import Reason
from olm_classic.hashes import deep_hash
from olm_classic.pull_policy import pull_policy
from tests.unit.olm_classic.catalog_sources.cases import (
    IMAGE,
    NOW,
    SETTINGS,
    pod,
    raw_source,
    source,
)

PROBE = {"grpc": {"port": 50051}, "timeoutSeconds": 5}


def made(
    settings: PodSettings = SETTINGS,
    namespace_labels: dict[str, str] | None = None,
    **how: Any,
) -> KubeObject:
    how = {"image": IMAGE, **how}
    return catalog_pod(
        source(**how),
        raw_source(**how),
        settings,
        namespace_labels=namespace_labels or {},
        account="example",
    )


def test_the_pod_of_an_image() -> None:
    found = made(annotations={"a": "b"})
    assert found["metadata"]["generateName"] == "example-"
    assert found["metadata"]["annotations"] == {
        "a": "b",
        "cluster-autoscaler.kubernetes.io/safe-to-evict": "true",
    }
    assert labels_of(found) == {
        "olm.catalogSource": "example",
        "olm.managed": "true",
        "olm.pod-spec-hash": deep_hash("PodSpec", found["spec"]),
    }
    assert found["spec"] == {
        "containers": [
            {
                "name": "registry-server",
                "image": IMAGE,
                "imagePullPolicy": "Always",
                "ports": [{"name": "grpc", "containerPort": 50051}],
                "readinessProbe": PROBE | {"initialDelaySeconds": 5},
                "livenessProbe": PROBE | {"initialDelaySeconds": 10},
                "startupProbe": PROBE | {"failureThreshold": 10, "periodSeconds": 10},
                "resources": {"requests": {"cpu": "10m", "memory": "50Mi"}},
                "securityContext": {"readOnlyRootFilesystem": False},
                "terminationMessagePolicy": "FallbackToLogsOnError",
            }
        ],
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "serviceAccountName": "example",
        "priorityClassName": "system-cluster-critical",
    }


@pytest.mark.parametrize(
    ("annotation", "config", "expected"),
    [
        (None, None, "system-cluster-critical"),
        (None, "", None),
        (None, "custom", "custom"),
        ("mine", "custom", "mine"),
        ("", "custom", "custom"),
        ("mine", None, "mine"),
    ],
)
def test_the_priority_class(
    annotation: str | None, config: str | None, expected: str | None
) -> None:
    annotations = {} if annotation is None else {"operatorframework.io/priorityclass": annotation}
    spec: dict[str, Any] = (
        {} if config is None else {"grpcPodConfig": {"priorityClassName": config}}
    )
    found = made(annotations=annotations, **spec)
    assert found["spec"].get("priorityClassName") == expected


@pytest.mark.parametrize(
    ("mode", "enforced", "restricted"),
    [
        (None, None, False),
        (None, "baseline", False),
        (None, "restricted", True),
        ("legacy", "restricted", False),
        ("restricted", None, True),
    ],
)
def test_security(mode: str | None, enforced: str | None, restricted: bool) -> None:
    config = {"securityContextConfig": mode} if mode else {}
    labels = {"pod-security.kubernetes.io/enforce": enforced} if enforced else {}
    extract = {"extractContent": {"catalogDir": "/configs"}}
    settings = PodSettings(images=SETTINGS.images, workload_user=1001)
    spec = made(settings, labels, grpcPodConfig=config | extract)["spec"]
    confined = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    for container in [*spec["containers"], *spec["initContainers"]]:
        context = container.get("securityContext", {})
        assert (confined.items() <= context.items()) is restricted
    assert spec.get("securityContext") == (
        {
            "seccompProfile": {"type": "RuntimeDefault"},
            "runAsUser": 1001,
            "runAsNonRoot": True,
        }
        if restricted
        else None
    )


def test_the_rest_of_the_configuration() -> None:
    config = {
        "nodeSelector": {"disk": "fast"},
        "tolerations": [{"key": "a", "operator": "Exists"}],
        "affinity": {"nodeAffinity": {}},
        "memoryTarget": "1Gi",
    }
    found = made(grpcPodConfig=config)["spec"]
    assert {key: found[key] for key in ("nodeSelector", "tolerations", "affinity")} == {
        key: config[key] for key in ("nodeSelector", "tolerations", "affinity")
    }
    container = found["containers"][0]
    assert container["resources"]["requests"] == {"cpu": "10m", "memory": "1Gi"}
    assert container["env"] == [{"name": "GOMEMLIMIT", "value": "1024MiB"}]


@pytest.mark.parametrize("cache", ["", "/tmp/cache"])
def test_content_that_is_extracted(cache: str) -> None:
    extract = {"catalogDir": "/configs"} | ({"cacheDir": cache} if cache else {})
    config = {"extractContent": extract}
    spec = made(grpcPodConfig=config)["spec"]
    server, (utilities, content) = spec["containers"][0], spec["initContainers"]
    assert utilities["image"] == "util:1"
    assert utilities["args"] == ["/bin/copy-content", "/utilities/copy-content"]
    assert content["image"] == IMAGE
    copied = ["--catalog.from=/configs", "--catalog.to=/extracted-catalog/catalog"]
    cached = [f"--cache.from={cache}", "--cache.to=/extracted-catalog/cache"] if cache else []
    assert content["args"] == copied + cached
    assert server["image"] == "opm:1"
    assert server["command"] == ["/bin/opm"]
    assert server["args"] == [
        "serve",
        "/extracted-catalog/catalog",
        *(["--cache-dir=/extracted-catalog/cache"] if cache else []),
    ]
    assert server["securityContext"]["readOnlyRootFilesystem"]
    volumes = {each["name"] for each in spec["volumes"]}
    assert volumes == {"utilities", "catalog-content"} | (set() if cache else {"tmpdir"})
    mounted = {
        mount["name"] for each in (server, utilities, content) for mount in each["volumeMounts"]
    }
    assert mounted == volumes
    assert serving_container(source(image=IMAGE, grpcPodConfig=config)) == "extract-content"


def test_the_pod_of_a_config_map_takes_no_configuration_of_images() -> None:
    spec: dict[str, Any] = {"sourceType": "internal", "configMap": "content", "image": ""}
    config = {"nodeSelector": {"disk": "fast"}, "extractContent": {"catalogDir": "/a"}}
    found = made(**spec, grpcPodConfig=config)
    container = found["spec"]["containers"][0]
    assert container["name"] == "configmap-registry-server"
    assert container["command"] == ["configmap-server", "-c", "content", "-n", "olm"]
    assert found["spec"]["nodeSelector"] == {"kubernetes.io/os": "linux"}
    assert "initContainers" not in found["spec"]


def test_pull_policies() -> None:
    assert pull_policy("r.io/a:v1") == "Always"
    assert pull_policy("r.io/a@sha256:1") == "IfNotPresent"


def test_an_update_pod_gets_no_requests() -> None:
    normal = made()
    update = update_pod(normal)
    assert labels_of(update)["olm.catalogSource"] == ""
    assert labels_of(update)[LABEL_UPDATE] == "example"
    assert labels_of(update)[LABEL_POD_HASH] == labels_of(normal)[LABEL_POD_HASH]
    assert update["spec"] == normal["spec"]


def test_what_stands_around_the_pod_of_an_image() -> None:
    how: dict[str, Any] = {"image": IMAGE, "secrets": ["b", "a"], "name": "my.catalog"}
    found = objects.objects(source(**how), raw_source(**how), ["a", "x-dockercfg-1"])
    by_kind = {(each["kind"], name_of(each)): each for each in found}
    assert set(by_kind) == {
        ("ServiceAccount", "my.catalog"),
        ("Service", "my-catalog"),
        ("NetworkPolicy", "my.catalog-grpc-server"),
        ("NetworkPolicy", "my.catalog-unpack-bundles"),
    }
    secrets = by_kind["ServiceAccount", "my.catalog"]["imagePullSecrets"]
    assert [each["name"] for each in secrets] == ["b", "a", "x-dockercfg-1"]
    service = by_kind["Service", "my-catalog"]
    assert service["spec"]["selector"] == {"olm.catalogSource": "my.catalog"}
    assert labels_of(service).keys() == {"olm.managed", "olm.service-spec-hash"}
    server = by_kind["NetworkPolicy", "my.catalog-grpc-server"]["spec"]
    assert server["ingress"] == [{"ports": [{"protocol": "TCP", "port": 50051}]}]
    assert all(each["metadata"]["ownerReferences"][0]["uid"] == "u1" for each in found)


def test_what_a_config_map_needs_besides() -> None:
    how: dict[str, Any] = {"sourceType": "configmap", "configMap": "content"}
    found = {name_of(each): each for each in objects.objects(source(**how), raw_source(**how))}
    assert found["example-configmap-reader"]["rules"][0]["resourceNames"] == ["content"]
    binding = found["example-server-configmap-reader"]
    assert binding["roleRef"]["name"] == "example-configmap-reader"
    assert binding["subjects"][0]["name"] == "example-configmap-server"


def test_the_address_of_a_pod() -> None:
    assert address_of(pod()) == "10.0.0.1:50051"
    assert address_of(pod(podIP="fd00::1")) == "[fd00::1]:50051"
    assert address_of(pod(ready=False)) == ""
    assert address_of(pod(phase="Failed")) == ""


def test_the_status() -> None:
    problem = Problem(Reason.SPEC_INVALID, "wrong")
    assert status_of(source(), Findings(problem=problem), NOW) == {
        "reason": "SpecInvalidError",
        "message": "wrong",
    }
    found = Findings(created=NOW)
    assert status_of(source(image=IMAGE, name="a.b"), found, NOW) == {
        "registryService": {
            "protocol": "grpc",
            "serviceName": "a-b",
            "serviceNamespace": "olm",
            "port": "50051",
            "createdAt": "2026-01-02T03:04:05Z",
        }
    }
    assert status_of(source(address="a:1"), found, NOW) == {
        "registryService": {"protocol": "grpc", "createdAt": "2026-01-02T03:04:05Z"}
    }
