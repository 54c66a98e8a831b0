"""`olm search`: packages by words."""

from collections.abc import Iterator, Sequence
from typing import Any

import click

from olm_cli.catalogs.options import catalog_options, warn
from olm_cli.cluster_options import ClusterCommand
from olm_cli.output import Output, show, table_output_option
from olm_cli.table import table
from olm_client.catalogs.ranking import ranked
from olm_client.catalogs.sources import Offer, Sources, package_names, unavailable
from olm_client.catalogs.summary import Summary
from olm_runtime.suggestions import suggestion

_TITLES = ("NAME", "DISPLAY NAME", "VERSION", "CATALOG", "DESCRIPTION")
_WIDE_TITLES = (*_TITLES[:4], "CHANNEL", "PROVIDER", _TITLES[4])

Found = tuple[str, Summary]
"""Name of the catalog, package."""


@click.command("search", cls=ClusterCommand)
@click.argument("words", nargs=-1, required=True)
@table_output_option
@catalog_options
def search(words: tuple[str, ...], output: Output, **options: Any) -> None:
    """Find packages in which all WORDS occur.

    Matches in the name come first, then display name, keywords, provider, description. The word
    "operator" counts only where it stands alone. VERSION is the newest of the default channel.
    Contents of catalogs are kept in the user's cache folder and read again only when they changed.

    \b
    Examples:
      olm search kafka
      olm search database operator -o json
      olm search quay --catalog ./catalog
      olm search quay --catalog registry.example.com/catalog:latest
    """
    offers = Sources(options).offers()
    packages = (
        (offer.name, package)
        for offer in offers
        if offer.content is not None
        for package in offer.content.summaries()
    )
    found = ranked(packages, [part for word in words for part in word.split()])
    if output.is_text:
        warn(offers)
        if found:
            click.echo("\n".join(_table(found, wide=output.is_wide)))
        else:
            _report_no_match(words, offers)
    else:
        listed = [_to_json(catalog, package) for catalog, package in found]
        names = dict.fromkeys(package.name for _, package in found)
        show({"packages": listed, "unavailable": unavailable(offers)}, output, names)


def _report_no_match(words: Sequence[str], offers: Sequence[Offer]) -> None:
    click.echo(f"no package matches {' '.join(words)}", err=True)
    if meant := suggestion("-".join(words), package_names(offers)):
        click.echo(meant, err=True)


def _to_json(catalog: str, package: Summary) -> dict[str, Any]:
    return {
        "name": package.name,
        "displayName": package.display_name,
        "version": package.version,
        "defaultChannel": package.channel,
        "catalog": catalog,
        "provider": package.provider,
        "keywords": list(package.keywords),
        "deprecated": package.deprecated,
        "description": package.summary,
    }


def _table(found: Sequence[Found], *, wide: bool) -> Iterator[str]:
    rows = [_row(catalog, package, wide=wide) for catalog, package in found]
    titles = _WIDE_TITLES if wide else _TITLES
    return table(titles, rows, wide=wide, cut=("DISPLAY NAME", "CATALOG"))


def _row(catalog: str, package: Summary, *, wide: bool) -> tuple[str, ...]:
    mark = "(deprecated) " if package.deprecated else ""
    more = (package.channel, package.provider) if wide else ()
    return (
        click.style(package.name, bold=True),
        package.display_name,
        package.version,
        catalog,
        *more,
        mark + package.summary,
    )
