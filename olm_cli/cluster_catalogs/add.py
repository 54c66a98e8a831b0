"""`olm catalog add`: has catalogd serve a catalog image."""

from collections.abc import Mapping
from typing import Any

import click

from api import wire
from api.objects import KubeObject, metadata, name_of
from api.olm.v1 import names
from api.olm.v1.clustercatalog import HIGHEST_PRIORITY, LOWEST_PRIORITY, ClusterCatalog
from api.wire import InvalidObjectError
from olm_cli.cluster_catalogs.facts import facts_of
from olm_cli.cluster_catalogs.reading import CATALOG
from olm_cli.cluster_catalogs.waiting import CatalogWait
from olm_cli.cluster_catalogs.writing import write_catalog
from olm_cli.cluster_options import ClusterCommand, reach_options
from olm_cli.history_cluster import cluster
from olm_cli.kube_names import object_name
from olm_cli.lifecycle.changes import value_text
from olm_cli.lifecycle.interrupt import run
from olm_cli.lifecycle.options import timeout_option
from olm_cli.lifecycle.spec_fields import differences
from olm_cli.output import DATA, TEXT, YAML, Format, Output, output_of, show, typed_names
from olm_runtime.cli.values import parse_duration
from olm_runtime.errors import TerminalError
from olm_runtime.images.reference import parse_ref
from olm_runtime.kube.client import KubeClient

DEFAULT_POLL_MINUTES = 10
_MINUTE = 60


def _minutes(text: str) -> int:
    """Minutes of a duration, 0 for never. Raises BadParameter."""
    seconds = parse_duration(text)
    if seconds % _MINUTE:
        raise click.BadParameter(f"{text} is not in whole minutes; say 10m, 2h, or 0 for never")
    return int(seconds) // _MINUTE


@click.command("add", cls=ClusterCommand)
@click.argument("name", callback=object_name)
@click.argument("image")
@click.option(
    "--poll-interval",
    "poll_minutes",
    type=_minutes,
    metavar="DURATION",
    help="How often the tag is looked at, such as 30m; 0 is never.  "
    f"[default: {DEFAULT_POLL_MINUTES}m, of a digest never]",
)
@click.option(
    "--priority",
    type=click.IntRange(LOWEST_PRIORITY, HIGHEST_PRIORITY),
    default=0,
    show_default=True,
    metavar="NUMBER",
    help="Of catalogs that have a package, the one with the highest counts.",
)
@click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="KEY=VALUE",
    help="For selectors of extensions; may be repeated.",
)
@click.option("--dry-run", is_flag=True, help="Print the object, and write nothing.")
@click.option("--wait", is_flag=True, help="Return when it is served, or fail after --timeout.")
@timeout_option
@reach_options
@output_of(
    Format.TEXT, Format.NAME, *DATA, default=None, note="Default: text; with --dry-run yaml."
)
def add(name: str, image: str, output: Output | None, **given: Any) -> None:
    """Add the catalog IMAGE to the cluster as the ClusterCatalog NAME.

    catalogd pulls it, and extensions are installed from it. One that is there already and says the
    same stays as it is; one that says something else is refused.

    \b
    Examples:
      olm catalog add operatorhubio quay.io/operatorhubio/catalog:latest --wait
      olm catalog add team registry.example.com/team/catalog:v1 --poll-interval 1h --priority 10
      olm catalog add team registry.example.com/team/catalog:v1 --label tier=gold
      olm catalog add team registry.example.com/team/catalog:v1 --dry-run > catalog.yaml
    """
    if given["dry_run"] and given["wait"]:
        raise click.UsageError("give --dry-run or --wait")
    if given["dry_run"] and output is not None and output.is_text:
        raise click.UsageError("the object is printed as yaml or json")
    wanted = new_catalog(name, image, given)
    if given["dry_run"]:
        show(wanted, output or YAML, typed_names([wanted]))
        return
    output = output or TEXT
    found = run(_add(wanted, given), message=f"stopped; it stays: olm catalog show {name}")
    if not output.is_text:
        show(found, output, typed_names([wanted]))
        return
    click.echo(f"clustercatalog {name}: {found['result']}")
    if given["wait"]:
        click.echo(f"it is served; see what it has: olm search WORDS --catalog {name}")
    else:
        click.echo(f"see how it goes: olm catalog show {name}")


def new_catalog(name: str, image: str, given: Mapping[str, Any]) -> KubeObject:
    """The object to write. Raises TerminalError for what is no image."""
    reference = parse_ref(image)
    minutes = given["poll_minutes"]
    if minutes is None:
        minutes = 0 if reference.is_canonical else DEFAULT_POLL_MINUTES
    if minutes and reference.is_canonical:
        raise click.UsageError("a digest always names the same content: leave --poll-interval out")
    poll = {"pollIntervalMinutes": minutes} if minutes else {}
    labels = dict(map(_label, given["labels"]))
    return {
        "apiVersion": names.API_VERSION,
        "kind": names.CLUSTER_CATALOG,
        "metadata": {"name": name, **({"labels": labels} if labels else {})},
        "spec": {
            "source": {"type": "Image", "image": {"ref": image, **poll}},
            **({"priority": given["priority"]} if given["priority"] else {}),
        },
    }


def _label(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise click.BadParameter(f"{text!r} is no label; say KEY=VALUE", param_hint="'--label'")
    return key, value


async def _add(wanted: KubeObject, given: Mapping[str, Any]) -> dict[str, Any]:
    """Writes it and waits if asked to; the result as data."""
    async with cluster(given["reach"]) as kube:
        found, result = await write_new(kube, wanted)
        if given["wait"]:
            name = name_of(wanted)
            wait = CatalogWait(kube, (name,), given["timeout"])
            found = (await wait.until_served())[name]
        return {**facts_of(found), "result": result}


async def write_new(kube: KubeClient, wanted: KubeObject) -> tuple[KubeObject, str]:
    """The object as written, and what became of it. Raises TerminalError for another one."""
    before = await kube.find(CATALOG, name_of(wanted))
    if before is not None:
        _refuse_another(before, wanted)
    after = await write_catalog(kube, wanted)
    if before is None:
        return after, "created"
    same = metadata(before).get("resourceVersion") == metadata(after).get("resourceVersion")
    return after, "unchanged" if same else "changed"


def _refuse_another(live: KubeObject, wanted: KubeObject) -> None:
    """Compares the specs with the fields that have a default as if they were set."""
    name = name_of(wanted)
    try:
        old, new = (wire.write(ClusterCatalog.from_object(raw).spec) for raw in (live, wanted))
    except InvalidObjectError as error:
        raise TerminalError(str(error)) from error
    other = [
        f"  {path}: {value_text(was)} -> {value_text(will)}"
        for path, was, will in differences(old, new, "spec")
    ]
    if other:
        raise TerminalError(
            "\n".join(
                [f"ClusterCatalog {name} is there already, and says something else:", *other]
            ),
            hint=f"change it: kubectl edit clustercatalog {name}; or remove it first: "
            f"olm catalog remove {name}; another NAME adds beside it",
        )
