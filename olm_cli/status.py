"""`olm status`: the state of extensions and catalogs, once or on every change."""

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import click
import orjson

from api.olm.v1.kinds import CATALOG, EXTENSION
from olm_cli.catalogs.extensions import known_extensions
from olm_cli.cluster_options import ClusterCommand, reach_options
from olm_cli.kube_names import object_name
from olm_cli.output import Format, Output, show, table_output_option, typed_name
from olm_cli.table import table
from olm_client.catalogs.quick_list import quick_lists
from olm_client.lifecycle.overview import Phase, overview_facts
from olm_client.reach import Reach
from olm_client.short_hashes import short_digests
from olm_runtime.cli.display import LiveDisplay

Facts = dict[str, Any]


@click.command("status", cls=ClusterCommand)
@click.argument("extension", required=False, callback=object_name, shell_complete=known_extensions)
@click.option("-w", "--watch", is_flag=True, help="Go on telling, until Ctrl-C.")
@reach_options
@table_output_option
def status(extension: str | None, watch: bool, reach: Reach, output: Output) -> None:
    """Tell how all extensions and catalogs do, or all there is to know of one EXTENSION.

    What does not go as it should comes first, with what hinders it. Of one extension: conditions,
    revision, the objects that it consists of and whether they work, and what to do.

    --watch redraws on a terminal; elsewhere it prints the lines that are new, and with -o json one
    document a line.

    \b
    Examples:
      olm status
      olm status argocd
      olm status --watch
      olm status -o json | jq -r '.extensions[] | select(.phase != "Installed") | .name'

    Only reads. The objects of an extension are told to who may get Secrets in the system namespace.
    """
    printed = _Printer(output, watch=watch, one=extension is not None)
    quick = None if extension or watch else _quick_overview(reach)
    if quick is not None:
        printed(quick, "")
        return
    from olm_cli.lifecycle.interrupt import run
    from olm_client.status_states import show_states

    run(show_states(extension, reach, printed, watch=watch))


class _Printer:
    """Prints states as the options ask for it."""

    def __init__(self, output: Output, *, watch: bool, one: bool) -> None:
        self._output = output
        self._watch = watch
        self._one = one
        self._display = LiveDisplay(sys.stdout)

    def __call__(self, facts: Facts, fault: str) -> None:
        """`fault` is why the facts may be outdated, or empty."""
        if self._output.is_text:
            wide = self._output.is_wide
            lines = _lines_of_one(facts, wide=wide) if self._one else _tables(facts, wide=wide)
            self._show([*lines, *([f"warning: {fault}"] if fault else [])])
        elif self._watch and self._output.format is Format.JSON:
            click.echo(orjson.dumps(facts))
        else:
            show(facts, self._output, _names(facts))
            if self._watch:
                click.echo("---")

    def _show(self, lines: Sequence[str]) -> None:
        if self._watch:
            self._display.show(lines)
        else:
            click.echo("\n".join(lines))


def _quick_overview(reach: Reach) -> Facts | None:
    """The facts by two requests; None where the client of the programs is needed."""
    found = quick_lists(reach, EXTENSION.kind, CATALOG.kind)
    return None if found is None else overview_facts(*found)


def _lines_of_one(facts: Facts, *, wide: bool) -> Iterator[str]:
    from olm_cli.status_one import lines_of

    return lines_of(facts, wide=wide)


def _names(facts: Facts) -> Iterator[str]:
    if "extensions" not in facts:
        yield typed_name(EXTENSION, facts["name"])
        return
    for kind, key in ((EXTENSION, "extensions"), (CATALOG, "catalogs")):
        yield from (typed_name(kind, each["name"]) for each in facts[key])


def _tables(facts: Facts, *, wide: bool) -> Iterator[str]:
    extensions, catalogs = facts["extensions"], facts["catalogs"]
    if extensions:
        more = ("NAMESPACE", "BUNDLE") if wide else ()
        titles = ("EXTENSION", "PACKAGE", "VERSION", "WANTED", *more, "PHASE", "WHAT HINDERS")
        rows = [_extension_row(each, wide=wide) for each in extensions]
        yield from table(titles, rows, wide=wide, cut=("WANTED",))
    else:
        yield "no extensions; olm install PACKAGE installs one"
    yield ""
    if catalogs:
        image = ("IMAGE",) if wide else ()
        titles = ("CATALOG", "PRIORITY", "DIGEST", "UNPACKED", *image, "PHASE", "WHAT HINDERS")
        digests = [each["digest"] for each in catalogs]
        shown = digests if wide else short_digests(digests)
        rows = [
            _catalog_row(each, digest, wide=wide)
            for each, digest in zip(catalogs, shown, strict=True)
        ]
        yield from table(titles, rows, wide=wide, cut=("UNPACKED",))
    else:
        yield "no catalogs; olm catalog add NAME IMAGE adds one"


def _extension_row(facts: Facts, *, wide: bool) -> Sequence[str]:
    version, desired = facts["version"] or "-", facts["wanted"] or "any"
    more = (facts["namespace"], facts["bundle"] or "-") if wide else ()
    standing = _standing(facts, wide=wide)
    return (facts["name"], facts["package"], version, desired, *more, *standing)


def _catalog_row(facts: Facts, digest: str, *, wide: bool) -> Sequence[str]:
    unpacked, more = facts["lastUnpacked"] or "-", (facts["image"],) if wide else ()
    standing = _standing(facts, wide=wide)
    return (facts["name"], str(facts["priority"]), digest or "-", unpacked, *more, *standing)


def _standing(facts: Facts, *, wide: bool) -> tuple[str, str]:
    """The phase and the first line of the message; all lines of it if `wide`."""
    phase = Phase(facts["phase"])
    lines = facts["message"].splitlines() or [""]
    message = "; ".join(line.strip() for line in lines) if wide else lines[0]
    return click.style(phase.value, fg=phase.colour), message
