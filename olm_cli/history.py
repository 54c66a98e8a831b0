"""`olm history`: the revisions of an extension that exist, their causes and states."""

from collections.abc import Iterator
from typing import Any

import click

from api.olm.v1.kinds import OBJECT_SET
from olm_cli.catalogs.extensions import extension_argument
from olm_cli.cluster_options import ClusterCommand, reach_options
from olm_cli.output import Output, show, table_output_option, typed_name
from olm_cli.table import table
from olm_client.history import Record, read_record, revision_facts
from olm_client.reach import Reach, cluster
from olm_runtime.cli.async_work import run_async

COLUMNS = ("revision", "version", "bundle", "created", "state", "cause")


@click.command("history", cls=ClusterCommand)
@extension_argument
@reach_options
@table_output_option
def history(extension: str, reach: Reach, output: Output) -> None:
    """List the revisions of an extension that are kept, oldest first.

    Only reads: the ClusterExtension and its ClusterObjectSets.

    \b
    Examples:
      olm history quay
      olm history quay -o json | jq '.revisions[] | select(.state == "Failed")'
    """
    record = run_async(_read(extension, reach))
    rows = [revision_facts(revision, record) for revision in record.revisions.every]
    if output.is_text:
        click.echo("\n".join(_text(extension, rows, wide=output.is_wide)))
    else:
        names = (typed_name(OBJECT_SET, row["name"]) for row in rows)
        show({"extension": extension, "revisions": rows}, output, names)


async def _read(extension: str, reach: Reach) -> Record:
    async with cluster(reach) as kube:
        return await read_record(kube, extension)


def _text(extension: str, rows: list[dict[str, Any]], *, wide: bool) -> Iterator[str]:
    if not rows:
        yield f"{extension} has no revisions: nothing was installed yet"
        return
    columns = (*COLUMNS, "name", "image", "message") if wide else COLUMNS
    titles = [column.upper() for column in columns]
    cells = [[" ".join(str(row[column]).split()) for column in columns] for row in rows]
    yield from table(titles, cells, wide=wide, cut=("CREATED",))
