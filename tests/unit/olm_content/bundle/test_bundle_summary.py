"""What `olm bundle show` says of bundles whose authors made mistakes."""

from typing import Any

import pytest

from olm_content.bundle.summary import summary
from tests.unit.olm_content.bundle.test_bundle_loader import CSV, files


@pytest.mark.parametrize(
    "content",
    [
        {"dependencies": True},
        {"dependencies": 1.5},
        {"dependencies": {"type": "olm.gvk"}},
        {"dependencies": [{"type": ["olm.gvk"]}, {"type": {"a": "b"}}, "olm.gvk", None]},
    ],
)
def test_dependencies_of_wrong_types_are_none(content: Any) -> None:
    assert summary(files(metadata__dependencies_yaml=content))["dependencies"] == []


@pytest.mark.parametrize("csv", [{**CSV, "spec": None}, {k: CSV[k] for k in CSV if k != "spec"}])
def test_a_service_version_may_say_nothing(csv: Any) -> None:
    found = summary(files(manifests__csv_yaml=csv))
    assert (found["name"], found["version"], found["installModes"]) == ("example.v1.0.0", "", [])
