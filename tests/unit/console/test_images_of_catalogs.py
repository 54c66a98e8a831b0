"""Files of the machine that a console runs on are no catalogs, and no images of bundles."""

from pathlib import Path

import pytest
import yaml

from console.orders import Asked, find_order
from olm_client.bundle_files import read_image
from olm_client.crds.source import definitions, definitions_of_image
from olm_client.reach import ClusterOptions, Reach
from olm_runtime.errors import OLMError, TerminalError
from olm_runtime.registry.workstation import Registries

CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "secret-word"},
}


@pytest.mark.parametrize("place", ["crd.yaml", "bundle"])
def test_only_registries_are_asked(tmp_path: Path, place: str) -> None:
    folder = tmp_path / "bundle" / "manifests"
    folder.mkdir(parents=True)
    for file in (folder / "crd.yaml", tmp_path / "crd.yaml"):
        file.write_text(yaml.safe_dump(CRD))
    path = str(tmp_path / place)
    assert "secret-word" in definitions(path, Registries())
    for read in (read_image, definitions_of_image):
        with pytest.raises(OLMError) as raised:
            read(path, Registries())
        assert "secret-word" not in f"{raised.value.message} {raised.value.hint}"


@pytest.mark.parametrize("catalog", ["/etc", "./catalog", "registry.example.com/catalog:v1"])
def test_a_catalog_is_one_of_the_cluster(catalog: str) -> None:
    with pytest.raises(TerminalError, match="there is no ClusterCatalog"):
        find_order("widget", Asked(catalog=catalog), ClusterOptions(Reach("nowhere")))
