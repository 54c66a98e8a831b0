"""CatalogSources as their users have them: what serves them, what comes back, what they say."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from api.objects import KubeObject, annotations_of, condition, labels_of, metadata, name_of
from api.operators.names import V1ALPHA1
from e2e.harness.controlplane import wait_until
from e2e.olm.catalog_servers import digest_of, written
from e2e.olm.classic import Classic, Place, status
from e2e.olm.pages import DOCS, blocks, steps
from e2e.olm.reader import Reader

pytestmark = pytest.mark.integration

IMAGE = "registry.example.com/catalog:v1"
OLD: list[dict[str, Any]] = []
NEW = [{"schema": "example.notes", "name": "new"}]
POLICIES = "networkpolicies"
NETWORKING = "networking.k8s.io/v1"
RBAC = "rbac.authorization.k8s.io/v1"
SERVING, UPDATE = "olm.catalogSource", "catalogsource.operators.coreos.com/update"


@pytest.fixture
def image(classic: Classic, place: Place) -> str:
    """A catalog image of the test's own."""
    reference = f"registry.example.com/{place.name}:v1"
    classic.stand_ins.push(reference, OLD)
    return reference


def create(
    place: Place, name: str, annotations: Mapping[str, str] | None = None, **spec: Any
) -> None:
    meta = {"namespace": place.name, "name": name, "annotations": dict(annotations or {})}
    spec = {"sourceType": "grpc", **spec}
    kind = {"apiVersion": V1ALPHA1, "kind": "CatalogSource"}
    place.apply({**kind, "metadata": meta, "spec": spec})


def pods(place: Place, selector: str) -> list[KubeObject]:
    """Those that stay; the API gives lists no kind."""
    found = place.classic.api.list(place.path("pods", version="v1"), labels=selector)
    return [pod for pod in found if "deletionTimestamp" not in metadata(pod)]


def wait_pod(
    place: Place, selector: str, holds: Callable[[KubeObject], Any] = lambda _: True
) -> KubeObject:
    """The only pod of a selector, once it is as wanted."""
    found: list[KubeObject] = []

    def is_there() -> bool:
        found[:] = pods(place, selector)
        return len(found) == 1 and bool(holds(found[0]))

    wait_until(is_there, what=f"one pod with {selector} in {place.name}")
    return found[0]


def wait_other(place: Place, selector: str, pod: KubeObject) -> KubeObject:
    return wait_pod(place, selector, lambda each: name_of(each) != name_of(pod))


def is_ready(pod: KubeObject) -> bool:
    return condition(pod, "Ready") is not None


def wait_status(
    place: Place, name: str, holds: Callable[[Mapping[str, Any]], Any]
) -> Mapping[str, Any]:
    found = place.wait("catalogsources", name, lambda obj: holds(obj.get("status") or {}))
    said: Mapping[str, Any] = found["status"]
    return said


def test_a_catalog_at_an_address(classic: Classic, place: Place) -> None:
    server, other = place.catalog("far", OLD), classic.serve(NEW)
    found = place.wait_catalog("far")
    assert status(found, "connectionState")["address"] == server.address
    assert set(status(found, "registryService")) == {"createdAt", "protocol"}
    assert not pods(place, SERVING)
    ready = f'catalogsource_ready{{name="far",namespace="{place.name}"}}'
    wait_until(lambda: f"{ready} 1.0" in classic.metrics(), what=ready)

    place.patch("catalogsources", "far", {"spec": {"address": other.address}})
    wait_status(place, "far", lambda now: now["connectionState"]["address"] == other.address)
    place.wait_catalog("far")
    other.stop()
    place.wait_catalog("far", "TRANSIENT_FAILURE")
    wait_until(lambda: f"{ready} 0.0" in classic.metrics(), what=ready)
    other.serve(OLD)
    place.wait_catalog("far")


