"""What `copy-release` leaves on a volume."""

from itertools import count
from pathlib import Path

import pytest
from click.testing import CliRunner

from cluster_version.io.release_copy import copy_release, main
from cluster_version.payload.release_folders import BEING_COPIED
from cluster_version.payload.retrieval_job import Means, RetrievalPlace, folder_of, retrieval_job


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """The root of a release image."""
    for path in ("manifests/a.yaml", "release-manifests/b.yaml", "etc/other"):
        file = tmp_path / "image" / path
        file.parent.mkdir(parents=True)
        file.write_text(path)
    return tmp_path / "image"


@pytest.fixture
def volume(tmp_path: Path) -> Path:
    """A volume on which something else lies."""
    (tmp_path / "volume" / "other").mkdir(parents=True)
    return tmp_path / "volume"


def names(folder: Path) -> list[str]:
    return sorted(str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file())


def test_a_release_takes_the_place_of_another(image: Path, volume: Path) -> None:
    copy_release(image, volume, "first")
    (volume / BEING_COPIED / "manifests").mkdir(parents=True)
    copy_release(image, volume, "second")
    assert sorted(each.name for each in volume.iterdir()) == ["other", "second"]
    assert names(volume) == ["second/manifests/a.yaml", "second/release-manifests/b.yaml"]


def test_what_cannot_be_copied_whole_is_not_there(image: Path, volume: Path) -> None:
    (image / "release-manifests" / "b.yaml").unlink()
    (image / "release-manifests").rmdir()
    with pytest.raises(FileNotFoundError, match="release-manifests"):
        copy_release(image, volume, "first")
    assert not (volume / "first").exists()


def test_the_name_of_a_folder_may_look_like_an_option(volume: Path) -> None:
    """As that of one image in 64 does."""
    image = next(each for each in map("registry.test/r:{}".format, count()) if is_dashed(each))
    job = retrieval_job("1.0.0", image, RetrievalPlace("ns", {}), Means.OWN)
    [container] = job["spec"]["template"]["spec"]["containers"]
    [mount] = container["volumeMounts"]
    program, *arguments = container["command"]
    assert program == main.name
    here = [argument.replace(mount["mountPath"], str(volume)) for argument in arguments]
    done = CliRunner().invoke(main, here)
    where = volume / folder_of(image)
    assert done.output.startswith(f"error: the release cannot be copied to {where}: ")


def is_dashed(image: str) -> bool:
    return folder_of(image).startswith("-")


def test_an_image_that_is_no_release_is_reported(volume: Path) -> None:
    """The root of this machine is none."""
    done = CliRunner().invoke(main, [str(volume), "first"])
    assert done.exit_code == 1
    assert done.output.startswith(f"error: the release cannot be copied to {volume / 'first'}: ")
