"""What is stored of a catalog is enough: every real package is the same without the rest."""

from pathlib import Path

import orjson
import pytest

from olm_content.fbc.documents import parse
from olm_content.fbc.needed import needed
from operator_controller.catalog import build_package

pytestmark = pytest.mark.corpus


def test_every_real_package_is_the_same_and_far_smaller(corpus: Path) -> None:
    whole, reduced = 0, 0
    for folder in sorted((corpus / "catalog").iterdir()):
        for file in folder.glob("catalog.*"):
            blobs = [orjson.loads(b.raw) for b in parse(file.read_bytes(), path=file.name)]
            less = [n for blob in blobs if (n := needed(blob, folder.name))]
            assert build_package(folder.name, less) == build_package(folder.name, blobs)
            assert not any(needed(blob, "another-package") for blob in blobs)
            whole += len(orjson.dumps(blobs))
            reduced += len(orjson.dumps(less))
    assert reduced * 20 < whole
