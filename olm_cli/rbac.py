"""`olm rbac`: the account that may install a bundle and no more."""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import click

from olm_cli.bundle import DEFAULT_PROVIDER, loaded, read_config, rendered
from olm_cli.bundle_files import registry_options
from olm_cli.output import show
from olm_cli.rbac_source import (
    Catalogs,
    Options,
    Source,
    is_bundle,
    read_bundle_of,
    read_catalogs,
    read_from_catalogs,
)
from olm_cli.rbac_text import commented, difference, facts
from olm_shared.errors import TerminalError
from olm_shared.kube_object import KubeObject
from operator_controller.bundle import RegistryV1
from operator_controller.bundle.configuration import ConfigurationError
from operator_controller.preflight.rbac import (
    Account,
    Needed,
    as_rules,
    beyond,
    guessed_kinds,
    installer,
    least,
    least_while_replacing,
    needs_of,
)
from operator_controller.render import CertificateProvider
from operator_controller.render.kinds import placed

SUGGESTED_NAMESPACE = "operatorframework.io/suggested-namespace"

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--version", "versions", default="", metavar="RANGE", help="Of PACKAGE."),
    click.option("--channel", "channels", multiple=True, metavar="NAME", help="Of PACKAGE."),
    click.option(
        "--catalog",
        "catalogs",
        multiple=True,
        metavar="[NAME=]DIR",
        help="Catalog on disk to look for PACKAGE in; default: the catalogs of the cluster.",
    ),
    click.option("--extension", metavar="NAME", help="The ClusterExtension; default: PACKAGE."),
    click.option(
        "--install-namespace",
        metavar="NS",
        help="Default: the one that the bundle suggests, else PACKAGE.",
    ),
    click.option(
        "--service-account", metavar="NAME", help="Default: the extension's name and -installer."
    ),
    click.option(
        "--watch-namespace", metavar="NS", help="Namespace to watch; default: all, if it can."
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
    click.option("--check", metavar="NAME", help="Print what a live service account lacks."),
    click.option(
        "--kubeconfig", metavar="FILE", help="How to reach the cluster; default: as kubectl does."
    ),
    click.option(
        "--catalogd-cas-dir",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        help="CAs to check catalogd with, where it is not asked through the API server.",
    ),
    click.option(
        "-o",
        "--output",
        type=click.Choice(["yaml", "json", "text"]),
        help="Default: yaml; with --diff and --check text.",
    ),
)


def _with_options(command: Command) -> Command:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command("rbac")
@click.argument("target", required=False, metavar="PACKAGE|BUNDLE")
@_with_options
@registry_options
def rbac(target: str | None, output: str | None, **given: Any) -> None:
    """Print a service account with the least permissions that install PACKAGE or BUNDLE.

    PACKAGE is looked for in the catalogs of the cluster, or in those given with --catalog. BUNDLE
    is a folder, a tar of it, or an image reference.

    \b
    Examples:
      olm rbac argocd-operator | kubectl apply -f -
      olm rbac argocd-operator --version 0.18.x --install-namespace argocd
      olm rbac ./argocd-operator/0.18.0
      olm rbac argocd-operator --diff 0.17.0 0.18.0
      olm rbac --diff ./argocd-operator/0.17.0 ./argocd-operator/0.18.0
      olm rbac argocd-operator --version 0.18.0 --update-from 0.17.0 | kubectl apply -f -
      olm rbac argocd-operator --check argocd-operator-installer

    OLD, FROM and TO are versions if PACKAGE is given, else each a BUNDLE. --check exits with 1
    if anything is missing.
    """
    asked = _Asked(target, given)
    _refuse_contradictions(asked, output)
    if given["diff"]:
        _show_difference(asked, output or "text")
    elif given["check"]:
        _check(asked, given["check"])
    else:
        _show_objects(asked, output or "yaml")


def _refuse_contradictions(asked: "_Asked", output: str | None) -> None:
    options = asked.options
    modes = [name for name in ("diff", "check", "update_from") if options[name]]
    if len(modes) > 1:
        raise click.UsageError("give one of --diff, --check and --update-from")
    if asked.target is None and not options["diff"]:
        raise click.UsageError("give PACKAGE or BUNDLE")
    if asked.target is not None and options["diff"] and is_bundle(asked.target):
        raise click.UsageError("give either PACKAGE with two versions, or two bundles")
    if options["check"] and output in ("yaml", "json"):
        raise click.UsageError("--check prints text")
    if not options["diff"] and not options["check"] and output == "text":
        raise click.UsageError("objects are printed as yaml or json")


