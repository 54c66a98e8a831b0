"""The greeter's images, in an OCI layout in the cache that is named by all that went into it."""

import sys
from pathlib import Path

from e2e.harness.gobuild import cache_folder
from e2e.harness.images import Image, derived_image, image_in_layout
from e2e.node import buildah

FOLDER = Path(__file__).parent
SOURCES = (FOLDER / "Dockerfile", FOLDER / "main.py")
WORDS = {"0.1.0": "Hello", "0.2.0": "Good day"}
"""What each version says; the only difference between them."""


def image(version: str) -> Image:
    """The image of one version, from the cache or built now. Errors: HarnessError."""
    return image_in_layout(layout(), version)


def dictionary() -> Image:
    """The image of the dictionary, on top of the greeter's. Errors: HarnessError."""
    program = {"srv/dictionary.py": (FOLDER / "dictionary.py").read_bytes()}
    return derived_image(image("0.1.0"), program, runs=("python3", "/srv/dictionary.py"))


def layout() -> Path:
    """The layout with all versions, from the cache or built now. Errors: HarnessError."""
    base = buildah.base()
    target = cache_folder() / "greeter" / buildah.digest(base, WORDS, files=SOURCES)

    def build(folder: Path) -> None:
        print("greeter: building its images once", file=sys.stderr, flush=True)
        for version, words in WORDS.items():
            name = f"localhost/greeter:{version}"
            arguments = {"BASE": base, "VERSION": version, "WORDS": words}
            buildah.build(FOLDER / "Dockerfile", FOLDER, name, arguments)
            buildah.write_layout(name, folder, version)

    return buildah.made_once(target, build)
