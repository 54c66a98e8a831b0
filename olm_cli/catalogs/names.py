"""Package names for the shell's completion: those of contents that are cached."""

import sqlite3

import click
from click.shell_completion import CompletionItem

from olm_cli.catalogs.cache import ContentCache


def known_packages(
    _ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The packages whose names begin so; nothing is fetched, a shell does not wait."""
    found: dict[str, str] = {}
    for content in ContentCache.of_user().all():
        try:
            for entry in content.summaries():
                if entry.name.startswith(incomplete):
                    found.setdefault(entry.name, entry.display_name)
        except sqlite3.Error:
            continue  # a damaged one is made anew when it is asked for
    return [CompletionItem(name, help=said) for name, said in sorted(found.items())]


package_argument = click.argument("package", shell_complete=known_packages)
