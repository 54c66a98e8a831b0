"""Accounts written by `olm rbac` on a control plane that enforces everything RBAC can ask for.

The API server runs with OwnerReferencesPermissionEnforcement, so the right on the finalizers of the
extension is really needed.
"""

import json
import stat
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from api.objects import KubeObject, condition
from e2e.demo.bundles import own, publish
from e2e.harness.errors import CommandFailed
from e2e.harness.images import bundle_image, catalog_image
from e2e.harness.registry import Registry
from e2e.olm.api import Api, catalog_path, extension_path
from e2e.olm.fbc import bundle_facts, catalog_files, package_blobs
from e2e.olm.manifests import catalog
from e2e.olm.pages import HOW_TO, steps
from e2e.olm.programs import Olm
from e2e.olm.warm import warm_path
from tests.integration.clusters import own_control_plane, own_olm

pytestmark = pytest.mark.integration

HELLO = "hello-operator"
REAL = {
    "kube-green": "0.7.0",  # webhooks, urls
    "cat-facts-operator": "1.1.2",
    "mariadb-operator": "26.3.0",
    "strimzi-kafka-operator": "1.2.0",
    "ack-s3-controller": "1.10.0",
    "etcd": "0.9.4",
}
WATCHES_ITS_OWN = {"cat-facts-operator", "etcd"}

Shell = Callable[[str], subprocess.CompletedProcess[str]]


control_plane = own_control_plane(admission_plugins=("OwnerReferencesPermissionEnforcement",))
olm = own_olm()


