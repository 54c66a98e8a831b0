"""Folders are bundles for the catalogs of this machine alone."""

from pathlib import Path

import pytest

from olm_client.catalogs.bundle_source import read_offered
from olm_runtime.errors import TerminalError

REGISTRY = {"plain_http": (), "cas_dir": "", "auth_file": ""}


def test_a_catalog_in_a_folder_may_name_folders(tmp_path: Path) -> None:
    manifests = tmp_path / "bundle" / "manifests"
    manifests.mkdir(parents=True)
    (manifests / "csv.yaml").write_text("kind: ClusterServiceVersion\n")
    (tmp_path / "mine").mkdir()
    options = {**REGISTRY, "catalogs": (str(tmp_path / "mine"), "operators")}
    bundle = str(tmp_path / "bundle")
    assert "manifests/csv.yaml" in read_offered(bundle, "mine", options)
    for catalog in ("operators", "another"):
        with pytest.raises(TerminalError, match="no such folder or file"):
            read_offered(bundle, catalog, options)
