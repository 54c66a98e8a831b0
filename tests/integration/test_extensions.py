"""The main job, with nothing faked: real API server, registry, HTTPS, both programs."""

import base64
import json
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from api.objects import annotations_of, condition, is_true, labels_of, metadata
from e2e.harness.registry import PasswordAuth, Registry
from e2e.olm.api import Api, catalog_path, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.manifests import (
    catalog,
    extension,
    installer,
    namespace,
    service_account,
    with_administrator,
)
from e2e.olm.programs import Olm

pytestmark = pytest.mark.integration

Serve = Callable[[str, str], None]
Publish = Callable[..., str]
Apply = Callable[[str], None]

RBAC = "/apis/rbac.authorization.k8s.io/v1"
SERVICE_ACCOUNT = "olm.operatorframework.io/service-account-name"


@pytest.fixture
def apply(olm: Olm, package: str) -> Iterator[Apply]:
    """kubectl apply; the extension of the test is deleted afterwards."""

    def run(manifest: str) -> None:
        olm.control_plane.apply(manifest)

    yield run
    olm.control_plane.remove(extension_path(package))


def configmap(package: str, name: str = "settings") -> str:
    return f"/api/v1/namespaces/{package}/configmaps/{package}-{name}"


def deployment(package: str) -> str:
    return f"/apis/apps/v1/namespaces/{package}/deployments/{package}-operator"


def crd(group: str) -> str:
    return f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.{group}"


def test_installs_the_highest_version_in_range_with_labels_and_owner(
    api: Api, package: str, publish_catalog: Publish, serve_catalog: Serve, apply: Apply
) -> None:
    versions = ("1.0.0", "1.1.0", "2.0.0")
    bundles = [BundleSpec(package=package, version=v) for v in versions]
    serve_catalog(package, publish_catalog(*bundles))
    apply(with_administrator(package, "1.x"))
    extension_object = api.wait_installed(package, "1.1.0")
    found = api.get(configmap(package))
    assert found is not None
    labels = labels_of(found)
    assert labels["olm.operatorframework.io/owner-kind"] == "ClusterExtension"
    assert labels["olm.operatorframework.io/owner-name"] == package
    (owner,) = metadata(found)["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["controller"]) == (
        "ClusterExtension",
        package,
        True,
    )
    assert owner["uid"] == metadata(extension_object)["uid"]
    progressing = condition(extension_object, "Progressing")
    assert progressing is not None
    assert progressing["message"] == "desired state reached"
    assert progressing["status"] == "True"


def test_updates_when_the_spec_changes_and_prunes_what_is_no_longer_there(
    api: Api, package: str, publish_catalog: Publish, serve_catalog: Serve, apply: Apply
) -> None:
    first = BundleSpec(package=package, version="1.0.0", configmaps=("settings", "old"))
    second = BundleSpec(
        package=package, version="1.1.0", configmaps=("settings", "new"), data={"key": "changed"}
    )
    serve_catalog(package, publish_catalog(first, second))
    apply(with_administrator(package, "1.0.0"))
    api.wait_installed(package, "1.0.0")
    uid = metadata(api.get(configmap(package)) or {})["uid"]
    apply(extension(package, "1.1.0"))
    api.wait_installed(package, "1.1.0")
    api.wait_gone(configmap(package, "old"))
    changed = api.get(configmap(package))
    assert changed is not None
    assert changed["data"] == {"key": "changed"}
    assert metadata(changed)["uid"] == uid, "the object was replaced, not changed"
    assert api.get(configmap(package, "new")) is not None
    assert _image(api, package) == "registry.example.com/operator:v1.1.0"


def test_updates_by_itself_when_the_catalog_changes(
    api: Api, package: str, publish_catalog: Publish, serve_catalog: Serve, apply: Apply
) -> None:
    first = BundleSpec(package=package, version="1.0.0")
    serve_catalog(package, publish_catalog(first, tag="one"))
    apply(with_administrator(package))
    api.wait_installed(package, "1.0.0")
    second = BundleSpec(package=package, version="1.0.1")
    apply(catalog(package, publish_catalog(first, second, tag="two")))
    api.wait_installed(package, "1.0.1")


