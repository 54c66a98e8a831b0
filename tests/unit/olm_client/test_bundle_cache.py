"""Bundles on disk: pulled once for a digest, again for a tag and once they are damaged."""

import os
from pathlib import Path

import pytest

from olm_client.bundle_cache import BundleCache, Files
from olm_runtime.errors import TerminalError

FILES = {"manifests/": b"", "manifests/csv.yaml": b"kind: \xff\n", "metadata/annotations.yaml": b""}


def image(number: int) -> str:
    return f"registry.example.com/team/bundle@sha256:{number:064x}"


class Pulls:
    """Gives files, and counts how often."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self.count = 0

    def __call__(self) -> Files:
        self.count += 1
        return self.files


def test_a_digest_is_pulled_once(tmp_path: Path) -> None:
    pull = Pulls(FILES)
    cache = BundleCache(tmp_path / "bundles")
    assert [cache.files(image(1), pull) for _ in range(2)] == [FILES, FILES]
    assert pull.count == 1
    assert (tmp_path / "bundles").stat().st_mode & 0o077 == 0


def test_a_tag_is_pulled_each_time(tmp_path: Path) -> None:
    pull = Pulls(FILES)
    for _ in range(2):
        BundleCache(tmp_path).files("registry.example.com/team/bundle:v1", pull)
    assert pull.count == 2


@pytest.mark.parametrize("damage", [b"", b"\0\0\0\0", b"PK\x03\x04", b"no bundle at all"])
def test_what_is_damaged_is_pulled_again(tmp_path: Path, damage: bytes) -> None:
    pull = Pulls(FILES)
    BundleCache(tmp_path).files(image(1), pull)
    (file,) = tmp_path.iterdir()
    file.write_bytes(damage)
    assert BundleCache(tmp_path).files(image(1), pull) == FILES
    assert pull.count == 2
    assert BundleCache(tmp_path).files(image(1), pull) == FILES
    assert pull.count == 2


def test_a_byte_that_changed_on_disk_is_noticed(tmp_path: Path) -> None:
    pull = Pulls(FILES)
    BundleCache(tmp_path).files(image(1), pull)
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes().replace(b"kind", b"King"))
    assert BundleCache(tmp_path).files(image(1), pull) == FILES


def test_a_disk_that_cannot_be_written_costs_a_pull_each(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    pull = Pulls(FILES)
    cache = BundleCache(tmp_path / "file" / "bundles")
    assert [cache.files(image(1), pull) for _ in range(2)] == [FILES, FILES]
    assert pull.count == 2


def test_the_least_recently_used_go_first(tmp_path: Path) -> None:
    pull = Pulls({"manifests/csv.yaml": b"x" * 1000})
    cache = BundleCache(tmp_path, max_bytes=2500)
    for number in (1, 2):
        cache.files(image(number), pull)
    for file in tmp_path.iterdir():
        os.utime(file, (0, 0))
    cache.files(image(1), pull)  # which uses it
    cache.files(image(3), pull)
    cache.files(image(1), pull)
    assert pull.count == 3
    cache.files(image(2), pull)
    assert pull.count == 4


def test_what_is_no_reference_names_no_file(tmp_path: Path) -> None:
    with pytest.raises(TerminalError):
        BundleCache(tmp_path).files("registry.example.com/x@sha256:../../../etc", Pulls(FILES))
