"""`copy-release`: run in a release image, it copies what that holds to a volume.

It does what the Jobs that fetch releases do with `sh` and `cp`, in images that have neither.
"""

import shutil
import sys
from pathlib import Path

import click

from cluster_version.payload.release_folders import BEING_COPIED, OPERATOR_FOLDER, RELEASE_FOLDER

_FOLDERS = (OPERATOR_FOLDER, RELEASE_FOLDER)


def copy_release(image: Path, volume: Path, name: str) -> None:
    """Copies the folders of a release to a folder of a volume, which is there whole or not at all.

    Other releases on the volume are removed, and what else lies there is left. `image` is the root
    of the image. Raises OSError.
    """
    for other in volume.iterdir():
        if other.name == BEING_COPIED or _is_release(other):
            shutil.rmtree(other)
    aside = volume / BEING_COPIED
    aside.mkdir()
    for folder in _FOLDERS:
        shutil.copytree(image / folder, aside / folder)
    aside.rename(volume / name)


def _is_release(folder: Path) -> bool:
    return all((folder / name).is_dir() for name in _FOLDERS)


@click.command("copy-release", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("volume", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.argument("name")
@click.version_option(package_name="olmv1", prog_name="copy-release")
def main(volume: Path, name: str) -> None:
    """Copy the release of this image to the folder NAME of VOLUME, and remove other releases.

    Jobs of cluster-version-operator run it in release images that have no sh and cp.
    """
    try:
        copy_release(Path("/"), volume, name)
    except OSError as error:
        sys.exit(f"error: the release cannot be copied to {volume / name}: {error}")