def test_restores_what_is_deleted_or_changed_by_hand(
    api: Api, package: str, publish_catalog: Publish, serve_catalog: Serve, apply: Apply
) -> None:
    serve_catalog(package, publish_catalog(BundleSpec(package=package, version="1.0.0")))
    apply(with_administrator(package))
    api.wait_installed(package, "1.0.0")
    before = metadata(api.get(configmap(package)) or {})["uid"]
    api.delete(configmap(package))
    api.wait(
        configmap(package),
        lambda obj: obj is not None and metadata(obj)["uid"] != before,
        what="the ConfigMap is made again",
    )
    patch = {"data": {"key": "by hand"}, "metadata": {"labels": {"mine": "stays"}}}
    api.patch(configmap(package), patch)
    restored = api.wait(
        configmap(package),
        lambda obj: obj is not None and obj["data"] == {"key": "value"},
        what="the ConfigMap is as in the bundle",
    )
    assert labels_of(restored or {})["mine"] == "stays"


def test_content_of_a_revision_that_is_deleted_by_hand_is_made_again(
    api: Api, package: str, publish_catalog: Publish, serve_catalog: Serve, apply: Apply
) -> None:
    serve_catalog(package, publish_catalog(BundleSpec(package=package, version="1.0.0")))
    apply(with_administrator(package))
    api.wait_installed(package, "1.0.0")
    secrets = "/api/v1/namespaces/olmv1-system/secrets"
    labels = f"olm.operatorframework.io/owner-name={package}"
    [lost] = api.list(secrets, labels)
    path = f"{secrets}/{metadata(lost)['name']}"
    api.delete(path)
    api.delete(configmap(package))  # nobody looks before there is something to do
    again = api.wait(path, lambda obj: obj is not None, what="the Secret is made again")
    assert (again or {})["data"] == lost["data"]
    assert (again or {})["immutable"] is True
    api.wait(configmap(package), lambda obj: obj is not None, what="restored")
    api.wait_installed(package, "1.0.0")
    api.wait(path, lambda obj: bool(metadata(obj or {}).get("ownerReferences")), what="owned")


def test_content_of_a_revision_that_somebody_replaced_is_not_applied(
    olm: Olm, api: Api, package: str, publish_catalog: Publish, serve_catalog: Serve, apply: Apply
) -> None:
    serve_catalog(package, publish_catalog(BundleSpec(package=package, version="1.0.0")))
    apply(with_administrator(package))
    api.wait_installed(package, "1.0.0")
    secrets = "/api/v1/namespaces/olmv1-system/secrets"
    [stored] = api.list(secrets, f"olm.operatorframework.io/owner-name={package}")
    name, content = metadata(stored)["name"], stored["data"]
    other = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"{package}-other"}}
    swapped = {
        **stored,
        "metadata": {"name": name, "namespace": "olmv1-system"},
        "data": dict.fromkeys(content, base64.b64encode(json.dumps(other).encode()).decode()),
    }
    olm.stop_operator_controller()  # it would make the content again at once
    api.delete(f"{secrets}/{name}")
    apply(json.dumps({"apiVersion": "v1", "kind": "Secret", **swapped}))
    olm.start_operator_controller()
    api.delete(configmap(package))  # nobody looks before there is something to do
    taken = f"Secret olmv1-system/{name} is to hold content of a revision, but is another"
    api.wait_condition(extension_path(package), "Progressing", "True", message=taken)
    assert api.get(f"/api/v1/namespaces/{package}/configmaps/{package}-other") is None
    api.delete(f"{secrets}/{name}")
    api.wait(configmap(package), lambda obj: obj is not None, what="restored")
    api.wait_installed(package, "1.0.0")
    assert (api.get(f"{secrets}/{name}") or {})["data"] == content


def test_an_extension_whose_object_does_not_go_says_so(
    api: Api, package: str, publish_catalog: Publish, serve_catalog: Serve, apply: Apply
) -> None:
    serve_catalog(package, publish_catalog(BundleSpec(package=package, version="1.0.0")))
    apply(with_administrator(package))
    api.wait_installed(package, "1.0.0")
    api.patch(configmap(package), {"metadata": {"finalizers": ["example.com/stay"]}})
    api.delete(extension_path(package))
    held = f"ConfigMap {package}/{package}-settings is being deleted and waits for the finalizers"
    api.wait_condition(extension_path(package), "Progressing", "True", message=held)
    api.wait_gone(deployment(package))
    api.patch(configmap(package), {"metadata": {"finalizers": None}})
    api.wait_gone(extension_path(package))


