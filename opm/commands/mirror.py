"""`opm mirror`: a catalog with all its images, into another registry or onto a disk."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import click
import orjson

from olm_content.formats.yaml_text import dump_all
from olm_runtime.cli.display import LiveDisplay
from olm_runtime.errors import OLMError, TerminalError
from olm_runtime.images.reference import ImageRef
from olm_runtime.plurals import counted
from olm_runtime.registry.workstation import Registries
from opm.commands.registries import registry_options
from opm.io.copying import PREFIX
from opm.io.mirror_catalog import (
    Content,
    copy_attachments,
    copy_catalog,
    copy_images,
    read_content,
    read_folder,
)
from opm.io.mirroring import AT_ONCE, Copy, Mirrored, Progress
from opm.mirror import (
    Target,
    cluster_catalog,
    mirror_sets,
    parse_target,
    parse_wanted,
    registries_conf,
)

MIB = 1 << 20
SHOWN_FAILURES = 10
SHOWN_EVERY_SECONDS = 0.2


@click.command("mirror")
@click.argument("catalog", metavar="CATALOG")
@click.argument("target", metavar="TARGET")
@click.option(
    "-p",
    "--package",
    "packages",
    multiple=True,
    metavar="PACKAGE[:CHANNEL,...][@RANGE]",
    help="Only this package, or these channels or versions of it; may be repeated.",
)
@click.option(
    "--name", metavar="REPOSITORY:TAG", help="What to call the catalog if it is a folder or file."
)
@click.option(
    "--output-dir",
    type=click.Path(path_type=Path),
    default="mirror",
    show_default=True,
    metavar="FOLDER",
    help="Where to write what a cluster needs to use the mirror.",
)
@click.option(
    "--parallel",
    type=click.IntRange(1, 64),
    default=AT_ONCE,
    show_default=True,
    help="How many blobs to copy at a time.",
)
@click.option(
    "--allow-missing",
    is_flag=True,
    help="Copy the catalog although images of it could not be copied.",
)
@click.option(
    "--signatures/--no-signatures",
    default=True,
    show_default=True,
    help="Whether what refers to images is copied along: signatures, attestations, SBOMs.",
)
@click.option("--dry-run", is_flag=True, help="Say which images would be copied, and copy none.")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text")
@registry_options
@click.pass_obj
def mirror(registries: dict[str, Any], /, *, output: str, **given: Any) -> None:
    """Copy a catalog, its bundles and all their images to TARGET.

    CATALOG is an image, a catalog's folder, an SQLite database, or oci:FOLDER with what an earlier
    run has put there. TARGET is REGISTRY[/PATH], below which each image keeps its repository and
    its digest, or oci:FOLDER, to be carried to where no network leads.

    What is there already is not copied again: after an interruption, or later, run it again. Into a
    registry it also writes registries.conf, mirror sets for OpenShift and a ClusterCatalog.

    \b
    Examples:
      opm mirror registry.example.com/team/catalog:v1 mirror.example.org/olm
      opm mirror registry.example.com/team/catalog:v1 mirror.example.org -p argocd-operator:stable
      opm mirror registry.example.com/team/catalog:v1 oci:media -p 'argocd-operator@>=0.17 <1'
      opm mirror oci:media mirror.example.org/olm
    """
    access = Registries(**registries)
    content = _content(given, access)
    target = _target(given["target"])
    copies = [_copy(ref, target) for ref in content.images]
    if given["dry_run"]:
        _show_plan(copies, output)
        return
    with _Display() as display:
        progress = Progress(display)
        done = copy_images(copies, content, target, access, progress, at_once=given["parallel"])
    outcome = _Outcome(done)
    if given["signatures"]:
        outcome.add_attachments(copy_attachments(done, content, target, access))
    if given["allow_missing"] or not done.failures:
        outcome.catalog, catalog = copy_catalog(content, target, access)
        if given["signatures"]:
            outcome.add_attachments(copy_attachments(catalog, content, target, access))
        if isinstance(target, Target):
            outcome.files = _write_files(given["output_dir"], content, target, copies)
    _conclude(outcome, output)


def _content(given: Mapping[str, Any], access: Registries) -> Content:
    catalog, packages = given["catalog"], given["packages"]
    if not catalog.startswith(PREFIX):
        return read_content(catalog, [*map(parse_wanted, packages)], given["name"], access)
    folder = _folder(catalog)
    if packages:
        raise TerminalError(
            f"{folder} has what was chosen when it was filled", hint="leave --package out"
        )
    return read_folder(folder)


def _target(text: str) -> Target | Path:
    return _folder(text) if text.startswith(PREFIX) else parse_target(text)


def _folder(text: str) -> Path:
    folder = text.removeprefix(PREFIX)
    if not folder:
        raise TerminalError(f"{text}: no folder", hint="write oci:FOLDER")
    return Path(folder)


def _copy(ref: ImageRef, target: Target | Path) -> Copy:
    return Copy(ref, target.place_of(ref) if isinstance(target, Target) else None)


def _show_plan(copies: Sequence[Copy], output: str) -> None:
    if output == "json":
        plan = [{"source": str(c.source), "target": str(c.target or "")} for c in copies]
        click.echo(orjson.dumps({"images": plan}, option=orjson.OPT_INDENT_2))
        return
    for each in copies:
        click.echo(f"{each.source} -> {each.target}" if each.target else str(each.source))


class _Display:
    """Says on a terminal how far it is."""

    def __init__(self) -> None:
        self._display = LiveDisplay()
        self._begun = self._last = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._display.end()

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if not self._display.is_live or now < self._last + SHOWN_EVERY_SECONDS:
            return
        self._last = now
        seconds = now - self._begun
        line = (
            f"{progress.done} of {progress.images} images, {progress.passed // MIB} of "
            f"{progress.total // MIB} MiB, {progress.sent / MIB / seconds:.0f} MiB/s"
        )
        self._display.show([line], seconds=seconds)


@dataclass(slots=True)
class _Outcome:
    """What came of it: images and signatures, where the catalog is (if copied), files written."""

    images: Mirrored
    catalog: str = ""
    signatures: dict[ImageRef, str] = field(default_factory=dict)
    files: Sequence[str] = field(default_factory=tuple)

    def add_attachments(self, copied: Mirrored) -> None:
        """What refers to some of the images was copied, or was not."""
        self.signatures |= copied.digests
        self.images.failures |= copied.failures


def _write_files(
    folder: Path, content: Content, target: Target, copies: Sequence[Copy]
) -> list[str]:
    """What a cluster needs to use the mirror. Raises TerminalError."""
    places = [(c.source, c.target) for c in copies if c.target]
    name = content.catalog.repository.rpartition("/")[2].replace("_", "-").replace(".", "-")
    catalog = cluster_catalog(name, target.place_of(content.catalog))
    texts = {
        "registries.conf": registries_conf(places),
        "mirror-sets.yaml": dump_all(mirror_sets(name, places)),
        "catalog.yaml": dump_all([catalog]),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in texts.items():
            (folder / file).write_text(text)
    except OSError as error:
        raise TerminalError(f"{error.filename}: {error.strerror}") from error
    return [str(folder / file) for file in texts]


def _conclude(outcome: _Outcome, output: str) -> None:
    """Says what came of it. Raises OLMError if images could not be copied."""
    images = outcome.images
    failures = {str(ref): error.message for ref, error in images.failures.items()}
    if output == "json":
        answer = {
            "catalog": outcome.catalog,
            "images": {str(ref): digest for ref, digest in images.digests.items()},
            "signatures": {str(ref): digest for ref, digest in outcome.signatures.items()},
            "copied": sorted(map(str, images.copied)),
            "failures": failures,
            "files": list(outcome.files),
        }
        click.echo(orjson.dumps(answer, option=orjson.OPT_INDENT_2))
    else:
        copied, there = len(images.copied), len(images.digests) - len(images.copied)
        click.echo(f"{copied} {'image' if copied == 1 else 'images'} copied, {there} there before")
        if outcome.signatures:
            found = counted(
                len(outcome.signatures),
                "signature or other referrer",
                "signatures or other referrers",
            )
            click.echo(f"{found} copied along")
        for line in (*map("wrote {}".format, outcome.files), outcome.catalog):
            if line:
                click.echo(line)
    if failures:
        shown = "".join(f"\n  {message}" for message in list(failures.values())[:SHOWN_FAILURES])
        raise OLMError(
            f"{len(failures)} of {len(failures) + len(images.digests)} images could not be copied:"
            + shown,
            hint="what was copied stays: run the command again for the rest"
            + ("" if outcome.catalog else "; --allow-missing copies the catalog without them"),
        )