@dataclass(frozen=True)
class _Asked:
    """The command line; what it refers to is read when it is needed, catalogs once."""

    target: str | None
    options: Options

    @cached_property
    def package(self) -> str | None:
        """The package that is asked about, None for bundles."""
        return None if self.target is None or is_bundle(self.target) else self.target

    @cached_property
    def catalogs(self) -> Catalogs | None:
        """Where versions are looked for."""
        return read_catalogs(self.package, self.options) if self.package else None

    def source(self, which: str) -> Source:
        """A version of the package; without a package, a bundle."""
        if self.catalogs is None:
            return read_bundle_of(which, self.options)
        return read_from_catalogs(self.catalogs, which, self.options)

    def main(self) -> Source:
        """What the account is for."""
        return self.source(self.options["versions"] if self.package else str(self.target))

    @property
    def provider(self) -> str:
        """Who issues certificates."""
        found = self.catalogs.provider if self.catalogs else None
        chosen: str = self.options["certificate_provider"] or (found or DEFAULT_PROVIDER).value
        return chosen


@dataclass(frozen=True, slots=True)
class _Install:
    """How a bundle is to be installed: by which extension, as which account."""

    extension: str
    account: Account
    asked: _Asked

    @classmethod
    def of(cls, asked: _Asked, source: Source, account: str = "") -> "_Install":
        options, bundle = asked.options, _bundle(source)
        extension = options["extension"] or bundle.package_name
        suggested = bundle.csv.annotations.get(SUGGESTED_NAMESPACE)
        namespace = options["install_namespace"] or suggested or bundle.package_name
        name = account or options["service_account"] or f"{extension}-installer"
        return cls(extension, Account(namespace, name), asked)

    def objects(self, source: Source) -> list[KubeObject]:
        """What installing creates."""
        options = self.asked.options
        try:
            objects = rendered(
                files=source.files,
                install_namespace=self.account.namespace,
                watch_namespace=options["watch_namespace"] or "",
                provider=self.asked.provider,
                config=read_config(options["config_file"]),
            )
        except ConfigurationError as error:
            hint = "see --watch-namespace and --config: they are to say what the extension will"
            raise TerminalError(error.message, hint=hint) from error
        return [placed(obj) for obj in objects]

    def needed(self, source: Source) -> Needed:
        """The least that installing needs."""
        objects = self.objects(source)
        return least(needs_of(objects, guessed_kinds(objects), self.extension))

    def title(self, source: Source) -> str:
        """What is installed, and how, in a line."""
        origin = f" from catalog {source.catalog}" if source.catalog else ""
        return (
            f"{_bundle(source).csv.name}{origin}: ClusterExtension {self.extension}, "
            f"namespace {self.account.namespace}, service account {self.account.name}"
        )


def _bundle(source: Source) -> RegistryV1:
    return loaded(tuple(source.files.items()))


def _show_objects(asked: _Asked, output: str) -> None:
    source = asked.main()
    install = _Install.of(asked, source)
    needed, title = install.needed(source), install.title(source)
    if asked.options["update_from"]:
        old = asked.source(asked.options["update_from"])
        needed = least_while_replacing(install.needed(old), needed)
        title += f", updated from {_bundle(old).csv.name}"
    documents = installer(install.account, as_rules(needed))
    if output == "json":
        show({"apiVersion": "v1", "kind": "List", "items": [d.obj for d in documents]}, output)
    else:
        sys.stdout.write(commented(title, documents))


def _show_difference(asked: _Asked, output: str) -> None:
    old, new = map(asked.source, asked.options["diff"])
    install = _Install.of(asked, new)
    before, after = install.needed(old), install.needed(new)
    added, removed = as_rules(beyond(after, before)), as_rules(beyond(before, after))
    names = [_bundle(source).csv.name for source in (old, new)]
    if output == "text":
        sys.stdout.write(difference(" -> ".join(names), added, removed))
    else:
        show(
            {"from": names[0], "to": names[1], "needed": facts(added), "unneeded": facts(removed)},
            output,
        )


def _check(asked: _Asked, account: str) -> None:
    from olm_cli.rbac_live import missing

    source = asked.main()
    install = _Install.of(asked, source, account)
    objects = install.objects(source)
    report = asyncio.run(
        missing(install.account, objects, install.extension, kubeconfig=asked.options["kubeconfig"])
    )
    name = _bundle(source).csv.name
    click.echo(report or f"{install.account.user} may install {name}")
    raise SystemExit(1 if report else 0)
