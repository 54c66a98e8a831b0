"""API services of operators: what was there before, what is left, and what they answer."""

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from api.objects import KubeObject, labels_of, name_of
from e2e.harness.ports import free_port
from e2e.olm.classic import Classic, Place, status
from e2e.olm.csvs import deployment
from tests.integration.olm_operator.test_owned_apis import (
    API_SERVICES,
    bundle,
    configurations,
    webhook,
)

pytestmark = pytest.mark.integration

RBAC = "rbac.authorization.k8s.io/v1"
BINDINGS = f"/apis/{RBAC}/clusterrolebindings"
READERS = f"/apis/{RBAC}/namespaces/kube-system/rolebindings"
CSVS = "clusterserviceversions"
ABSENT = "absent.v1.0.0"


def owned(group: str, **more: Any) -> dict[str, Any]:
    described = {"group": group, "version": "v1", "kind": "Thing", "name": "things"}
    return {"owned": [{**described, "deploymentName": "controller", **more}]}


def owner_labels(place: Place, name: str) -> dict[str, str]:
    kind = "ClusterServiceVersion"
    return {"olm.owner": name, "olm.owner.namespace": place.name, "olm.owner.kind": kind}


def group_of(place: Place) -> str:
    return f"{place.name}.example.com"


def named(version: str, kind: str, name: str, labels: dict[str, str], **more: Any) -> KubeObject:
    namespace = more.pop("namespace", "")
    meta = {"name": name, "labels": labels, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": version, "kind": kind, "metadata": meta, **more}


def api_service(place: Place, name: str, labels: dict[str, str]) -> KubeObject:
    version, _, group = name.partition(".")
    spec: dict[str, Any] = {"group": group, "version": version}
    spec |= {"groupPriorityMinimum": 2000, "versionPriority": 15}
    spec["service"] = {"namespace": place.name, "name": "gone-service", "port": 443}
    return named("apiregistration.k8s.io/v1", "APIService", name, labels, spec=spec)


def legacy(place: Place, labels: dict[str, str]) -> dict[str, KubeObject]:
    """What upstream's early releases made for the API service, by the paths of the objects."""
    name, inside = f"v1.{group_of(place)}", {"namespace": place.name}
    cert, service = f"{name}-cert", name.replace(".", "-")
    role: dict[str, Any] = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "none"}
    bound: dict[str, Any] = {"roleRef": role, "subjects": []}
    cluster = {"roleRef": {**role, "kind": "ClusterRole"}, "subjects": []}
    ports = {"ports": [{"port": 443}]}
    secret = {"stringData": {"a": "b"}, **inside}
    system = {**bound, "namespace": "kube-system"}
    delegator, reader = f"{name}-system:auth-delegator", f"{name}-auth-reader"
    return {
        place.path("services", service, version="v1"): named(
            "v1", "Service", service, labels, spec=ports, **inside
        ),
        place.path("secrets", cert, version="v1"): named("v1", "Secret", cert, labels, **secret),
        place.path("roles", cert, version=RBAC): named(
            RBAC, "Role", cert, labels, rules=[], **inside
        ),
        place.path("rolebindings", cert, version=RBAC): named(
            RBAC, "RoleBinding", cert, labels, **bound, **inside
        ),
        f"{BINDINGS}/{delegator}": named(RBAC, "ClusterRoleBinding", delegator, labels, **cluster),
        f"{READERS}/{reader}": named(RBAC, "RoleBinding", reader, labels, **system),
    }


def test_what_earlier_releases_made_goes_if_it_is_its_own(olm: Classic, place: Place) -> None:
    objects = legacy(place, owner_labels(place, "things.v1.0.0"))
    described = owned(group_of(place))
    place.csv("things.v1.0.0", apiservicedefinitions=described, minKubeVersion="99.0.0")
    place.wait_reason("things.v1.0.0", "RequirementsNotMet")  # an owner that is there
    place.apply(*objects.values())
    place.csv("things.v1.0.0", apiservicedefinitions=described)
    place.wait_csv("things.v1.0.0", "Installing")
    for path in objects:
        olm.api.wait_gone(path)


def test_what_earlier_releases_made_stays_if_it_is_of_another(olm: Classic, place: Place) -> None:
    objects = legacy(place, {"olm.owner": "things.v1.0.0"})
    place.apply(*objects.values())
    place.csv("things.v1.0.0", apiservicedefinitions=owned(group_of(place)))
    place.wait_csv("things.v1.0.0", "Installing")
    assert all(olm.api.get(path) for path in objects)
    for path in objects:
        olm.api.delete(path)


