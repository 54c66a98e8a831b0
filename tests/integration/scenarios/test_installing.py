"""What users go through when they install, update and recover, as far as no pods are needed.

README.md says which test is which of upstream's scenarios.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from api.objects import KubeObject, condition, labels_of, metadata, name_of
from api.olm.v1 import names
from e2e.olm.api import OLM, Api, catalog_path, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.manifests import installer, namespace, with_administrator
from e2e.olm.programs import SYSTEM_NAMESPACE, Olm
from olm_content.names import ANNOTATION_TARGET_NAMESPACES

pytestmark = pytest.mark.integration

Publish = Callable[..., str]
Serve = Callable[[str, str], None]
Apply = Callable[[str], None]


@pytest.fixture
def apply(olm: Olm, package: str) -> Iterator[Apply]:
    """kubectl apply; the extension of the test is deleted afterwards."""

    def run(manifest: str) -> None:
        olm.control_plane.apply(manifest)

    yield run
    olm.control_plane.remove(extension_path(package))


def change(api: Api, package: str, **spec: Any) -> None:
    api.patch(extension_path(package), {"spec": spec})


def configure(api: Api, package: str, **inline: Any) -> None:
    change(api, package, config={"configType": "Inline", "inline": inline})


def deployment(api: Api, package: str) -> KubeObject:
    found = api.get(f"/apis/apps/v1/namespaces/{package}/deployments/{package}-operator")
    assert found is not None
    return found


def wait_progressing(api: Api, package: str, reason: str, message: str) -> KubeObject:
    """Waits until Progressing has the reason, and the message somewhere in its text."""

    def holds(obj: KubeObject | None) -> bool:
        found = condition(obj, "Progressing") if obj else None
        return bool(found and found["reason"] == reason and message in found["message"])

    found = api.wait(extension_path(package), holds, what=f"{reason}: {message}")
    assert found is not None
    return found


def test_a_bundle_of_two_catalogs_is_refused_until_one_of_them_ranks_higher(
    api: Api, package: str, publish_catalog: Publish, serve_catalog: Serve, apply: Apply
) -> None:
    image = publish_catalog(BundleSpec(package=package, version="1.0.0"))
    first, second = f"{package}-a", f"{package}-b"
    serve_catalog(first, image)
    serve_catalog(second, image)
    apply(with_administrator(package))
    message = f"in multiple catalogs with the same priority [{first} {second}]"
    wait_progressing(api, package, "Retrying", message)
    api.patch(catalog_path(second), {"spec": {"priority": 1}})
    api.wait_installed(package, "1.0.0")


@pytest.mark.parametrize(
    ("modes", "wrong", "message", "right"),
    [
        (("SingleNamespace",), {}, 'required field "watchNamespace" is missing', "elsewhere"),
        (("OwnNamespace",), {}, 'required field "watchNamespace" is missing', "{own}"),
        (("OwnNamespace",), {"watchNamespace": "elsewhere"}, 'must be "{own}"', "{own}"),
        (
            ("SingleNamespace",),
            {"watchNamespace": "Not_A_Name"},
            'field "watchNamespace" must match pattern',
            "elsewhere",
        ),
        (
            ("AllNamespaces",),
            {"watchNamespace": "elsewhere"},
            'unknown field "watchNamespace"',
            None,
        ),
    ],
    ids=["single-missing", "own-missing", "own-other", "no-name", "unsupported"],
)
def test_a_wrong_watch_namespace_is_reported_and_a_right_one_is_watched(
    api: Api,
    package: str,
    publish_catalog: Publish,
    serve_catalog: Serve,
    apply: Apply,
    modes: tuple[str, ...],
    wrong: dict[str, str],
    message: str,
    right: str | None,
) -> None:
    bundle = BundleSpec(package=package, version="1.0.0", modes=modes)
    serve_catalog(package, publish_catalog(bundle))
    apply(with_administrator(package, "9.x"))
    if wrong:
        configure(api, package, **wrong)
    change(api, package, source={"catalog": {"version": "1.x"}})
    wait_progressing(api, package, "InvalidConfiguration", message.format(own=package))
    if right is None:
        change(api, package, config=None)
    else:
        configure(api, package, watchNamespace=right.format(own=package))
    api.wait_installed(package, "1.0.0")
    notes = metadata(deployment(api, package)["spec"]["template"])["annotations"]
    assert notes[ANNOTATION_TARGET_NAMESPACES] == (right or "").format(own=package)


def test_a_deployment_configuration_reaches_the_operator(
    api: Api, package: str, publish_catalog: Publish, serve_catalog: Serve, apply: Apply
) -> None:
    serve_catalog(package, publish_catalog(BundleSpec(package=package, version="1.0.0")))
    apply(with_administrator(package))
    api.wait_installed(package, "1.0.0")
    configure(api, package, deploymentConfig={"nodeSelector": {"disk": "fast"}})

    def selects() -> dict[str, str] | None:
        template = deployment(api, package)["spec"]["template"]
        selector: dict[str, str] | None = template["spec"].get("nodeSelector")
        return selector

    api.wait(extension_path(package), lambda _: selects() == {"disk": "fast"}, what="node selector")
    api.wait_installed(package, "1.0.0")


def test_a_revision_names_its_owner_and_keeps_its_objects_in_immutable_secrets(
    api: Api, package: str, publish_catalog: Publish, serve_catalog: Serve, apply: Apply
) -> None:
    serve_catalog(package, publish_catalog(BundleSpec(package=package, version="1.0.0")))
    apply(with_administrator(package))
    api.wait_installed(package, "1.0.0")
    revision = api.get(f"{OLM}/clusterobjectsets/{package}-1")
    assert revision is not None
    owner = {names.LABEL_OWNER_KIND: names.CLUSTER_EXTENSION, names.LABEL_OWNER_NAME: package}
    assert owner.items() <= labels_of(revision).items()
    secrets = api.list(
        f"/api/v1/namespaces/{SYSTEM_NAMESPACE}/secrets",
        f"{names.LABEL_REVISION_NAME}={package}-1",
    )
    refs = {o["ref"]["name"] for phase in revision["spec"]["phases"] for o in phase["objects"]}
    assert {name_of(secret) for secret in secrets} == refs
    for secret in secrets:
        assert secret["immutable"] is True
        assert secret["type"] == names.SECRET_TYPE_OBJECT_DATA
        assert [r["uid"] for r in metadata(secret)["ownerReferences"]] == [
            metadata(revision)["uid"]
        ]


def test_what_is_no_successor_is_refused_until_it_is_self_certified(
    api: Api, package: str, publish_catalog: Publish, serve_catalog: Serve, apply: Apply
) -> None:
    versions = ("1.0.0", "1.0.1", "1.0.2")
    serve_catalog(
        package, publish_catalog(*(BundleSpec(package=package, version=v) for v in versions))
    )
    apply(with_administrator(package, "1.0.0"))
    api.wait_installed(package, "1.0.0")
    change(api, package, source={"catalog": {"version": "1.0.2"}})
    message = (
        'error upgrading from currently installed version "1.0.0": '
        f'no bundles found for package "{package}" matching version "1.0.2"'
    )
    wait_progressing(api, package, "Retrying", message)
    change(api, package, source={"catalog": {"upgradeConstraintPolicy": "SelfCertified"}})
    api.wait_installed(package, "1.0.2")


class SameOperator(BundleSpec):
    """Has the operator's image of 1.0.0 in every version, so that all objects are the same."""

    def files(self) -> dict[str, bytes]:
        found = BundleSpec.files(self).items()
        image = f"operator:v{self.version}".encode()
        return {path: content.replace(image, b"operator:v1.0.0") for path, content in found}


