"""What the process writes that brings in a catalog which this program serves itself."""

import json
from pathlib import Path

import pytest

from olm_catalogs.io.messages import open_version
from olm_catalogs.io.versions import CorruptContentError
from olm_catalogs.job import Job
from olm_classic.io import catalog_ingest
from olm_runtime.errors import TransientError

RECORDS = [
    {"schema": "olm.package", "name": "p", "defaultChannel": "c"},
    {"schema": "olm.channel", "package": "p", "name": "c", "entries": [{"name": "p.v1"}]},
    {
        "schema": "olm.bundle",
        "package": "p",
        "name": "p.v1",
        "image": "example.com/p:1",
        "properties": [{"type": "olm.package", "value": {"packageName": "p", "version": "1.0.0"}}],
    },
    {"schema": "example.notes", "package": "p", "z": 1, "a": {"y": 1, "b": 2}, "m": 3},
]


def written(folder: Path, *, objects: int = 100) -> Path:
    """The version's folder, of a catalog whose records lie in two files."""
    root, work = folder / "root", folder / "work"
    root.mkdir(parents=True)
    work.mkdir()
    for number, part in enumerate((RECORDS[2:], RECORDS[:2])):
        (root / f"{number}.json").write_text("\n".join(map(json.dumps, part)))
    job = Job(catalog="c", reference="r", cache_dir=str(folder), objects=objects)
    return work.rename(folder / catalog_ingest.write(job, root, work))


def test_the_same_content_has_the_same_version(tmp_path: Path) -> None:
    first, second = (written(tmp_path / name) for name in ("first", "second"))
    assert first.name == second.name
    assert list(open_version(first, verify=True).index.packages) == ["p"]


def test_what_was_changed_is_not_served(tmp_path: Path) -> None:
    folder = written(tmp_path)
    with (folder / "bundles").open("ab") as file:
        file.write(b"x")
    with pytest.raises(CorruptContentError, match="was changed"):
        open_version(folder, verify=True)


def test_objects_and_the_index_that_is_held_of_them_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(TransientError, match="catalog has more than 3 objects"):
        written(tmp_path / "objects", objects=3)
    monkeypatch.setattr(catalog_ingest, "MAX_INDEX_BYTES", 10)
    with pytest.raises(TransientError, match="and may take 10"):
        written(tmp_path / "index")