def test_what_names_an_owner_that_is_not_there_goes(olm: Classic, place: Place) -> None:
    """Also its binding in kube-system, which names none; what names no owner stays."""
    group, labels = group_of(place), owner_labels(place, ABSENT)
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "none"}
    account = {"kind": "ServiceAccount", "namespace": place.name, "name": "default"}
    reader = named(
        RBAC, "RoleBinding", "gone-service-auth-reader", {},
        namespace="kube-system", roleRef=role, subjects=[account],
    )  # fmt: skip
    orphans = [
        named(RBAC, "ClusterRole", f"{place.name}-orphan", labels, rules=[]),
        named(
            RBAC, "ClusterRoleBinding", f"{place.name}-orphan", labels,
            roleRef={**role, "kind": "ClusterRole"}, subjects=[],
        ),
        api_service(place, f"v2.{group}", labels),
    ]  # fmt: skip
    place.apply(reader, api_service(place, f"v1.{group}", {}), *orphans)
    olm.api.wait_gone(f"{API_SERVICES}/v2.{group}")
    olm.api.wait_gone(f"{BINDINGS}/{place.name}-orphan")
    olm.api.wait_gone(f"/apis/{RBAC}/clusterroles/{place.name}-orphan")
    assert olm.api.get(f"{API_SERVICES}/v1.{group}")
    assert olm.api.get(f"{READERS}/gone-service-auth-reader"), "the other one is served so, too"
    place.apply(api_service(place, f"v1.{group}", labels))
    olm.api.wait_gone(f"{API_SERVICES}/v1.{group}")
    olm.api.wait_gone(f"{READERS}/gone-service-auth-reader")


def test_operators_of_two_namespaces_are_called_the_same(olm: Classic, place: Place) -> None:
    """Upstream gives what they have outside of their namespaces one name, which both find free."""
    other = olm.place(own=True)

    def readers() -> set[str]:
        found = [each for each in olm.api.list(READERS) if "controller-service" in name_of(each)]
        return {each["subjects"][0]["namespace"] for each in found}

    olm.api.wait(READERS, lambda _: not readers(), what="no binding of earlier ones")
    for each in (place, other):
        each.csv("things.v1.0.0", apiservicedefinitions=owned(group_of(each)))
    for each in (place, other):
        each.wait_csv("things.v1.0.0", "Installing")
    olm.api.wait(READERS, lambda _: {place.name, other.name} <= readers(), what="both bindings")
    place.delete(CSVS, "things.v1.0.0")
    olm.api.wait(READERS, lambda _: place.name not in readers(), what="the end of one")
    other.wait_csv("things.v1.0.0", "Installing")
    assert other.name in readers()
    reasons = status(olm.api.get(other.path(CSVS, "things.v1.0.0")) or {}, "conditions")
    assert "APIServiceResourceIssue" not in [each["reason"] for each in reasons]
    other.delete(CSVS, "things.v1.0.0")
    olm.api.wait(READERS, lambda _: other.name not in readers(), what="the end of the other")
    olm.remove(other.name)


def test_a_conflict_about_an_api_service_ends_with_its_owner(olm: Classic, place: Place) -> None:
    other = olm.place(own=True)
    described = owned(group_of(place))
    place.csv("things.v1.0.0", apiservicedefinitions=described)
    place.wait_csv("things.v1.0.0", "Installing")
    other.csv("things.v1.0.0", apiservicedefinitions=described)
    other.wait_reason("things.v1.0.0", "OwnerConflict")
    place.delete(CSVS, "things.v1.0.0")
    other.wait_csv("things.v1.0.0", "Installing")
    found = olm.api.get(f"{API_SERVICES}/v1.{group_of(place)}") or {}
    assert labels_of(found)["olm.owner.namespace"] == other.name
    olm.remove(other.name)


def test_a_secret_that_is_lost_leaves_its_ca_trusted(olm: Classic, place: Place) -> None:
    """Pods serve with what was in it until they are started anew."""
    place.csv(
        "things.v1.0.0",
        apiservicedefinitions=owned(group_of(place)),
        webhookdefinitions=[webhook("check.example.com")],
    )
    place.wait_csv("things.v1.0.0", "Installing")
    path = place.path("secrets", "controller-service-cert", version="v1")
    old = bundle((olm.api.get(path) or {})["data"]["olmCAKey"])

    def trusted() -> set[bytes]:
        [found] = configurations(olm, place, "check.example.com")
        api = olm.api.get(f"{API_SERVICES}/v1.{group_of(place)}") or {}
        configs = [found["webhooks"][0]["clientConfig"], api["spec"]]
        return {bundle(each["caBundle"]) for each in configs}

    olm.api.delete(path)

    def made_anew(secret: KubeObject | None) -> bool:
        now = bundle(((secret or {}).get("data") or {}).get("olmCAKey") or "")
        return bool(now) and now != old and trusted() == {now}

    made = bundle((olm.api.wait(path, made_anew, what="another CA") or {})["data"]["olmCAKey"])
    assert made.endswith(old)
    assert made.count(b"BEGIN") == 2