def test_deletes_everything_with_the_extension(
    olm: Olm, api: Api, package: str, publish_catalog: Publish, serve_catalog: Serve, apply: Apply
) -> None:
    group = f"{package}.example.com"
    spec = BundleSpec(package=package, version="1.0.0", crd_group=group)
    serve_catalog(package, publish_catalog(spec))
    apply(with_administrator(package))
    api.wait_installed(package, "1.0.0")
    assert api.get(crd(group)) is not None
    api.delete(extension_path(package))
    for path in (extension_path(package), configmap(package), deployment(package), crd(group)):
        api.wait_gone(path)
    labels = f"olm.operatorframework.io/owner-name={package}"
    for path in (
        "/apis/rbac.authorization.k8s.io/v1/clusterroles",
        "/apis/olm.operatorframework.io/v1/clusterobjectsets",
        "/api/v1/namespaces/olmv1-system/secrets",
    ):
        deadline = time.monotonic() + 60
        while left := api.list(path, labels):
            assert time.monotonic() < deadline, left
            time.sleep(0.2)


def test_waits_for_a_missing_namespace_and_a_missing_service_account(
    api: Api, package: str, publish_catalog: Publish, serve_catalog: Serve, apply: Apply
) -> None:
    serve_catalog(package, publish_catalog(BundleSpec(package=package, version="1.0.0")))
    apply(extension(package))
    path = extension_path(package)
    api.wait_condition(path, "Progressing", "True", message=f'Namespace "{package}" not found')
    apply(namespace(package))
    api.wait_condition(path, "Progressing", "True", message='ServiceAccount "installer" not found')
    found = api.wait_condition(path, "Progressing", "True", message="kubectl create serviceaccount")
    assert (condition(found, "Progressing") or {})["reason"] == "Retrying"
    apply(installer(package))
    api.wait_installed(package, "1.0.0")


def test_names_an_image_that_is_not_there_and_heals_when_it_is(
    api: Api,
    registry: Registry,
    package: str,
    publish_catalog: Publish,
    serve_catalog: Serve,
    apply: Apply,
) -> None:
    spec = BundleSpec(package=package, version="1.0.0")
    image = f"{registry.address}/bundles/{package}:v1.0.0"
    serve_catalog(package, publish_catalog(spec.as_published(image)))
    apply(with_administrator(package))
    found = api.wait_condition(extension_path(package), "Progressing", "True", message=image)
    message = (condition(found, "Progressing") or {})["message"]
    assert f'error for resolved bundle "{spec.name}" with version "1.0.0"' in message
    spec.publish(registry)
    api.wait_installed(package, "1.0.0")


def test_names_a_registry_that_cannot_be_reached_and_heals_when_it_can(
    olm: Olm,
    api: Api,
    tmp_path: Path,
    package: str,
    publish_catalog: Publish,
    serve_catalog: Serve,
    apply: Apply,
) -> None:
    with Registry(tmp_path / "registry") as other:
        published = BundleSpec(package=package, version="1.0.0").publish(other)
        assert other.ca_file is not None
        shutil.copyfile(other.ca_file, olm.registry_cas / f"{package}.crt")
        other.stop()
        serve_catalog(package, publish_catalog(published))
        apply(with_administrator(package))
        path = extension_path(package)
        found = api.wait_condition(path, "Progressing", "True", message=published.image)
        assert other.address in (condition(found, "Progressing") or {})["message"]
        other.start()
        api.wait_installed(package, "1.0.0")