@pytest.fixture(scope="module")
def shell(olm: Olm, tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A user's shell with `olm` and `kubectl`, who trusts the registry and catalogd."""
    folder = tmp_path_factory.mktemp("user")
    kubectl = folder / "kubectl"
    program = " ".join(f"'{part}'" for part in olm.control_plane.binaries.kubectl.argv)
    kubectl.write_text(f'#!/bin/sh\nexec {program} "$@"\n')
    kubectl.chmod(kubectl.stat().st_mode | stat.S_IXUSR)
    authorities = folder / "ca.pem"
    files = [olm.catalogs_ca, *olm.registry_cas.iterdir()]
    authorities.write_bytes(b"".join(file.read_bytes() for file in files))
    environment = {
        "PATH": f"{folder}:{warm_path()}",
        "HOME": str(folder),
        "KUBECONFIG": str(olm.control_plane.kubeconfig),
        "SSL_CERT_FILE": str(authorities),
    }

    def run(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/sh", "-ec", command],
            env=environment,
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=180,
        )

    return run


@pytest.fixture(scope="module")
def hello(olm: Olm, registry: Registry) -> None:
    """The catalog that has the operator of the how-to."""
    _serve(olm, registry, "hello", [package_blobs(publish(registry, own()))])


def _serve(
    olm: Olm, registry: Registry, name: str, packages: Iterable[Iterable[Mapping[str, Any]]]
) -> None:
    image = registry.push(catalog_image(catalog_files(packages)), f"least/{name}", tag="latest")
    olm.control_plane.apply(catalog(name, image.tag_reference))
    with Api(olm.control_plane) as api:
        api.wait_condition(catalog_path(name), "Serving", "True")


def printed(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    return done.stdout


def written(shell: Shell, arguments: str) -> list[KubeObject]:
    objects: list[KubeObject] = json.loads(printed(shell(f"olm rbac {arguments} -o json")))["items"]
    return objects


def apply(olm: Olm, objects: list[KubeObject]) -> None:
    olm.control_plane.apply(yaml.safe_dump_all(objects))


def extension(name: str, package: str, namespace: str, **spec: object) -> list[KubeObject]:
    return [
        {
            "apiVersion": "olm.operatorframework.io/v1",
            "kind": "ClusterExtension",
            "metadata": {"name": name},
            "spec": {
                "namespace": namespace,
                "serviceAccount": {"name": f"{name}-installer"},
                "source": {"sourceType": "Catalog", "catalog": {"packageName": package}},
                **spec,
            },
        }
    ]


# The how-to


def commands() -> list[str]:
    return [step.command for step in steps(HOW_TO / "permissions.md")]


@pytest.mark.usefixtures("hello")
def test_the_how_to_does_what_it_says(olm: Olm, shell: Shell) -> None:
    """From a package name to an installed extension in three commands, then an update."""
    install, (check, difference, *update, last) = commands()[:3], commands()[3:]
    with Api(olm.control_plane) as api:
        for command in install:
            printed(shell(command))
        api.wait_installed(HELLO, "0.1.0")
        account = f"system:serviceaccount:{HELLO}:{HELLO}-installer"
        assert printed(shell(check)) == f"{account} may install {HELLO}.v0.1.0\n"
        assert f"{HELLO}.v0.1.0 -> {HELLO}.v0.2.0" in printed(shell(difference))
        for command in update:
            printed(shell(command))
        api.wait_installed(HELLO, "0.2.0")
        api.wait_gone(f"/api/v1/namespaces/{HELLO}/configmaps/{HELLO}-config")
        printed(shell(last))
        printed(shell(check.replace("0.1.0", "0.2.0")))
        assert shell(check).returncode == 1
        api.delete(extension_path(HELLO))
        api.wait_gone(extension_path(HELLO))


# Nothing to spare


@pytest.mark.usefixtures("hello")
def test_without_any_one_rule_nothing_is_installed_until_it_is_granted(
    olm: Olm, shell: Shell
) -> None:
    name = "short"
    objects = written(
        shell, f"{HELLO} --version 0.1.0 --extension {name} --install-namespace {name}"
    )
    wanted = extension(name, HELLO, name)
    wanted[0]["spec"]["source"]["catalog"]["version"] = "0.1.0"
    spots = [(i, j) for i, obj in enumerate(objects) for j, _ in enumerate(obj.get("rules") or ())]
    with Api(olm.control_plane) as api:
        apply(olm, objects)
        for at, left_out in spots:
            rules = objects[at]["rules"]
            short = {**objects[at], "rules": rules[:left_out] + rules[left_out + 1 :]}
            apply(olm, [short])
            asked = (
                f"olm rbac {HELLO} --version 0.1.0 --extension {name} --install-namespace {name}"
            )
            missing = shell(f"{asked} --check {name}-installer")
            assert missing.returncode == 1
            assert "pre-authorization failed: service account requires" in missing.stdout
            apply(olm, [objects[at]])
        apply(olm, [short, *wanted])
        path = extension_path(name)
        refused = api.wait_condition(path, "Progressing", "True", message="pre-authorization")
        reported = condition(refused, "Progressing")
        assert reported is not None
        assert reported["message"].startswith(missing.stdout.strip())
        assert api.get(f"/apis/apps/v1/namespaces/{name}/deployments/{HELLO}") is None
        apply(olm, objects)
        api.wait_installed(name, "0.1.0")
        olm.control_plane.end(path)


@pytest.mark.usefixtures("hello")
def test_an_update_halts_until_it_is_granted_and_goes_on_by_itself(olm: Olm, shell: Shell) -> None:
    name = "halted"
    asked = f"{HELLO} --extension {name} --install-namespace {name}"
    wanted = extension(name, HELLO, name)
    wanted[0]["spec"]["source"]["catalog"]["version"] = "0.1.0"
    path = extension_path(name)
    with Api(olm.control_plane) as api:
        apply(olm, [*written(shell, f"{asked} --version 0.1.0"), *wanted])
        api.wait_installed(name, "0.1.0")
        api.patch(path, {"spec": {"source": {"catalog": {"version": "0.2.0"}}}})
        halted = api.wait_condition(path, "Progressing", "True", message="pre-authorization")
        assert halted["status"]["install"]["bundle"]["version"] == "0.1.0"
        apply(olm, written(shell, f"{asked} --version 0.2.0 --update-from 0.1.0"))
        api.wait_installed(name, "0.2.0")
        api.wait_gone(f"/api/v1/namespaces/{name}/configmaps/{HELLO}-config")
        olm.control_plane.end(path)


def test_owning_needs_the_right_on_finalizers(olm: Olm, namespace: str) -> None:
    """The API server itself refuses an object that blocks its owner's deletion without it."""
    kubectl = olm.control_plane.kubectl
    account = f"--as=system:serviceaccount:{namespace}:default"
    kubectl(
        "create", "role", "maps", "--verb=create,update", "--resource=configmaps", "-n", namespace
    )
    kubectl(
        "create", "rolebinding", "maps", "--role=maps", f"--serviceaccount={namespace}:default",
        "-n", namespace,
    )  # fmt: skip
    owner = {
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterExtension",
        "name": namespace,
        "uid": "00000000-0000-0000-0000-000000000000",
        "controller": True,
        "blockOwnerDeletion": True,
    }
    owned = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "owned", "namespace": namespace, "ownerReferences": [owner]},
    }
    command = ("create", "--dry-run=server", "-f", "-", account)
    with pytest.raises(CommandFailed, match="cannot set blockOwnerDeletion"):
        kubectl(*command, stdin=yaml.safe_dump(owned))
    kubectl(
        "create", "clusterrole", namespace, "--verb=update", f"--resource-name={namespace}",
        "--resource=clusterextensions.olm.operatorframework.io/finalizers",
    )  # fmt: skip
    kubectl(
        "create", "clusterrolebinding", namespace, f"--clusterrole={namespace}",
        f"--serviceaccount={namespace}:default",
    )  # fmt: skip
    for _ in range(50):
        try:
            assert "created" in kubectl(*command, stdin=yaml.safe_dump(owned))
            break
        except CommandFailed:
            time.sleep(0.1)
    else:
        pytest.fail("the right on finalizers does not help")


