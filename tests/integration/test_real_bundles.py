"""Published operators, installed and updated on a real API server.

Shapes: many CRDs (flux 13; external-secrets 17), several deployments (flux 6), large CRDs
(3scale 600 KB, prometheus), bundles that watch their own namespace only. One of each shape; `make
faults` has the others.
"""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from api.objects import ObjectKey, annotations_of, key_of, labels_of, name_of
from e2e.harness.images import bundle_image, catalog_image, read_folder
from e2e.harness.registry import Registry
from e2e.olm.api import Api, catalog_path, extension_path
from e2e.olm.fbc import bundle_facts, catalog_files, package_blobs, version_of
from e2e.olm.manifests import catalog, with_administrator
from e2e.olm.programs import Olm
from olm_content.bundle.reader import load
from olm_content.render.install import InstallRequest, install_objects
from olm_content.render.kinds import placed
from olm_content.render.options import CertificateProvider

pytestmark = pytest.mark.corpus

CATALOG = "real"
LABEL = "olm.operatorframework.io/metadata.name"
SECONDS = 300.0
LEFT_ALONE_SECONDS = 3.0
"""In which a role that two set in turn had dozens of versions."""


@dataclass(frozen=True, slots=True)
class Case:
    """A package and two of its versions.

    `own_namespace`: it has to be told to watch its own namespace. `unsafe`: the update changes
    CustomResourceDefinitions in ways that the check refuses.
    """

    package: str
    first: str
    second: str
    own_namespace: bool = False
    unsafe: bool = False


SAMPLE = (
    Case("prometheus", "0.47.0", "0.56.3", own_namespace=True, unsafe=True),
    Case("3scale-community-operator", "0.10.1", "0.11.0"),  # needs a kind that prometheus brings
    Case("flux", "2.2.2", "2.3.0", unsafe=True),
    Case("kube-green", "0.6.0", "0.7.0"),  # webhooks, and a role whose rules Kubernetes fills in
)
OTHERS = (
    Case("ack-s3-controller", "1.9.0", "1.10.0"),
    Case("apicurito", "1.0.2", "1.0.3", own_namespace=True),
    Case("cat-facts-operator", "1.1.1", "1.1.2", own_namespace=True),
    Case("etcd", "0.9.2", "0.9.4", own_namespace=True),
    Case("external-secrets-operator", "0.10.7", "0.11.0", unsafe=True),
    Case("hawtio-operator", "1.1.1", "1.2.0", own_namespace=True),
    Case("keycloak-operator", "26.7.0", "26.7.1"),
    Case("mariadb-operator", "26.3.0", "26.6.0", unsafe=True),
    Case("oadp-operator", "0.5.5", "0.5.6", own_namespace=True),
    Case("project-quay", "3.17.4", "3.18.0", unsafe=True),
    Case("strimzi-kafka-operator", "1.1.0", "1.2.0"),
)


@contextmanager
def served(cases: Sequence[Case], corpus: Path, olm: Olm, registry: Registry) -> Iterator[None]:
    """A catalog of cases, served; the extensions are deleted at the end."""
    packages = []
    for case in cases:
        folders = [corpus / "bundles" / case.package / v for v in (case.first, case.second)]
        pushed = [registry.push(bundle_image(f), f"real/{case.package}") for f in folders]
        facts = [bundle_facts(f, p.reference) for f, p in zip(folders, pushed, strict=True)]
        packages.append(package_blobs(facts))
    image = registry.push(catalog_image(catalog_files(packages)), "real/catalog", tag="latest")
    olm.control_plane.apply(catalog(CATALOG, image.tag_reference))
    with Api(olm.control_plane) as api:
        api.wait_condition(catalog_path(CATALOG), "Serving", "True")
    yield
    olm.control_plane.end(catalog_path(CATALOG))
    for case in cases:
        olm.control_plane.remove(extension_path(case.package))


@pytest.fixture(scope="module")
def sample(corpus: Path, olm: Olm, registry: Registry) -> Iterator[None]:
    """The catalog of the sample."""
    with served(SAMPLE, corpus, olm, registry):
        yield


@pytest.fixture(scope="module")
def others(corpus: Path, olm: Olm, registry: Registry) -> Iterator[None]:
    """The catalog of the others."""
    with served(OTHERS, corpus, olm, registry):
        yield


def shown(case: Case) -> str:
    return case.package


@pytest.mark.integration
@pytest.mark.parametrize("case", SAMPLE, ids=shown)
@pytest.mark.usefixtures("sample")
def test_installs_and_updates(case: Case, corpus: Path, olm: Olm, api: Api) -> None:
    installs_and_updates(case, corpus, olm, api)


