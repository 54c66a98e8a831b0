"""`olm install`: from a package's name to an extension, with an account that may install it."""

from collections.abc import Iterator, Mapping
from typing import Any

import click

from api.objects import KubeObject
from olm_cli.catalogs.completing import known_namespaces
from olm_cli.catalogs.names import package_argument
from olm_cli.cluster_options import ClusterCommand
from olm_cli.documents import show_documents
from olm_cli.kube_names import namespace_name, object_name
from olm_cli.lifecycle.interrupt import run
from olm_cli.lifecycle.options import source_options, spec_options, timeout_option
from olm_cli.output import DATA, TEXT, YAML, Format, Output, output_of, show, typed_names
from olm_client.lifecycle.applying import apply_all
from olm_client.lifecycle.installing import Order, is_elsewhere, order_of, to_write
from olm_client.lifecycle.overview import Phase, extension_facts, extension_state, installed_bundle
from olm_client.lifecycle.waiting import Wait
from olm_client.reach import cluster
from olm_runtime.cli.display import LiveDisplay


@click.command("install", cls=ClusterCommand)
@package_argument
@spec_options
@click.option(
    "--extension",
    callback=object_name,
    metavar="NAME",
    help="The ClusterExtension; default: PACKAGE.",
)
@click.option(
    "-n",
    "--namespace",
    "--install-namespace",
    "install_namespace",
    callback=namespace_name,
    metavar="NS",
    shell_complete=known_namespaces,
    help="Default: the one that the bundle suggests, else PACKAGE. It is made if need be.",
)
@click.option(
    "--service-account",
    callback=object_name,
    metavar="NAME",
    help="Default: the extension's name and -installer.",
)
@click.option(
    "--no-account",
    is_flag=True,
    help="Write the ClusterExtension alone: namespace, account and its rights are there.",
)
@click.option(
    "--progress-deadline-minutes",
    type=click.IntRange(10, 720),
    metavar="MINUTES",
    help="After which a version that does not become available has failed.",
)
@click.option("--dry-run", is_flag=True, help="Print the objects, and write nothing.")
@click.option("--wait", is_flag=True, help="Return when it is installed, or fail after --timeout.")
@timeout_option
@output_of(
    Format.TEXT, Format.NAME, *DATA, default=None, note="Default: text; with --dry-run yaml."
)
@source_options
def install(package: str, output: Output | None, **given: Any) -> None:
    """Install PACKAGE from a catalog, with an account that may do just that.

    Finds the bundle, works out the rights that it needs, and writes in this order: the namespace,
    a service account, its roles and their bindings, and the ClusterExtension. What is there and
    right stays as it is, so a command that was stopped can be run again.

    With --dry-run the same objects are printed, for a repository or for somebody with more rights;
    --catalog may then be a folder or an image, and no cluster is asked.

    \b
    Examples:
      olm install argocd-operator --wait
      olm install argocd-operator --version '0.18.x' --channel alpha -n argocd
      olm install argocd-operator --catalog operatorhubio --watch-namespace apps
      olm install argocd-operator --dry-run > argocd.yaml
      olm install argocd-operator --dry-run | olm plan -

    Updates follow by themselves within --version. One that needs more rights waits for them:
    olm rbac PACKAGE --version NEW --update-from OLD.
    """
    _refuse_contradictions(given, output)
    order = order_of(package, given)
    if given["dry_run"]:
        _print(order, output or YAML)
        return
    message = f"stopped; what was written stays. See how it goes: olm status {order.name}"
    output = output or TEXT
    done = run(_carry_out(order, given, output), message=message)
    if not output.is_text:
        show(done, output, typed_names(order.objects))


def _refuse_contradictions(given: Mapping[str, Any], output: Output | None) -> None:
    if is_elsewhere(given) and not given["dry_run"]:
        raise click.UsageError(
            "a catalog on disk needs --dry-run, and so does an image: the cluster has its own, and "
            "olm catalog add adds one"
        )
    if given["dry_run"] and given["wait"]:
        raise click.UsageError("give --dry-run or --wait")
    if given["dry_run"] and output and output.is_text:
        raise click.UsageError("objects are printed as yaml or json")


def _print(order: Order, output: Output) -> None:
    show_documents(order.title, order.documents, output)


async def _carry_out(order: Order, given: Mapping[str, Any], output: Output) -> dict[str, Any]:
    """Applies the objects and waits if asked to. Returns the result as data."""
    echo = output.echo
    done: list[dict[str, str]] = []
    async with cluster(given["reach"]) as kube:
        objects = await to_write(kube, order)
        echo(f"{order.bundle}" + (f" from catalog {order.catalog}" if order.catalog else ""))
        async for applied in apply_all(kube, objects):
            echo(f"  {applied.key}: {applied.result}")
            done.append(applied.facts())
        found = None
        if given["wait"]:
            wait = Wait(kube, order.name, given["timeout"], LiveDisplay())
            found = await wait.until_installed()
            echo("\n".join(_installed(order.name, found)))
        else:
            echo(f"see how it goes: olm status {order.name}")
    facts = {"extension": order.name, "bundle": order.bundle, "version": order.version}
    status = {"status": extension_facts(found)} if found else {}
    return {**facts, "catalog": order.catalog, "objects": done, **status}


def _installed(name: str, found: KubeObject) -> Iterator[str]:
    yield f"{name}: {installed_bundle(found).get('name')} is installed"
    state = extension_state(found)
    if state.phase is Phase.DEGRADED:
        yield f"note: it does not work yet: {state.message}"
