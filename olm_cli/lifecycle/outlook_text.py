"""What `olm upgrade` prints without a version: where extensions stand."""

from collections.abc import Iterable, Iterator, Sequence

import click

from olm_cli.table import table
from olm_client.lifecycle.outlook import Outlook, Standing


def outlook_table(found: Iterable[Outlook], *, wide: bool) -> Iterator[str]:
    """A line for each extension, those that are held first."""
    order = list(Standing)
    rows = sorted(found, key=lambda each: (order.index(each.standing), each.extension))
    titles = ("EXTENSION", "INSTALLED", "COMING", "NEWEST", "STANDING", "WHY")
    yield from table(titles, [_row(each) for each in rows], wide=wide)


def _row(each: Outlook) -> Sequence[str]:
    standing = click.style(each.standing.value, fg=each.standing.colour)
    cells = (each.installed or "-", each.coming or "-", each.newest or "-")
    return (each.extension, *cells, standing, "; ".join(each.reasons))


def outlook_lines(found: Outlook) -> Iterator[str]:
    """One extension at length."""
    newer = found.newest not in ("", found.installed)
    newest = f"; {found.newest} is the newest" if newer else ""
    coming = f"; {found.coming} comes by itself" if found.coming else ""
    installed = f"{found.installed} is installed" if found.installed else "nothing is installed"
    standing = click.style(found.standing.value, fg=found.standing.colour)
    yield f"{found.extension}: {standing}: {installed}{coming}{newest}"
    yield from (f"  {each}" for each in found.reasons)
    yield from (f"  hint: {each}" for each in found.commands)
