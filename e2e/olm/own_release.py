"""Releases of this product itself, made as docs/how-to/release-with-olm.md says."""

from dataclasses import dataclass
from pathlib import Path

from e2e.olm.pages import HOW_TO, Step, steps
from e2e.olm.reader import Reader

PAGE = HOW_TO / "release-with-olm.md"
REPOSITORY = "registry.example.com/product"


@dataclass(frozen=True, slots=True)
class OwnRelease:
    """A release in a registry.

    image   its reference by digest
    folder  the content of the image
    """

    version: str
    image: str
    folder: Path

    def write(self, _: Path) -> Path:
        """Where its content is: it is written already."""
        return self.folder


def section(name: str) -> list[Step]:
    """The commands under a heading of the page that are to be followed."""
    found = [step for step in steps(PAGE) if step.section == name and not step.minutes]
    assert found, f"{PAGE.name} has no commands under {name}"
    return found


def make_first(reader: Reader) -> OwnRelease:
    """The first release of the page. Raises AssertionError where a command fails."""
    for name in ("Make the component", "Make the release", "Install it"):
        reader.follow(section(name))
    return OwnRelease("1.0.0", image_of(reader, "1.0.0"), reader.folder / "release")


def image_of(reader: Reader, version: str) -> str:
    """The image of a release by digest."""
    asked = f"olm cluster release info {REPOSITORY}:{version} --output jsonpath='{{.image}}'"
    answer = reader.run(asked)
    assert not answer.returncode, answer.stderr
    return answer.stdout.strip()