def test_a_version_in_which_nothing_is_new_is_a_revision_of_its_own(
    api: Api, package: str, publish_catalog: Publish, serve_catalog: Serve, apply: Apply
) -> None:
    specs = (SameOperator(package=package, version=v) for v in ("1.0.0", "1.0.1"))
    serve_catalog(package, publish_catalog(*specs))
    apply(with_administrator(package, "1.0.0"))
    api.wait_installed(package, "1.0.0")
    before = deployment(api, package)["spec"]["template"]
    change(api, package, source={"catalog": {"version": "1.0.1"}})
    api.wait_installed(package, "1.0.1")
    labels = f"olm.operatorframework.io/owner-name={package}"
    versions = {
        name_of(r): metadata(r)["annotations"][names.ANNOTATION_BUNDLE_VERSION]
        for r in api.list(f"{OLM}/clusterobjectsets", labels)
    }
    assert versions == {f"{package}-1": "1.0.0", f"{package}-2": "1.0.1"}
    found = deployment(api, package)
    assert metadata(found)["annotations"]["olm.operatorframework.io/revision"] == "2"
    assert found["spec"]["template"] == before, "its pods need not be made anew"


def test_a_second_extension_collides_in_each_revision_and_the_first_is_left_alone(
    api: Api, package: str, publish_catalog: Publish, serve_catalog: Serve, apply: Apply
) -> None:
    group = f"{package}.example.com"
    bundles = [BundleSpec(package=package, version=v, crd_group=group) for v in ("1.0.0", "1.1.0")]
    serve_catalog(package, publish_catalog(*bundles))
    apply(with_administrator(package, "1.0.0"))
    api.wait_installed(package, "1.0.0")
    change(api, package, source={"catalog": {"version": "1.1.0"}})
    api.wait_installed(package, "1.1.0")
    definition = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.{group}"
    before = api.get(definition), deployment(api, package)["metadata"]["uid"]

    rival = f"{package}-rival"
    apply(with_administrator(package, name=rival))
    collision = f"CustomResourceDefinition 'things.{group}' already exists"
    wait_progressing(api, rival, "Retrying", collision)
    configure(api, rival, deploymentConfig={"nodeSelector": {"disk": "fast"}})
    api.wait_condition(
        f"{OLM}/clusterobjectsets/{rival}-2", "Progressing", "True", message=collision
    )
    archived = f"{OLM}/clusterobjectsets/{rival}-1"
    api.wait_condition(archived, "Progressing", "False", message="revision is archived")
    wait_progressing(api, rival, "Retrying", collision)
    api.wait_installed(package, "1.1.0")
    assert (api.get(definition), deployment(api, package)["metadata"]["uid"]) == before
    api.delete(extension_path(rival))
    api.wait_gone(extension_path(rival))
    assert api.get(definition) == before[0]


