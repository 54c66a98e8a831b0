"""The image of our programs for the node: the one that `make image` builds."""

import sys
from pathlib import Path

from e2e.harness.gobuild import cache_folder
from e2e.harness.images import Image, image_in_layout
from e2e.node import buildah
from e2e.node.buildah import ROOT

NAME = "localhost/olmv1:tested"


def product_image() -> Image:
    """The image, from the cache or built now. Errors: HarnessError."""
    return image_in_layout(layout(), NAME)


def layout() -> Path:
    """The OCI layout with the image, from the cache or built now. Errors: HarnessError."""
    target = cache_folder() / "programs" / buildah.digest(NAME, files=_inputs())
    return buildah.made_once(target, _build)


def _build(folder: Path) -> None:
    print("image of our programs: building it", file=sys.stderr, flush=True)
    buildah.build_ours(NAME, folder)


def _inputs() -> tuple[Path, ...]:
    """Every file that decides what is in the image: what .dockerignore lets in, and Dockerfile."""
    listed = (ROOT / ".dockerignore").read_text().splitlines()
    let_in = [ROOT / line.removeprefix("!") for line in listed if line.startswith("!")]
    files = [path for top in let_in for path in (top, *top.rglob("*")) if path.is_file()]
    sources = [path for path in files if "__pycache__" not in path.parts]
    return (ROOT / "Dockerfile", ROOT / ".dockerignore", *sorted(sources))