class Handler(BaseHTTPRequestHandler):
    """Answers all questions with a status."""

    status = 200

    def do_GET(self) -> None:
        listed = {"groupVersion": self.path.removeprefix("/apis/"), "resources": []}
        body = json.dumps({"kind": "APIResourceList", "apiVersion": "v1", **listed}).encode()
        self.send_response(self.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        pass


@contextmanager
def answering(olm: Classic, place: Place, port: int, folder: Path) -> Iterator[type[Handler]]:
    """What the Deployment `controller` would serve at a port, with the certificate it has."""
    secret = olm.api.get(place.path("secrets", "controller-service-cert", version="v1")) or {}
    file = folder / "serving.pem"
    file.write_bytes(bundle(secret["data"]["tls.crt"]) + bundle(secret["data"]["tls.key"]))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    answers = type("Answers", (Handler,), {})
    with ThreadingHTTPServer(("127.0.0.1", port), answers) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        elsewhere = {"type": "ExternalName", "externalName": "localhost", "clusterIP": None}
        service = place.path("services", "controller-service", version="v1")
        olm.api.patch(service, {"spec": elsewhere})
        yield answers
        server.shutdown()


def test_an_api_service_goes_over_to_what_replaces_its_owner(
    olm: Classic, place: Place, tmp_path: Path
) -> None:
    """Until its operator answers it is not there, and when it refuses that is reported."""
    port = free_port()
    described = owned(group_of(place), containerPort=port)
    place.csv("things.v1.0.0", apiservicedefinitions=described)
    csv = place.wait(
        CSVS, "things.v1.0.0", lambda csv: status(csv, "message") == "apiServices not installed"
    )
    assert status(csv, "phase") == "Installing"
    path = f"{API_SERVICES}/v1.{group_of(place)}"
    before = olm.api.get(path) or {}
    with answering(olm, place, port, tmp_path) as answers:
        place.wait_csv("things.v1.0.0")
        place.csv("things.v2.0.0", replaces="things.v1.0.0", apiservicedefinitions=described)
        place.wait_csv("things.v2.0.0")
        olm.api.wait_gone(place.path(CSVS, "things.v1.0.0"))
        after = olm.api.get(path) or {}
        assert labels_of(after)["olm.owner"] == "things.v2.0.0"
        assert after["metadata"]["uid"] == before["metadata"]["uid"], "it was there all the time"
        answers.status = 404

        def has_failed(csv: KubeObject) -> bool:
            reasons = [each["reason"] for each in status(csv, "conditions")]
            return "APIServiceInstallFailed" in reasons

        found = place.wait(CSVS, "things.v2.0.0", has_failed)
        texts = [each.get("message", "") for each in status(found, "conditions")]
        assert any(
            each.startswith("APIService install failed: ") and each.endswith(": 404")
            for each in texts
        )
        answers.status = 200
        place.wait_csv("things.v2.0.0")


def test_two_operators_do_not_share_a_deployment(olm: Classic, place: Place) -> None:
    """The second reports whose it is, and has its own once the first is gone."""
    place.csv("first.v1")
    place.wait_csv("first.v1")
    place.csv("second.v1")
    csv = place.wait_reason("second.v1", "InstallComponentFailed")
    text = (
        "install strategy failed: deployment controller belongs to ClusterServiceVersion first.v1"
    )
    assert status(csv, "message") == text
    path = place.path("deployments", "controller", version="apps/v1")
    before = olm.api.get(path) or {}
    assert labels_of(before)["olm.owner"] == "first.v1"
    place.wait_csv("first.v1")
    place.delete(CSVS, "first.v1")
    place.wait_csv("second.v1")
    after = olm.api.get(path) or {}
    assert labels_of(after)["olm.owner"] == "second.v1"


def test_a_deployment_that_olm_v1_owns_is_refused(olm: Classic, place: Place) -> None:
    """It is left alone and the status says whose it is, until it is gone."""
    owner = {"apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterObjectSet"}
    reference = {**owner, "name": "shop-1", "uid": "uid-of-shop", "controller": True}
    described = deployment("controller")
    meta = {"name": "controller", "namespace": place.name, "ownerReferences": [reference]}
    theirs = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta}
    place.apply({**theirs, "spec": described["spec"]})
    place.csv("ours.v1")
    csv = place.wait_reason("ours.v1", "InstallComponentFailed")
    said = "belongs to ClusterObjectSet shop-1 of OLM v1: an object has one owner"
    assert status(csv, "message") == f"install strategy failed: Deployment controller {said}"
    path = place.path("deployments", "controller", version="apps/v1")
    assert "olm.owner" not in labels_of(olm.api.get(path) or {})
    olm.api.delete(path)
    place.wait_csv("ours.v1")
