"""What README shows of `olm why` is what it prints."""

import re
from pathlib import Path

from api.olm.v1.clusterextension import BundleMetadata, ClusterExtension
from olm_client.resolution.situation import Situation
from olm_client.why import answer_lines, answer_of
from operator_controller.catalog import build_package
from operator_controller.resolve import CatalogContent
from operator_controller.resolve.change import named

README = Path(__file__).parents[4] / "README.md"
PACKAGE = "hello-operator"
STEPS = [("1.0.0", "0.2.0"), ("0.2.0", "0.1.0"), ("0.1.0", "")]
FAULT = (
    'error upgrading from currently installed version "0.1.0": '
    f'no bundles found for package "{PACKAGE}" matching version "1.x"'
)


def bundle(version: str) -> str:
    return f"{PACKAGE}.v{version}"


def catalog() -> CatalogContent:
    """No step leads from 0.1.0 to 1.0.0."""
    entries = [
        {"name": bundle(version), **({"replaces": bundle(before)} if before else {})}
        for version, before in STEPS
    ]
    channel = {"schema": "olm.channel", "package": PACKAGE, "name": "stable", "entries": entries}
    bundles = [
        {
            "schema": "olm.bundle",
            "package": PACKAGE,
            "name": bundle(version),
            "properties": [
                {"type": "olm.package", "value": {"packageName": PACKAGE, "version": version}}
            ],
        }
        for version, _ in STEPS
    ]
    package = build_package(PACKAGE, [channel, *bundles])
    return CatalogContent(name="my-operators", labels=named("my-operators"), package=package)


def extension() -> ClusterExtension:
    return ClusterExtension.from_object(
        {
            "apiVersion": "olm.operatorframework.io/v1",
            "kind": "ClusterExtension",
            "metadata": {"name": "hello"},
            "spec": {
                "namespace": "hello",
                "serviceAccount": {"name": "hello-installer"},
                "source": {
                    "sourceType": "Catalog",
                    "catalog": {"packageName": PACKAGE, "version": "1.x"},
                },
            },
            "status": {
                "conditions": [
                    {
                        "type": "Progressing",
                        "status": "True",
                        "reason": "Retrying",
                        "message": f"{FAULT}\nconsidered 3 bundles",
                        "lastTransitionTime": "2026-01-01T00:00:00Z",
                    }
                ]
            },
        }
    )


def test_readme_shows_what_is_printed() -> None:
    installed = BundleMetadata(name=bundle("0.1.0"), version="0.1.0")
    situation = Situation(extension(), installed, [catalog()], switched_off=[])
    printed = "\n".join(answer_lines(answer_of(situation, options={})))
    shown = re.search(r"`olm why` explains.*?```text\n(.*?)```", README.read_text(), re.DOTALL)
    assert shown
    assert printed.rstrip() == shown[1].rstrip()
