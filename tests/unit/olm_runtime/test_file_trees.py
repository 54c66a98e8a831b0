"""Catalogs read by two processes: the same blobs, the same faults, whatever becomes of the other.

In programs of their own, because a test runner has threads and must not be forked.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from olm_content.fbc.documents import FbcError
from olm_content.fbc.files import CatalogFormat
from olm_runtime.file_trees import read_tree

SCRIPT = """
import os, sys
from pathlib import Path
from olm_content.fbc.documents import FbcError
from olm_content.fbc.files import CatalogFormat
from olm_runtime import file_trees

root, fate = Path(sys.argv[1]), sys.argv[2]
forks = []
fork = os.fork
os.fork = lambda: forks.append(fork()) or forks[-1]
if fate == "dies":
    file_trees._Reading.answer = lambda *_: os._exit(9)
file_trees.WORTH_A_PROCESS_BYTES = 10**9 if fate == "alone" else 1


def show(blobs):
    try:
        for blob in blobs:
            print(path, blob.line, blob.raw.decode())
    except FbcError as error:
        print(error)


for path, blobs in file_trees.read_files(root, CatalogFormat(empty_too=True)):
    show(blobs)
assert len(forks) == (fate != "alone"), forks
"""


def read(root: Path, fate: str) -> str:
    command = [sys.executable, "-c", SCRIPT, str(root), fate]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    """Files of all sizes; one is most of the catalog, as `opm render > index.yaml` makes it."""
    for number in range(20):
        text = f"schema: s\nname: n{number}\n---\n" * (number + 1)
        (tmp_path / f"{number}.yaml").write_text(text)
    large = "".join(f"---\nschema: s\nname: x{n}\nwords: {'y' * 99}\n" for n in range(99))
    (tmp_path / "large.yaml").write_text(large)
    (tmp_path / "rows.json").write_text('{"schema": "s"}\n{"schema": "t"} {"schema": "u"}\n' * 30)
    (tmp_path / "empty.yaml").touch()
    return tmp_path


@pytest.mark.parametrize("fate", ["lives", "dies"])
def test_two_processes_read_what_one_reads(catalog: Path, fate: str) -> None:
    alone = read(catalog, "alone")
    assert alone.count("\n") == 210 + 99 + 90
    assert read(catalog, fate) == alone


def test_the_first_fault_of_each_file_is_reported(catalog: Path) -> None:
    for name in ("7.yaml", "large.yaml"):
        with (catalog / name).open("a") as file:
            file.write("---\nschema: [\n---\nschema: s\n---\n- 1\n")
    alone = read(catalog, "alone")
    assert "large.yaml: document 100, line " in alone
    assert "7.yaml: document 9, line " in alone
    assert read(catalog, "lives") == alone


def test_a_folder_that_cannot_be_listed_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(FbcError, match="absent: cannot be read: No such file or directory"):
        list(read_tree(tmp_path / "absent", CatalogFormat()))