def test_pulls_from_a_registry_that_asks_for_a_password(
    olm: Olm,
    api: Api,
    tmp_path: Path,
    package: str,
    publish_catalog: Publish,
    serve_catalog: Serve,
    apply: Apply,
) -> None:
    with Registry(tmp_path / "registry", auth=PasswordAuth()) as locked:
        published = BundleSpec(package=package, version="1.0.0").publish(locked)
        assert locked.ca_file is not None
        shutil.copyfile(locked.ca_file, olm.registry_cas / f"{package}.crt")
        olm.stop_operator_controller()
        olm.start_operator_controller("--global-pull-secret=olmv1-system/pull")
        serve_catalog(package, publish_catalog(published))
        apply(with_administrator(package))
        path = extension_path(package)
        found = api.wait_condition(path, "Progressing", "True", message=published.image)
        assert "hint:" in (condition(found, "Progressing") or {})["message"]
        apply(pull_secret(locked))
        api.wait_installed(package, "1.0.0")
    olm.stop_operator_controller()
    olm.start_operator_controller()


def pull_secret(registry: Registry) -> str:
    document = json.dumps(json.dumps(registry.docker_config()))
    return (
        "{apiVersion: v1, kind: Secret, type: kubernetes.io/dockerconfigjson, "
        "metadata: {name: pull, namespace: olmv1-system}, "
        f"stringData: {{.dockerconfigjson: {document}}}}}"
    )


def test_says_when_a_bundle_has_no_csv(
    api: Api, package: str, publish_catalog: Publish, serve_catalog: Serve, apply: Apply
) -> None:
    broken = BundleSpec(package=package, version="1.0.0", csv=False)
    serve_catalog(package, publish_catalog(broken, tag="one"))
    apply(with_administrator(package))
    text = 'no ClusterServiceVersion found in "manifests"'
    api.wait_condition(extension_path(package), "Progressing", "True", message=text)
    api.wait_condition(extension_path(package), "Installed", "False")
    fixed = BundleSpec(package=package, version="1.0.1")
    apply(catalog(package, publish_catalog(broken, fixed, tag="two")))
    api.wait_installed(package, "1.0.1")


def test_refuses_what_another_extension_owns_and_goes_on_when_it_is_freed(
    olm: Olm,
    api: Api,
    registry: Registry,
    package: str,
    publish_catalog: Publish,
    serve_catalog: Serve,
    apply: Apply,
) -> None:
    group = f"{package}.example.com"
    spec = BundleSpec(package=package, version="1.0.0", crd_group=group)
    serve_catalog(package, publish_catalog(spec))
    apply(with_administrator(package))
    api.wait_installed(package, "1.0.0")
    rival = f"{package}-rival"
    apply(with_administrator(package, name=rival))
    message = (
        f"CustomResourceDefinition 'things.{group}' already exists in namespace '{rival}' "
        "and cannot be managed by operator-controller"
    )
    found = api.wait_condition(extension_path(rival), "Progressing", "True", message=message)
    assert f"it belongs to ClusterExtension '{package}'" in str(found["status"])
    api.wait_condition(extension_path(rival), "Installed", "False")
    api.delete(extension_path(package))
    api.wait_installed(rival, "1.0.0")
    api.delete(extension_path(rival))
    api.wait_gone(crd(group))


@pytest.mark.parametrize("permitted", [True, False])
def test_whose_a_definition_is_counts_more_than_rights_and_unsafe_changes(
    olm: Olm,
    api: Api,
    package: str,
    publish_catalog: Publish,
    serve_catalog: Serve,
    apply: Apply,
    permitted: bool,
) -> None:
    group, rival = f"{package}.example.com", f"{package}-rival"
    first = BundleSpec(package=package, version="1.0.0", crd_group=group)
    serve_catalog(package, publish_catalog(first))
    apply(with_administrator(package))
    api.wait_installed(package, "1.0.0")
    second = BundleSpec(package=rival, version="1.0.0", crd_group=group, crd_type="integer")
    serve_catalog(rival, publish_catalog(second))
    account, binding = installer(rival).split("---")
    reader = binding.replace("name: cluster-admin", f"name: {rival}")
    role = READER.replace("NAME", rival)
    apply("---".join((namespace(rival), account, binding if permitted else role + reader)))
    apply(extension(rival))
    message = (
        f"CustomResourceDefinition 'things.{group}' already exists in namespace '{rival}' "
        "and cannot be managed by operator-controller"
    )
    found = api.wait_condition(extension_path(rival), "Progressing", "True", message=message)
    assert f"it belongs to ClusterExtension '{package}'" in str(found["status"])
    notes = [event["note"] for event in api.events(rival)]
    assert not [note for note in notes if "upgrade safety" in note or "permissions" in note]
    api.delete(extension_path(rival))
    api.delete(extension_path(package))
    api.wait_gone(crd(group))


