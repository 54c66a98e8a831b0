"""What a folder of default CatalogSources may hold."""

from pathlib import Path

import pytest

from olm_classic.io.default_catalogs import read_default_catalogs
from olm_runtime.errors import TerminalError

CATALOG = """
apiVersion: operators.coreos.com/v1alpha1
kind: CatalogSource
metadata: {name: NAME}
spec: {sourceType: grpc, image: "registry.example.com/catalog:v1"}
"""


def catalog(name: str) -> str:
    return CATALOG.replace("NAME", name)


def test_catalogs_are_sorted_by_name_whatever_file_they_are_in(tmp_path: Path) -> None:
    (tmp_path / "1.yaml").write_text(f"{catalog('b')}---{catalog('c')}")
    (tmp_path / "2.yml").write_text(catalog("a"))
    (tmp_path / "README.md").write_text("no manifest")
    (tmp_path / "..data").mkdir()  # as a mounted ConfigMap has it
    assert [each["metadata"]["name"] for each in read_default_catalogs(tmp_path)] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a: [", "1.yaml: "),
        ("- a", "1.yaml: it is not all CatalogSources"),
        ("{apiVersion: v1, kind: ConfigMap}", "1.yaml: it is not all CatalogSources"),
        (catalog("a").replace("sourceType: grpc", "priority: high"), "spec.priority"),
    ],
)
def test_anything_else_is_reported_with_its_file(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "1.yaml").write_text(text)
    with pytest.raises(TerminalError) as failed:
        read_default_catalogs(tmp_path)
    assert complaint in failed.value.message
    assert "--default-catalogs" in failed.value.hint


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(TerminalError, match="none: No such file"):
        read_default_catalogs(tmp_path / "none")
