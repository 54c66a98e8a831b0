"""`olm rbac`: the account that may install a bundle and no more."""

import sys
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import click

from olm_cli.catalogs.completing import (
    known_channels,
    known_namespaces,
    known_packages,
    known_versions,
)
from olm_cli.catalogs.options import catalogs_option
from olm_cli.cluster_options import ClusterCommand, cluster_options
from olm_cli.documents import show_documents
from olm_cli.kube_names import namespace_name, object_name
from olm_cli.output import DATA, TEXT, YAML, Format, Output, output_of, show
from olm_cli.registry_options import registry_options
from olm_client.bundle_rendering import DEFAULT_PROVIDER
from olm_client.rbac.install import Asked, Install, bundle_of
from olm_client.rbac.source import is_bundle
from olm_client.rbac.text import difference, facts
from olm_content.render.options import CertificateProvider
from olm_content.rights import as_rules, beyond, installer, least_while_replacing
from olm_runtime.cli.async_work import run_async
from olm_runtime.cli.option_lists import with_options

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--version",
        "versions",
        default="",
        metavar="RANGE",
        shell_complete=known_versions,
        help="Of PACKAGE.",
    ),
    click.option(
        "--channel",
        "channels",
        multiple=True,
        metavar="NAME",
        shell_complete=known_channels,
        help="Of PACKAGE.",
    ),
    catalogs_option,
    click.option(
        "--extension",
        callback=object_name,
        metavar="NAME",
        help="The ClusterExtension; default: PACKAGE.",
    ),
    click.option(
        "--install-namespace",
        callback=namespace_name,
        metavar="NS",
        shell_complete=known_namespaces,
        help="Default: the one that the bundle suggests, else PACKAGE.",
    ),
    click.option(
        "--service-account",
        callback=object_name,
        metavar="NAME",
        help="Default: the extension's name and -installer.",
    ),
    click.option(
        "--watch-namespace",
        callback=namespace_name,
        metavar="NS",
        help="Namespace to watch; default: all, if it can.",
    ),
    click.option(
        "--config", "config_file", metavar="FILE", help="What spec.config.inline would say."
    ),
    click.option(
        "--certificate-provider",
        type=click.Choice([provider.value for provider in CertificateProvider]),
        help="Who issues serving certificates of webhooks; default: as the cluster, if one is "
        f"asked, else {DEFAULT_PROVIDER.value}.",
    ),
    click.option("--update-from", metavar="OLD", help="Also what OLD needs until it is replaced."),
    click.option("--diff", nargs=2, metavar="FROM TO", help="Print how needs differ."),
    click.option(
        "--check",
        callback=object_name,
        metavar="NAME",
        help="Print what a live service account lacks.",
    ),
    output_of(
        *(Format.TEXT, Format.NAME, *DATA),
        default=None,
        note="Default: yaml; with --diff and --check text.",
    ),
)


_with_options = partial(with_options, options=_OPTIONS)


@click.command("rbac", cls=ClusterCommand)
@click.argument("target", required=False, metavar="PACKAGE|BUNDLE", shell_complete=known_packages)
@_with_options
@registry_options
@cluster_options
def rbac(target: str | None, output: Output | None, **given: Any) -> None:
    """Print a service account with the least permissions that install PACKAGE or BUNDLE.

    PACKAGE is looked for in the catalogs of the cluster, or in those given with --catalog. BUNDLE
    is a folder, a tar of it, or an image reference.

    \b
    Examples:
      olm rbac argocd-operator | kubectl apply --server-side --field-manager=olm -f -
      olm rbac argocd-operator --version 0.18.x --install-namespace argocd
      olm rbac ./argocd-operator/0.18.0
      olm rbac argocd-operator --diff 0.17.0 0.18.0
      olm rbac --diff ./argocd-operator/0.17.0 ./argocd-operator/0.18.0
      olm rbac argocd-operator --version 0.18.0 --update-from 0.17.0 \\
          | kubectl apply --server-side --field-manager=olm -f -
      olm rbac argocd-operator --check argocd-operator-installer

    OLD, FROM and TO are versions if PACKAGE is given, else each a BUNDLE. --check exits with 1
    if anything is missing.
    """
    asked = Asked(target, given)
    _refuse_contradictions(asked, output)
    if given["diff"]:
        _show_difference(asked, output or TEXT)
    elif given["check"]:
        _check(asked, given["check"], output or TEXT)
    else:
        _show_objects(asked, output or YAML)


def _refuse_contradictions(asked: Asked, output: Output | None) -> None:
    options = asked.options
    modes = [name for name in ("diff", "check", "update_from") if options[name]]
    if len(modes) > 1:
        raise click.UsageError("give one of --diff, --check and --update-from")
    if asked.target is None and not options["diff"]:
        raise click.UsageError("give PACKAGE or BUNDLE")
    if asked.target is not None and options["diff"] and is_bundle(asked.target):
        raise click.UsageError("give either PACKAGE with two versions, or two bundles")
    if not options["diff"] and not options["check"] and output and output.is_text:
        raise click.UsageError("objects are printed as yaml or json")


def _show_objects(asked: Asked, output: Output) -> None:
    source = asked.main()
    install = Install.of(asked, source)
    needed, title = install.needed(source), install.title(source)
    if asked.options["update_from"]:
        old = asked.source(asked.options["update_from"])
        needed = least_while_replacing(install.needed(old), needed)
        title += f", updated from {bundle_of(old).csv.name}"
    documents = installer(install.account, as_rules(needed))
    show_documents(title, documents, output)


def _show_difference(asked: Asked, output: Output) -> None:
    old, new = map(asked.source, asked.options["diff"])
    install = Install.of(asked, new)
    before, after = install.needed(old), install.needed(new)
    added, removed = as_rules(beyond(after, before)), as_rules(beyond(before, after))
    names = [bundle_of(source).csv.name for source in (old, new)]
    if output.is_text:
        sys.stdout.write(difference(" -> ".join(names), added, removed))
    else:
        show(
            {"from": names[0], "to": names[1], "needed": facts(added), "unneeded": facts(removed)},
            output,
        )


def _check(asked: Asked, account: str, output: Output) -> None:
    from olm_client.rbac.live import missing

    source = asked.main()
    install = Install.of(asked, source, account)
    objects = install.objects(source)
    report = run_async(
        missing(install.account, objects, install.extension, reach=asked.options["reach"])
    )
    name = bundle_of(source).csv.name
    if output.is_text:
        click.echo(report or f"{install.account.user} may install {name}")
    else:
        found = {"bundle": name, "account": install.account.user, "granted": report is None}
        show(found | ({"message": report} if report else {}), output)
    raise SystemExit(1 if report else 0)
