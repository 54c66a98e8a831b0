"""`olm bundle` on images in a real registry."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from e2e.harness.registry import Registry
from e2e.olm.bundles import BundleSpec
from olm_cli.bundle import bundle

pytestmark = pytest.mark.integration


def test_bundles_are_read_from_registries(registry: Registry, package: str, tmp_path: Path) -> None:
    spec = BundleSpec(package=package, version="1.2.3", crd_group=f"{package}.example.com")
    image = spec.publish(registry).image
    for name, data in spec.files().items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    access = ["--plain-http"]
    if registry.ca_file is not None:
        access = ["--cas-dir", str(registry.ca_file.parent)]
    shown = CliRunner().invoke(bundle, ["show", image, "-o", "json", *access])
    assert json.loads(shown.output)["version"] == "1.2.3"
    assert CliRunner().invoke(bundle, ["validate", image, *access]).exit_code == 0
    options = ["--install-namespace", "ns", "-o", "json"]
    rendered = CliRunner().invoke(bundle, ["render", image, *options, *access])
    assert rendered.exit_code == 0
    assert rendered.output == CliRunner().invoke(bundle, ["render", str(tmp_path), *options]).output


def test_an_image_that_is_not_there_is_reported_in_a_sentence(
    registry: Registry, package: str
) -> None:
    image = f"{registry.address}/{package}:none"
    result = CliRunner().invoke(bundle, ["validate", image, "--plain-http"])
    assert result.exit_code == 2
    assert image in result.output
