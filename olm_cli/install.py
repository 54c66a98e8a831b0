"""`olm install`: from a package's name to an extension, with an account that may install it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from api import wire
from api.objects import KubeObject, name_of
from api.olm.v1.clusterextension import ClusterExtension
from api.wire import InvalidObjectError
from olm_cli.bundle_files import read_source, registries
from olm_cli.catalogs.choice import Form, chosen
from olm_cli.catalogs.completing import known_namespaces
from olm_cli.catalogs.names import package_argument
from olm_cli.catalogs.offered import Catalogs
from olm_cli.cluster_options import ClusterCommand
from olm_cli.extension import EXTENSION
from olm_cli.history_cluster import cluster
from olm_cli.kube_names import namespace_name, object_name
from olm_cli.lifecycle.applying import apply_all, check_acceptable
from olm_cli.lifecycle.changes import value_text
from olm_cli.lifecycle.interrupt import run
from olm_cli.lifecycle.options import source_options, spec_fields_of, spec_options, timeout_option
from olm_cli.lifecycle.overview import Phase, extension_facts, extension_state, installed_bundle
from olm_cli.lifecycle.spec_fields import differences, new_extension
from olm_cli.lifecycle.waiting import Wait
from olm_cli.output import DATA, TEXT, YAML, Format, Output, output_of, show, typed_names
from olm_cli.rbac_install import Asked, Install
from olm_cli.rbac_source import Source, is_bundle, resolved
from olm_cli.rbac_text import show_documents
from olm_content.rights import Document, as_rules, installer
from olm_runtime.cli.display import LiveDisplay
from olm_runtime.errors import TerminalError
from olm_runtime.kube.client import KubeClient


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
    order = _order(package, given)
    if given["dry_run"]:
        _print(order, output or YAML)
        return
    message = f"stopped; what was written stays. See how it goes: olm status {order.name}"
    output = output or TEXT
    done = run(_carry_out(order, given, output), message=message)
    if not output.is_text:
        show(done, output, typed_names(order.objects))


@dataclass(frozen=True, slots=True)
class _Order:
    """What is to be written, in this order; the extension comes last."""

    title: str
    bundle: str
    version: str
    catalog: str
    documents: Sequence[Document]

    @property
    def objects(self) -> list[KubeObject]:
        """All of it."""
        return [document.obj for document in self.documents]

    @property
    def extension(self) -> KubeObject:
        """The ClusterExtension."""
        return self.documents[-1].obj

    @property
    def name(self) -> str:
        """Its name."""
        return name_of(self.extension)


def _refuse_contradictions(given: Mapping[str, Any], output: Output | None) -> None:
    if _is_elsewhere(given) and not given["dry_run"]:
        raise click.UsageError(
            "a catalog on disk needs --dry-run, and so does an image: the cluster has its own, and "
            "olm catalog add adds one"
        )
    if given["dry_run"] and given["wait"]:
        raise click.UsageError("give --dry-run or --wait")
    if given["dry_run"] and output and output.is_text:
        raise click.UsageError("objects are printed as yaml or json")


def _is_elsewhere(given: Mapping[str, Any]) -> bool:
    """Whether --catalog means a folder or an image, and not a ClusterCatalog."""
    return given["catalog"] is not None and chosen(given["catalog"]).form is not Form.CLUSTER


def _order(package: str, given: Mapping[str, Any]) -> _Order:
    """Raises OLMError where nothing can be installed, saying what could be."""
    if is_bundle(package):
        raise TerminalError(
            f"{package} is no package's name",
            hint="bundles are installed from catalogs: olm search WORDS finds packages",
        )
    elsewhere = _is_elsewhere(given)
    fields = spec_fields_of({**given, "catalog": None} if elsewhere else given)
    catalogs = (given["catalog"],) if given["catalog"] else ()
    name = given["extension"] or package
    asked = Asked(package, {**given, "extension": name, "catalogs": catalogs})
    desired = _read(new_extension(package, name, "default", "default", fields)).spec.source.catalog
    found = resolved(desired, asked.catalogs or Catalogs(package, ()), asked.options)
    source = Source(read_source(found.image, registries(dict(given))), found.catalog)
    install = Install.of(asked, source)
    account = install.account
    documents = [] if given["no_account"] else installer(account, as_rules(install.needed(source)))
    own = new_extension(package, name, account.namespace, account.name, fields)
    return _Order(
        title=install.title(source),
        bundle=found.bundle,
        version=str(found.version),
        catalog=found.catalog,
        documents=[*documents, Document(own)],
    )


def _read(raw: KubeObject) -> ClusterExtension:
    try:
        return ClusterExtension.from_object(raw)
    except InvalidObjectError as error:
        raise TerminalError(str(error)) from error


def _print(order: _Order, output: Output) -> None:
    show_documents(order.title, order.documents, output)


async def _carry_out(order: _Order, given: Mapping[str, Any], output: Output) -> dict[str, Any]:
    """Applies the objects and waits if asked to. Returns the result as data."""
    echo = output.echo
    done: list[dict[str, str]] = []
    async with cluster(given["reach"]) as kube:
        objects = await _to_write(kube, order)
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


async def _to_write(kube: KubeClient, order: _Order) -> list[KubeObject]:
    """The objects that are not there as they should be. Raises TerminalError if they cannot be."""
    live = await kube.find(EXTENSION, order.name)
    if live is None:
        await check_acceptable(kube, order.extension)
        return order.objects
    if _read(live).spec != _read(order.extension).spec:
        raise TerminalError(
            f"ClusterExtension {order.name} is there already, and asks for something else:\n"
            + "\n".join(_differences(live, order.extension)),
            hint=f"see what a change would do: olm plan {order.name} --version ...; "
            "another --extension installs beside it",
        )
    # Its account may need rights for what is installed too; the roles here are for one version.
    return [live] if installed_bundle(live) else order.objects


def _differences(live: KubeObject, desired: KubeObject) -> Iterator[str]:
    """With the fields that have a default as if they were set."""
    old, new = (wire.write(_read(raw).spec) for raw in (live, desired))
    for path, before, after in differences(old, new, "spec"):
        yield f"  {path}: {value_text(before)} -> {value_text(after)}"


def _installed(name: str, found: KubeObject) -> Iterator[str]:
    yield f"{name}: {installed_bundle(found).get('name')} is installed"
    state = extension_state(found)
    if state.phase is Phase.DEGRADED:
        yield f"note: it does not work yet: {state.message}"