def test_a_pod_that_is_gone_edited_or_condemned_is_made_again(place: Place, image: str) -> None:
    name, selector = "my.catalog", f"{SERVING}=my.catalog"
    create(place, name, {"team": "a"}, image=image, secrets=["pull"])
    found = place.wait_catalog(name)
    pod = wait_pod(place, selector)
    assert pod["spec"]["priorityClassName"] == "system-cluster-critical"
    assert annotations_of(pod)["team"] == "a"
    address = f"my-catalog.{place.name}.svc:50051"
    assert status(found, "connectionState")["address"] == address
    assert status(found, "registryService") == {
        "createdAt": metadata(pod)["creationTimestamp"],
        "port": "50051",
        "protocol": "grpc",
        "serviceName": "my-catalog",
        "serviceNamespace": place.name,
    }
    account = place.classic.api.get(place.path("serviceaccounts", name, version="v1")) or {}
    assert account["imagePullSecrets"] == [{"name": "pull"}]

    api = place.classic.api
    api.delete(place.path("pods", name_of(pod), version="v1"))
    pod = wait_other(place, selector, pod)
    edited = pod["spec"]["containers"][0] | {"image": "registry.example.com/other:v1"}
    api.patch(place.path("pods", name_of(pod), version="v1"), {"spec": {"containers": [edited]}})
    pod = wait_pod(place, selector, lambda now: name_of(now) != name_of(pod) and is_ready(now))
    assert pod["spec"]["containers"][0]["image"] == image
    conditions = [{"type": "DisruptionTarget", "status": "True"}]
    path = place.path("pods", name_of(pod), version="v1")
    api.patch(f"{path}/status", {"status": {"conditions": conditions}})
    wait_other(place, selector, pod)
    place.wait_catalog(name)


def test_an_address_takes_the_place_of_an_image(classic: Classic, place: Place) -> None:
    missing = "registry.example.com/missing:v1"
    create(place, "moves", image=missing)
    said = wait_status(place, "moves", lambda now: now.get("reason"))
    assert said["reason"] == "RegistryServerError"
    assert said["message"].endswith(f": ImagePullBackOff (image {missing})")

    server = classic.serve(OLD)
    spec = {"address": server.address, "image": None}
    place.patch("catalogsources", "moves", {"spec": spec})
    place.wait_catalog("moves")
    said = wait_status(place, "moves", lambda now: "reason" not in now)
    assert "serviceName" not in said["registryService"]
    assert not pods(place, SERVING)
    for plural, version in (("services", "v1"), ("serviceaccounts", "v1")):
        assert classic.api.get(place.path(plural, "moves", version=version)) is None
    policies = classic.api.list(place.path(POLICIES, version=NETWORKING))
    assert not [each for each in policies if name_of(each).startswith("moves")]


def test_what_stands_around_a_pod_is_restored(place: Place, image: str) -> None:
    create(place, "around", image=image)
    place.wait_catalog("around")
    api = place.classic.api
    for policy in ("around-grpc-server", "around-unpack-bundles"):
        path = place.path(POLICIES, policy, version=NETWORKING)
        wanted = (api.get(path) or {})["spec"]
        api.patch(path, {"spec": {"ingress": [{}], "egress": None}})
        api.wait(path, lambda now: now is not None and now["spec"] == wanted, what=policy)  # noqa: B023
        api.delete(path)
        api.wait(path, lambda now: now is not None and now["spec"] == wanted, what=policy)  # noqa: B023
    path = place.path("services", "around", version="v1")
    api.patch(path, {"spec": {"selector": {"app": "other"}}})
    selector = {SERVING: "around"}
    api.wait(path, lambda now: now is not None and now["spec"]["selector"] == selector, what=path)
    api.delete(path)
    api.wait(path, lambda now: now is not None, what=path)


def test_a_killed_controller_leaves_what_is_healthy_alone(
    classic: Classic, place: Place, image: str
) -> None:
    create(place, "stays", image=image)
    place.wait_catalog("stays")
    before = wait_pod(place, f"{SERVING}=stays")
    service = classic.api.get(place.path("services", "stays", version="v1"))
    for number in range(3):
        create(place, f"begun-{number}", image=image)
    classic.restart(kill=True)
    for number in range(3):
        place.wait_catalog(f"begun-{number}")
        wait_pod(place, f"{SERVING}=begun-{number}")
    place.wait_catalog("stays")
    assert metadata(wait_pod(place, f"{SERVING}=stays")) == metadata(before)
    assert classic.api.get(place.path("services", "stays", version="v1")) == service


