"""The commands of how-tos of OLM Classic that are about several of its parts."""

import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.harness.registry import Registry
from e2e.olm.bundles import BundleSpec
from e2e.olm.classic import SYSTEM_NAMESPACE, Classic, Place
from e2e.olm.csvs import deployment
from e2e.olm.fbc import package_blobs
from e2e.olm.pages import DOCS, steps
from e2e.olm.reader import Reader

pytestmark = pytest.mark.integration

NOBODY = "127.0.0.1:9"
"""Where no catalog is served."""


@pytest.fixture
def names(olm: Classic) -> Iterator[dict[str, str]]:
    """Of the namespaces of the pages those of the test."""
    pages = ("cluster-wide", "far-away", "my-team", "team-red")
    names = {name: f"{name}-{secrets.token_hex(3)}" for name in pages}
    yield names
    olm.control_plane.kubectl(
        "delete", "namespace", *names.values(), "--ignore-not-found", "--wait=false"
    )


def test_troubleshooting(
    olm: Classic, names: dict[str, str], registry: Registry, tmp_path: Path
) -> None:
    own = {"targetNamespaces": [names["my-team"]]}
    team, far = olm.place(name=names["my-team"], group=own), olm.place(name=names["far-away"])
    bundle = BundleSpec(package="walk", version="1.0.0").publish(registry)
    team.catalog("operators", package_blobs([bundle]))
    team.subscribe("walk", source="operators", channel="beta")
    team.wait_condition("subscriptions", "walk", "ResolutionFailed")
    required = [{"name": "things.lost.example.com", "version": "v1", "kind": "Thing"}]
    team.csv("lost.v1.0.0", deployments=["lost"], required=required)
    image = "registry.example.com/stuck:v1"
    olm.stand_ins.nodes.waiting[image] = ("ImagePullBackOff", "there is none")
    team.csv("stuck.v1.0.0", deployments=[deployment("stuck", image=image)])
    far.create(
        "operators.coreos.com/v1alpha1",
        "CatalogSource",
        "far",
        {"sourceType": "grpc", "address": NOBODY},
    )
    team.wait_reason("lost.v1.0.0", "RequirementsNotMet")
    team.wait(
        "clusterserviceversions",
        "stuck.v1.0.0",
        lambda obj: "ImagePullBackOff" in str((obj.get("status") or {}).get("message")),
    )
    far.wait_catalog("far", "TRANSIENT_FAILURE")
    reader = Reader(tmp_path, olm.control_plane, names=names)
    reader.follow(steps(DOCS / "classic" / "troubleshooting.md"))


class Owning(BundleSpec):
    """One whose ClusterServiceVersion lists the CRD that the bundle brings."""

    def _csv(self) -> dict[str, Any]:
        csv = super()._csv()
        owned = {"name": f"things.{self.crd_group}", "version": "v1", "kind": "Thing"}
        csv["spec"]["customresourcedefinitions"] = {"owned": [owned]}
        return csv


def test_administer(
    olm: Classic, names: dict[str, str], registry: Registry, tmp_path: Path
) -> None:
    """The CRD stays when an operator is uninstalled."""
    hello = [
        Owning(package="hello", version=version, crd_group="hello.example.com")
        for version in ("1.0.0", "1.1.0")
    ]
    paint = [
        BundleSpec(package="paint", version=version, modes=["OwnNamespace", "SingleNamespace"])
        for version in ("1.0.0", "1.1.0")
    ]
    packages = ([each.publish(registry) for each in bundles] for bundles in (hello, paint))
    everywhere = Place(olm, SYSTEM_NAMESPACE)
    everywhere.catalog("my-operators", [blob for each in packages for blob in package_blobs(each)])
    (tmp_path / "company-ca.pem").write_text("-")
    reader = Reader(tmp_path, olm.control_plane, names=names)
    try:
        reader.follow(
            [step for step in steps(DOCS / "classic" / "administer.md") if not step.minutes]
        )
    finally:
        everywhere.delete("catalogsources", "my-operators")


def test_webhooks_and_api_services(olm: Classic, names: dict[str, str], tmp_path: Path) -> None:
    olm.place(name=names["my-team"], group={"targetNamespaces": [names["my-team"]]})
    reader = Reader(tmp_path, olm.control_plane, names=names)
    made, rotated = steps(DOCS / "classic" / "webhooks-and-api-services.md")
    reader.follow([made])
    time.sleep(1)  # the certificate is older than what is asked for
    reader.follow([rotated])
