"""What the commands that change SQLite indexes have in common."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from opm.index.graph import MODES, REPLACES

mode_option = click.option(
    "--mode",
    type=click.Choice(MODES),
    default=REPLACES,
    show_default=True,
    help="What the update graph is made from.",
)


overwrite_option = click.option(
    "--overwrite-latest", is_flag=True, help="Take bundles in place of those leading channels."
)


def names_of(text: str) -> list[str]:
    """What stands between the commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def add_images(
    path: Path,
    images: Sequence[str],
    mode: str,
    registries: dict[str, Any],
    *,
    overwrite_latest: bool,
) -> None:
    """Pulls bundle images and adds them to the database. Raises OLMError."""
    if not images:
        return
    from opm.index.insertion import Addition
    from opm.io.database_add import add_bundles
    from opm.io.references import Reading, bundle_image

    how = Reading(**registries)
    additions = []
    for image in dict.fromkeys(images):
        with bundle_image(image, how) as (bundle, _):
            additions.append(Addition(image, bundle))
    add_bundles(path, additions, mode, how.remark, overwrite_latest=overwrite_latest)
