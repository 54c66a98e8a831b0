"""What `opm render` makes of real bundles is what upstream's tool makes of them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from olm_catalogs.validate import check
from opm.io.references import Reading, read_all, read_reference
from opm.migrate import migrate
from tests.requirements import CORPUS

GOLDENS = sorted((CORPUS / "goldens" / "opm-render").glob("*.json"))
NAME = re.compile(r"(?P<package>.+?)\.(?P<version>[0-9].*?)(?P<migrated>\.csv-metadata)?\.json")

pytestmark = pytest.mark.corpus


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda path: path.stem)
def test_renders_what_upstream_renders(golden: Path) -> None:
    named = NAME.fullmatch(golden.name)
    assert named is not None
    folder = CORPUS / "bundles" / named["package"] / named["version"]
    level = "bundle-object-to-csv-metadata" if named["migrated"] else "none"
    rendered = migrate(read_reference(str(folder), Reading(remark=lambda _: None)), level)
    expected: Any = json.loads(golden.read_text())
    assert [each.value for each in rendered] == [expected]


def test_the_real_catalog_is_valid(corpus: Path) -> None:
    records, unread = read_all(corpus / "catalog")
    assert len(records) > 300
    assert unread == []
    assert [str(fault) for fault in check(records) if not fault.warning] == []