READER = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NAME}
rules:
- apiGroups: [apiextensions.k8s.io]
  resources: [customresourcedefinitions]
  verbs: [get]
---
"""


def test_says_that_no_service_account_is_given(
    api: Api, package: str, publish_catalog: Publish, serve_catalog: Serve, apply: Apply
) -> None:
    serve_catalog(package, publish_catalog(BundleSpec(package=package, version="1.0.0")))
    text = with_administrator(package).replace("  serviceAccount: {name: installer}\n", "")
    apply(text)
    found = api.wait_condition(extension_path(package), "Progressing", "False")
    blocked = condition(found, "Progressing") or {}
    assert blocked["reason"] == "Blocked"
    assert "spec.serviceAccount.name" in blocked["message"]
    apply(with_administrator(package))
    api.wait_installed(package, "1.0.0")


def test_says_that_an_extension_without_spec_cannot_be_acted_on(
    api: Api, package: str, apply: Apply
) -> None:
    kind = "{apiVersion: olm.operatorframework.io/v1, kind: ClusterExtension"
    apply(f"{kind}, metadata: {{name: {package}}}}}")
    found = api.wait_condition(extension_path(package), "Progressing", "False", message="spec")
    assert (condition(found, "Progressing") or {})["reason"] == "Blocked"


def test_says_which_rights_are_missing_before_writing_and_goes_on_when_they_are_granted(
    api: Api, package: str, publish_catalog: Publish, serve_catalog: Serve, apply: Apply
) -> None:
    serve_catalog(package, publish_catalog(BundleSpec(package=package, version="1.0.0")))
    account, binding = installer(package).split("---")
    apply("---".join((namespace(package), account, extension(package))))
    path = extension_path(package)
    headline = (
        "pre-authorization failed: service account requires the following permissions "
        "to manage cluster extension:\n"
    )
    found = api.wait_condition(path, "Progressing", "True", message=headline)
    message = (condition(found, "Progressing") or {})["message"]
    lines = message.removeprefix(headline).splitlines()
    assert lines == sorted(lines)
    assert (
        f'Namespace:"{package}" APIGroups:[apps] Resources:[deployments] Verbs:[create,list,watch]'
        in message.replace('"apps"', "apps")
    )
    labels = f"olm.operatorframework.io/owner-name={package}"
    assert api.list("/apis/olm.operatorframework.io/v1/clusterobjectsets", labels) == []
    apply(binding)
    api.wait_installed(package, "1.0.0")


def test_refuses_an_update_that_may_not_remove_what_it_drops(
    api: Api, package: str, publish_catalog: Publish, serve_catalog: Serve, apply: Apply
) -> None:
    first = BundleSpec(package=package, version="1.0.0", configmaps=("settings", "old"))
    second = BundleSpec(package=package, version="1.1.0")
    serve_catalog(package, publish_catalog(first, second))
    apply(with_administrator(package, "1.0.0"))
    api.wait_installed(package, "1.0.0")
    api.delete(f"{RBAC}/clusterrolebindings/{package}-installer")
    apply(_account_that_keeps_configmaps(package))
    apply(extension(package, "1.1.0"))
    missing = (
        "pre-authorization failed: service account requires the following permissions to manage "
        f'cluster extension:\n  Namespace:"{package}" APIGroups:[] Resources:[configmaps] '
        f"ResourceNames:[{package}-old] Verbs:[delete]"
    )
    api.wait_condition(extension_path(package), "Progressing", "True", message=missing)
    assert api.get(f"/apis/olm.operatorframework.io/v1/clusterobjectsets/{package}-2") is None
    apply(installer(package).replace(f"{package}-installer", f"{package}-administrator"))
    api.wait_installed(package, "1.1.0")
    api.wait_gone(configmap(package, "old"))


def _account_that_keeps_configmaps(package: str) -> str:
    """Rights for everything in a bundle, but for deleting other ConfigMaps than its settings."""
    every = [
        {"apiGroups": [group], "resources": ["*"], "verbs": ["*"]}
        for group in ("apps", "olm.operatorframework.io", "rbac.authorization.k8s.io")
    ]
    keep = ["get", "list", "watch", "create", "update", "patch"]
    rules = [
        *every,
        {"apiGroups": [""], "resources": ["serviceaccounts"], "verbs": ["*"]},
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": keep},
        {
            "apiGroups": [""],
            "resources": ["configmaps"],
            "resourceNames": [f"{package}-settings"],
            "verbs": ["delete"],
        },
    ]
    return f"""
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {{name: {package}-keeper}}
rules: {json.dumps(rules)}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {{name: {package}-keeper}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {package}-keeper}}
subjects: [{{kind: ServiceAccount, name: installer, namespace: {package}}}]
"""


def test_a_service_account_that_is_no_longer_named_applies_nothing_more(
    olm: Olm, api: Api, package: str, publish_catalog: Publish, serve_catalog: Serve, apply: Apply
) -> None:
    serve_catalog(package, publish_catalog(BundleSpec(package=package, version="1.0.0")))
    apply(with_administrator(package))
    api.wait_installed(package, "1.0.0")
    olm.stop_operator_controller()
    olm.start_operator_controller("--allow-controller-identity")
    api.patch(extension_path(package), {"spec": {"serviceAccount": None}})
    api.wait(
        f"/apis/olm.operatorframework.io/v1/clusterobjectsets/{package}-1",
        lambda obj: obj is not None and SERVICE_ACCOUNT not in annotations_of(obj),
        what="the revision names no account",
    )
    olm.stop_operator_controller()
    olm.start_operator_controller()


def test_an_unresolvable_version_leaves_what_is_installed(
    api: Api, package: str, publish_catalog: Publish, serve_catalog: Serve, apply: Apply
) -> None:
    serve_catalog(package, publish_catalog(BundleSpec(package=package, version="1.0.0")))
    apply(with_administrator(package))
    api.wait_installed(package, "1.0.0")
    apply(extension(package, "9.x"))
    message = (
        'error upgrading from currently installed version "1.0.0": '
        f'no bundles found for package "{package}" matching version "9.x"'
    )
    path = extension_path(package)
    found = api.wait_condition(path, "Progressing", "True", message=message)
    assert (condition(found, "Installed") or {})["status"] == "True"
    assert found["status"]["install"]["bundle"]["version"] == "1.0.0"


def test_a_catalog_that_is_gone_keeps_what_is_installed(
    olm: Olm, api: Api, package: str, publish_catalog: Publish, serve_catalog: Serve, apply: Apply
) -> None:
    serve_catalog(package, publish_catalog(BundleSpec(package=package, version="1.0.0")))
    apply(with_administrator(package).replace("packageName", "selector: {matchLabels: "
          f"{{olm.operatorframework.io/metadata.name: {package}}}}}, packageName"))  # fmt: skip
    api.wait_installed(package, "1.0.0")
    olm.control_plane.end(catalog_path(package))
    api.delete(configmap(package))
    api.wait(configmap(package), lambda obj: obj is not None, what="restored")
    api.wait_installed(package, "1.0.0")


def _image(api: Api, package: str) -> str:
    found = api.get(deployment(package))
    assert found is not None
    (container,) = found["spec"]["template"]["spec"]["containers"]
    return str(container["image"])


def test_an_account_that_goes_while_its_bindings_stay_is_reported(
    olm: Olm,
    api: Api,
    package: str,
    publish_catalog: Publish,
    serve_catalog: Serve,
    apply: Apply,
) -> None:
    serve_catalog(package, publish_catalog(BundleSpec(package=package, version="1.0.0")))
    apply(with_administrator(package, "1.0.0"))
    api.wait_installed(package, "1.0.0")
    api.delete(f"/api/v1/namespaces/{package}/serviceaccounts/installer")
    path = extension_path(package)
    missing = f'ServiceAccount "installer" not found in namespace "{package}"'
    found = api.wait_condition(path, "Progressing", "True", message=missing)
    assert is_true(found, "Installed")
    olm.control_plane.apply(service_account(package, "installer"))
    api.wait_installed(package, "1.0.0")