def test_an_object_in_the_way_is_named_and_the_install_goes_on_without_it(
    api: Api, package: str, publish_catalog: Publish, serve_catalog: Serve, apply: Apply
) -> None:
    serve_catalog(package, publish_catalog(BundleSpec(package=package, version="1.0.0")))
    map_name = f"{package}-settings"
    foreign = f"""
apiVersion: v1
kind: ConfigMap
metadata: {{name: {map_name}, namespace: {package}}}
"""
    apply("---".join((namespace(package), installer(package), foreign)))
    apply(with_administrator(package))
    wait_progressing(api, package, "Retrying", map_name)
    api.delete(f"/api/v1/namespaces/{package}/configmaps/{map_name}")
    api.wait_installed(package, "1.0.0")


def test_the_spec_may_change_while_its_catalog_is_gone(
    olm: Olm, api: Api, package: str, publish_catalog: Publish, serve_catalog: Serve, apply: Apply
) -> None:
    serve_catalog(package, publish_catalog(BundleSpec(package=package, version="1.0.0")))
    apply(with_administrator(package))
    selector = {"matchLabels": {names.LABEL_METADATA_NAME: package}}
    change(api, package, source={"catalog": {"selector": selector}})
    api.wait_installed(package, "1.0.0")
    olm.control_plane.end(catalog_path(package))
    change(api, package, install={"preflight": {"crdUpgradeSafety": {"enforcement": "None"}}})

    def holds(obj: KubeObject | None) -> bool:
        found = condition(obj, "Progressing") if obj else None
        if obj is None or found is None:
            return False
        seen = found["observedGeneration"] == metadata(obj)["generation"]
        return bool(seen and found["reason"] == "Succeeded")

    api.wait(extension_path(package), holds, what="the new spec is acted on")