def test_a_poll_swaps_pods_where_a_tag_has_new_content(
    classic: Classic, place: Place, image: str
) -> None:
    poll = {"registryPoll": {"interval": "1s"}}
    create(place, "polled", image=image, updateStrategy=poll)
    place.wait_catalog("polled")
    old = wait_pod(place, f"{SERVING}=polled")
    seen = wait_pod(place, f"{UPDATE}=polled")
    assert labels_of(seen)[SERVING] == ""
    wait_status(place, "polled", lambda now: "latestImageRegistryPoll" in now)
    wait_until(
        lambda: name_of(seen) not in map(name_of, pods(place, f"{UPDATE}=polled")),
        what="the update pod is gone",
    )
    assert name_of(wait_pod(place, f"{SERVING}=polled")) == name_of(old)

    classic.stand_ins.push(image, NEW)
    new = wait_other(place, f"{SERVING}=polled", old)
    assert new["status"]["containerStatuses"][0]["imageID"] == digest_of(written(NEW))
    assert labels_of(new)[UPDATE] == ""
    created = metadata(new)["creationTimestamp"]
    wait_status(place, "polled", lambda now: now["registryService"]["createdAt"] == created)
    place.wait_catalog("polled")

    del classic.stand_ins.images[image]
    said = wait_status(place, "polled", lambda now: now.get("reason"))
    assert said["reason"] == "RegistryServerError"
    assert "update pod: ImagePullBackOff" in said["message"]
    assert said["connectionState"]["lastObservedState"] == "READY", "it is served as before"
    place.patch("catalogsources", "polled", {"spec": {"updateStrategy": None}})
    polls = {"reason", "latestImageRegistryPoll"}
    wait_status(place, "polled", lambda now: not polls & now.keys())
    assert [name_of(pod) for pod in pods(place, SERVING)] == [name_of(new)]


UNSET = "configmap name unset: must be set for sourcetype:"
INTERVAL = (
    "error parsing spec.updateStrategy.registryPoll.interval. Using the default value of 15m0s"
    ' instead. Error: time: unknown unit "mError" in duration "45mError.code"'
)
BROKEN: Mapping[str, tuple[Mapping[str, Any], str, str]] = {
    "neither": (
        {},
        "SpecInvalidError",
        "image and address unset: at least one must be set for sourcetype: grpc",
    ),
    "type": ({"sourceType": "nowhere"}, "SpecInvalidError", "unknown sourcetype: nowhere"),
    "map": ({"sourceType": "configmap"}, "SpecInvalidError", f"{UNSET} configmap"),
    "inside": ({"sourceType": "internal"}, "SpecInvalidError", f"{UNSET} internal"),
    "missing": (
        {"sourceType": "configmap", "configMap": "gone"},
        "ConfigMapError",
        'failed to get catalog config map gone: configmaps "gone" not found',
    ),
    "often": (
        {"image": IMAGE, "updateStrategy": {"registryPoll": {"interval": "45mError.code"}}},
        "InvalidIntervalError",
        INTERVAL,
    ),
}


def test_a_catalog_that_cannot_be_served_says_why(classic: Classic, place: Place) -> None:
    classic.stand_ins.push(IMAGE, OLD)
    for name, (spec, _, _) in BROKEN.items():
        create(place, name, **spec)
    for name, (_, reason, message) in BROKEN.items():
        said = wait_status(
            place,
            name,
            lambda now: now.get("reason") == reason,  # noqa: B023
        )
        assert said["message"] == message
    strategy = {"registryPoll": {"interval": "45m"}}
    place.patch("catalogsources", "often", {"spec": {"updateStrategy": strategy}})
    wait_status(place, "often", lambda now: "reason" not in now)
    place.patch("catalogsources", "neither", {"spec": {"address": classic.serve(OLD).address}})
    assert "reason" not in place.wait_catalog("neither")["status"]


def test_templates_follow_the_version_of_the_cluster(classic: Classic, place: Place) -> None:
    version = (classic.api.get("/version") or {})["gitVersion"].removeprefix("v").split(".")
    wanted = f"registry.example.com/catalog:v{version[0]}.{version[1]}"
    template = "registry.example.com/catalog:v{kube_major_version}.{kube_minor_version}"
    create(place, "follows", {"olm.catalogImageTemplate": template})
    unknown = "registry.example.com/catalog:{release}"
    create(place, "odd", {"olm.catalogImageTemplate": unknown}, image=IMAGE)

    assert place.wait_condition("catalogsources", "follows", "ResolvedImage")["message"] == wanted
    found = place.wait("catalogsources", "follows", lambda now: True)
    assert found["spec"]["image"] == wanted
    pod = wait_pod(place, f"{SERVING}=follows")
    assert pod["spec"]["containers"][0]["image"] == wanted

    said = place.wait_condition("catalogsources", "odd", "TemplatesHaveResolved", "False")
    assert said["message"] == (
        "cannot construct catalog image reference, because variable(s) "
        '"{release}" could not be resolved'
    )
    found = place.wait("catalogsources", "odd", lambda now: True)
    assert found["spec"]["image"] == IMAGE
    annotations = {"olm.catalogImageTemplate": None}
    place.patch("catalogsources", "odd", {"metadata": {"annotations": annotations}})
    wait_status(place, "odd", lambda now: "conditions" not in now)


