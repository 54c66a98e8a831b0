"""What failed is left behind, from a catalog to a running operator, by both programs."""

import secrets
from typing import Any

import pytest
import yaml

from e2e.harness.registry import Registry
from e2e.olm.bundles import BundleSpec
from e2e.olm.classic import Classic
from e2e.olm.fbc import package_blobs

pytestmark = pytest.mark.integration

MANIFEST = "manifests/csv.yaml"
RANGE = ">=1.0.0 <1.2.0"
OWN = ("OwnNamespace",)


class Sick(BundleSpec):
    """One whose Deployment has given up after a second."""

    def files(self) -> dict[str, bytes]:
        files = super().files()
        csv = yaml.safe_load(files[MANIFEST])
        for each in csv["spec"]["install"]["spec"]["deployments"]:
            each["spec"]["progressDeadlineSeconds"] = 1
        return files | {MANIFEST: yaml.safe_dump(csv).encode()}


@pytest.mark.parametrize("by", ["skips", "skipRange"])
def test_a_failed_version_is_left_behind(olm: Classic, registry: Registry, by: str) -> None:
    """By an entry that skips it, or whose range has it while it is in no channel any more."""
    package = f"ff-{secrets.token_hex(4)}"
    image = f"nowhere.example.com/{package}"
    olm.stand_ins.nodes.waiting[image] = ("ImagePullBackOff", "there is none")
    good, bad, best = (
        BundleSpec(package=package, version="1.0.0", modes=OWN).publish(registry),
        Sick(package=package, version="1.1.0", operator=image, modes=OWN).publish(registry),
        BundleSpec(package=package, version="1.2.0", modes=OWN).publish(registry),
    )
    group = {"upgradeStrategy": "TechPreviewUnsafeFailForward", "targetNamespaces": [package]}
    place = olm.place(name=package, group=group)
    server = place.catalog("operators", package_blobs([good]))
    place.subscribe(package, source="operators")
    place.wait_csv(good.name)
    server.serve(package_blobs([good, bad]))
    place.wait_csv(bad.name, "Failed")
    place.wait_csv(good.name, "Replacing")
    listed = [good, best] if by == "skipRange" else [good, bad, best]
    named, channel, *rest = package_blobs(listed)
    newest: dict[str, Any] = {"name": best.name, "replaces": good.name}
    newest[by] = RANGE if by == "skipRange" else [bad.name]
    server.serve([named, {**channel, "entries": [*channel["entries"][:-1], newest]}, *rest])
    place.wait_csv(best.name)
    place.wait_subscription(package, state="AtLatestKnown", installedCSV=best.name)
    for left in (good, bad):
        olm.api.wait_gone(place.path("clusterserviceversions", left.name))
    olm.remove(place.name)