# Real bundles


@pytest.fixture(scope="module")
def real(corpus: Path, olm: Olm, registry: Registry) -> None:
    packages = []
    for package, version in REAL.items():
        folder = corpus / "bundles" / package / version
        pushed = registry.push(bundle_image(folder), f"least/{package}")
        packages.append(package_blobs([bundle_facts(folder, pushed.reference)]))
    _serve(olm, registry, "real", packages)


@pytest.mark.corpus
@pytest.mark.usefixtures("real")
@pytest.mark.parametrize("package", REAL)
def test_real_bundles_are_installed_by_exactly_what_is_written(
    package: str, olm: Olm, shell: Shell
) -> None:
    asked, spec = package, {}
    if package in WATCHES_ITS_OWN:
        asked += f" --install-namespace {package} --watch-namespace {package}"
        inline = {"watchNamespace": package}
        spec = {"config": {"configType": "Inline", "inline": inline}}
    objects = written(shell, asked)
    name = objects[1]["metadata"]["name"].removesuffix("-installer")
    wanted = extension(name, package, objects[0]["metadata"]["name"], **spec)
    with Api(olm.control_plane) as api:
        apply(olm, objects)
        apply(olm, wanted)
        api.wait_condition(extension_path(name), "Progressing", "True", message="desired state")
        printed(shell(f"olm rbac {asked} --check {name}-installer"))
        olm.control_plane.end(extension_path(name))


# A new user's mistakes


@pytest.mark.usefixtures("hello")
def test_what_goes_wrong_is_reported_with_what_to_do(shell: Shell) -> None:
    absent = shell("olm rbac hello-operatr")
    assert absent.returncode == 1
    assert 'error: no bundles found for package "hello-operatr"\n' in absent.stderr
    assert f"did you mean {HELLO}?" in absent.stderr
    version = shell(f"olm rbac {HELLO} --version 7.x")
    assert "catalog hello has versions 0.2.0, 0.1.0" in version.stderr
    account = shell(f"olm rbac {HELLO} --install-namespace default --check nobody")
    assert account.returncode == 1
    assert 'error: ServiceAccount "nobody" not found in namespace "default"\n' in account.stderr