def test_pods_follow_their_configuration(place: Place, image: str) -> None:
    toleration = {"key": "a", "operator": "Exists", "effect": "NoSchedule"}
    config = {
        "priorityClassName": "",
        "nodeSelector": {"disk": "fast"},
        "tolerations": [toleration],
        "securityContextConfig": "restricted",
        "memoryTarget": "100Mi",
        "extractContent": {"catalogDir": "/configs", "cacheDir": "/tmp/cache"},
    }
    create(place, "tuned", image=image, grpcPodConfig=config)
    spec = wait_pod(place, f"{SERVING}=tuned")["spec"]
    assert not spec.get("priorityClassName")
    assert spec["nodeSelector"] == {"disk": "fast"}
    assert toleration in spec["tolerations"]
    assert spec["securityContext"]["runAsNonRoot"]
    assert spec["initContainers"][1]["args"][0] == "--catalog.from=/configs"
    assert spec["containers"][0]["env"] == [{"name": "GOMEMLIMIT", "value": "100MiB"}]
    place.wait_catalog("tuned")
    other = {"priorityClassName": "system-node-critical", "extractContent": None}
    place.patch("catalogsources", "tuned", {"spec": {"grpcPodConfig": other}})
    wait_pod(
        place,
        f"{SERVING}=tuned",
        lambda pod: pod["spec"].get("priorityClassName") == "system-node-critical",
    )


def test_pods_meet_the_standard_that_their_namespace_enforces(place: Place, image: str) -> None:
    label = "pod-security.kubernetes.io/enforce"
    create(place, "free", image=image)
    pod = wait_pod(place, f"{SERVING}=free")
    assert "seccompProfile" not in (pod["spec"].get("securityContext") or {})
    namespace = f"/api/v1/namespaces/{place.name}"
    place.classic.api.patch(namespace, {"metadata": {"labels": {label: "restricted"}}})
    pod = wait_other(place, f"{SERVING}=free", pod)
    assert pod["spec"]["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}

    legacy = {"securityContextConfig": "legacy"}
    create(place, "refused", image=image, grpcPodConfig=legacy)
    said = wait_status(place, "refused", lambda now: now.get("reason"))
    assert said["reason"] == "RegistryServerError"
    assert "couldn't ensure registry server - " in said["message"]
    assert 'violates PodSecurity "restricted:latest"' in said["message"]


@pytest.mark.parametrize("kind", ["configmap", "internal"])
def test_a_catalog_in_a_config_map(place: Place, kind: str) -> None:
    data = {"packages": "[]", "customResourceDefinitions": "[]", "clusterServiceVersions": "[]"}
    content: KubeObject = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"namespace": place.name, "name": "content"},
        "data": data,
    }
    selector, api = f"{SERVING}=old", place.classic.api
    place.apply(content)
    create(place, "old", sourceType=kind, configMap="content")
    pod = wait_pod(place, selector)
    container = pod["spec"]["containers"][0]
    assert container["command"] == ["configmap-server", "-c", "content", "-n", place.name]
    assert pod["spec"]["serviceAccountName"] == "old-configmap-server"
    for plural, name in (
        ("roles", "configmap-reader"),
        ("rolebindings", "server-configmap-reader"),
    ):
        assert api.get(place.path(plural, f"old-{name}", version=RBAC))
    adopted = api.get(place.path("configmaps", "content", version="v1")) or {}
    assert labels_of(adopted)["olm.managed"] == "false"
    said = wait_status(place, "old", lambda now: "configMapReference" in now)
    version = metadata(adopted)["resourceVersion"]
    assert said["configMapReference"]["resourceVersion"] == version

    place.apply(content | {"data": data | {"packages": "[{}]"}})
    second = wait_other(place, selector, pod)
    api.delete(place.path("configmaps", "content", version="v1"))
    place.apply(content)
    wait_other(place, selector, second)


def test_the_page_of_the_documentation(classic: Classic, tmp_path: Path) -> None:
    page = DOCS / "classic" / "catalog-sources.md"
    reader = Reader(tmp_path, classic.control_plane)
    (tmp_path / ".docker").mkdir()
    (tmp_path / ".docker" / "config.json").write_text('{"auths": {}}')
    examples = [block.body for block in blocks(page) if block.info == ("yaml",)]
    (tmp_path / "catalogSource.yaml").write_text(examples[0])
    version = (classic.api.get("/version") or {})["gitVersion"].removeprefix("v").split(".")
    classic.stand_ins.push(f"registry.example.com/my-catalog:v{version[0]}.{version[1]}", OLD)
    reader.follow(steps(page))
    (tmp_path / "elsewhere.yaml").write_text(examples[1])
    done = reader.run("kubectl create --dry-run=server -f elsewhere.yaml")
    assert not done.returncode, done.stderr
