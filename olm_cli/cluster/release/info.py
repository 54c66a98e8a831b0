"""`olm cluster release info`: what is in a release."""

from typing import Any

import click

from cluster_version.payload.summary import summary, summary_lines
from olm_cli.output import Output, output_option, show
from olm_cli.registry_options import registry_options
from olm_client.bundle_files import registries
from olm_client.cluster.release.reading import read_release_image, release_errors


@click.command("info")
@click.argument("source", metavar="IMAGE")
@output_option
@registry_options
def info(source: str, output: Output, **given: Any) -> None:
    """Show what is in the release IMAGE, or in the folder of one.

    \b
    Examples:
      olm cluster release info registry.example.com/product:1.0.1
      olm cluster release info registry.example.com/product:1.0.1 -o jsonpath='{.images.alpha}'
    """
    found = read_release_image(source, registries(given))
    with release_errors(source):
        facts = summary(found.files)
    if output.is_text:
        click.echo("\n".join(summary_lines(found.image or source, found.digest, facts)))
    else:
        show({"image": found.image, "digest": found.digest, **facts}, output)
