"""`olm diff`: what is other in a catalog."""

from collections.abc import Iterator
from typing import Any

import click

from olm_cli.catalogs.options import source_options
from olm_cli.cluster_options import ClusterCommand
from olm_cli.output import Output, fail, output_option, show
from olm_client.catalogs.comparing import compare
from olm_client.catalogs.details import Details
from olm_client.catalogs.difference import counts, lines
from olm_client.catalogs.sources import Sources
from olm_runtime.errors import OLMError

_COLOURS = {"+": "green", "-": "red", "~": "yellow", "!": "yellow"}


@click.command("diff", cls=ClusterCommand)
@click.argument("before", metavar="CATALOG_A")
@click.argument("after", metavar="CATALOG_B")
@output_option
@source_options
def diff(before: str, after: str, output: Output, **options: Any) -> None:
    """Compare two catalogs: packages, channels, heads, bundles, deprecations.

    A catalog is a folder, an image, the name of one in the cluster, or NAME@DIGEST: what that one
    was when it was last read at that digest. The order of objects and of properties does not count.
    Exits with 0 if they are the same, 1 if not, 2 if one cannot be read.

    \b
    Examples:
      olm diff ./catalog-old ./catalog-new
      olm diff registry.example.com/catalog:v1 registry.example.com/catalog:v2 -o json
      olm diff operatorhubio registry.example.com/catalog:next
      olm diff operatorhubio@sha256:0a1b2c operatorhubio
    """
    try:
        sources = Sources(options)
        found = compare(sources.content(before), sources.content(after))
    except OLMError as error:
        fail(error, 2)
    if output.is_text:
        for line in _lines(found):
            sign = line.lstrip()[:1]
            click.echo(click.style(line, fg=_COLOURS.get(sign)))
    else:
        show(found, output)
    raise SystemExit(1 if any(found.values()) else 0)


def _lines(found: Details) -> Iterator[str]:
    for sign, key in (("+", "added"), ("-", "removed")):
        for each in found[key]:
            top = f"channel {each['defaultChannel']}, head {each['head'] or 'none'}"
            yield f"{sign} package {each['package']} ({top}, bundles: {each['bundles']})"
    for each in found["changed"]:
        yield from lines(each)
    if not any(found.values()):
        yield "no difference"
        return
    yield counts(found)