@pytest.mark.faults
@pytest.mark.parametrize("case", OTHERS, ids=shown)
@pytest.mark.usefixtures("others")
def test_others_install_and_update(case: Case, corpus: Path, olm: Olm, api: Api) -> None:
    installs_and_updates(case, corpus, olm, api)


def installs_and_updates(case: Case, corpus: Path, olm: Olm, api: Api) -> None:
    bundles = corpus / "bundles" / case.package
    olm.control_plane.apply(manifest(case))
    api.wait_installed(case.package, version_of(bundles / case.first), timeout=SECONDS)
    before = expected_objects(case, bundles / case.first)
    assert_all_there(olm, before, case.package, revision="1")
    assert_left_alone(api, case.package)

    wanted = version_of(bundles / case.second)
    path = extension_path(case.package)
    api.patch(path, {"spec": {"source": {"catalog": {"version": wanted}}}})
    if case.unsafe:
        refused = "failed upgrade safety validation"
        found = api.wait_condition(path, "Progressing", "True", message=refused)
        assert found["status"]["install"]["bundle"]["version"] == version_of(bundles / case.first)
        api.patch(path, UNCHECKED)
    api.wait_installed(case.package, wanted, timeout=SECONDS)
    after = expected_objects(case, bundles / case.second)
    assert_all_there(olm, after, case.package, revision="2")
    for key in before - after:
        api.wait(
            f"{OBJECT_PATHS[key.gvk.kind]}".format(namespace=key.namespace, name=key.name),
            lambda obj: obj is None,
            what=f"{key} is pruned",
        )


UNCHECKED = {"spec": {"install": {"preflight": {"crdUpgradeSafety": {"enforcement": "None"}}}}}

OBJECT_PATHS = {
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles/{name}",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/{name}",
    "Role": "/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/roles/{name}",
    "RoleBinding": "/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/rolebindings/{name}",
    "ConfigMap": "/api/v1/namespaces/{namespace}/configmaps/{name}",
    "Service": "/api/v1/namespaces/{namespace}/services/{name}",
    "ServiceAccount": "/api/v1/namespaces/{namespace}/serviceaccounts/{name}",
    "Deployment": "/apis/apps/v1/namespaces/{namespace}/deployments/{name}",
    "CustomResourceDefinition": ("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}"),
}
"""Where objects are that an update may drop."""


def manifest(case: Case) -> str:
    text = with_administrator(case.package, case.first)
    if case.own_namespace:
        config = f"  config: {{configType: Inline, inline: {{watchNamespace: {case.package}}}}}\n"
        text = text.replace("  source:\n", f"{config}  source:\n")
    selector = f"selector: {{matchLabels: {{{LABEL}: {CATALOG}}}}}"
    return text.replace("packageName:", f"{selector}, packageName:")


def expected_objects(case: Case, folder: Path) -> set[ObjectKey]:
    config = {"watchNamespace": case.package} if case.own_namespace else None
    request = InstallRequest(
        install_namespace=case.package,
        config=config,
        certificate_provider=CertificateProvider.SELF,
    )
    return {key_of(placed(obj)) for obj in install_objects(load(read_folder(folder)), request)}


def assert_all_there(olm: Olm, keys: set[ObjectKey], owner: str, *, revision: str) -> None:
    """Every object exists, is labelled, and was applied by that revision."""
    kinds = ",".join(sorted({_plural(key) for key in keys}))
    label = f"olm.operatorframework.io/owner-name={owner}"
    listed = olm.control_plane.kubectl("get", kinds, "-A", "-l", label, "-o", "json")
    items = {_identity(key_of(obj)): obj for obj in json.loads(listed)["items"]}
    for key in keys:
        obj = items.get(_identity(key))
        assert obj is not None, f"{key} is missing"
        assert labels_of(obj)["olm.operatorframework.io/owner-kind"] == "ClusterExtension"
        assert annotations_of(obj)["olm.operatorframework.io/revision"] == revision, key


def assert_left_alone(api: Api, owner: str) -> None:
    """Rules of aggregated roles are those of Kubernetes: nobody sets them to and fro."""
    roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    aggregated = [
        f"{roles}/{name_of(role)}"
        for role in api.list(roles, f"olm.operatorframework.io/owner-name={owner}")
        if role.get("aggregationRule")
    ]
    filled = [
        api.wait(path, lambda role: bool((role or {}).get("rules")), what=f"{path} has rules")
        for path in aggregated
    ]
    if filled:
        time.sleep(LEFT_ALONE_SECONDS)
    assert [api.get(path) for path in aggregated] == filled


def _identity(key: ObjectKey) -> tuple[str, str, str]:
    return key.gvk.kind, key.namespace, key.name


def _plural(key: ObjectKey) -> str:
    group = f".{key.gvk.group}" if key.gvk.group else ""
    return f"{key.gvk.kind.lower()}s{group}"
