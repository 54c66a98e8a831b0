"""The command line's front: which commands there are."""

import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NoReturn

import click

from olm_cli.cluster_options import on_front
from olm_runtime.cli.command_line import Lazy, LazyGroup, run


def _completing(lazy: Lazy) -> click.Command:
    """Without importing the command, once that was done."""
    from olm_cli.command_shapes import quick_command

    return quick_command(lazy)


COMMANDS: Mapping[str, Lazy] = MappingProxyType(
    {
        "bundle": Lazy("olm_cli.bundle", "bundle", "Look into registry+v1 bundles."),
        "catalog": Lazy("olm_cli.catalog", "catalog", "Work with the catalogs of a cluster."),
        "classic": Lazy(
            "olm_cli.classic.group", "classic", "Resolve and explain namespaces of OLM Classic."
        ),
        "cluster": Lazy(
            "olm_cli.cluster.group", "cluster", "See and change the version of a whole cluster."
        ),
        "completion": Lazy(
            "olm_cli.completion", "completion", "Print a shell's completion script."
        ),
        "console": Lazy("olm_cli.console", "console", "Open the web console in a browser."),
        "crd": Lazy("olm_cli.crd", "crd", "Check CustomResourceDefinitions."),
        "diff": Lazy("olm_cli.diff", "diff", "Compare two catalogs."),
        "doctor": Lazy(
            "olm_cli.doctor", "doctor", "Find what is wrong in a cluster, and how to mend it."
        ),
        "graph": Lazy("olm_cli.graph", "graph_command", "Draw the update graph of a package."),
        "history": Lazy(
            "olm_cli.history", "history", "List the revisions of an extension in a cluster."
        ),
        "install": Lazy("olm_cli.install", "install", "Install a package from a catalog."),
        "plan": Lazy("olm_cli.plan", "plan", "Show what an extension would change."),
        "rbac": Lazy("olm_cli.rbac", "rbac", "Write the permissions that a bundle needs."),
        "resolve": Lazy("olm_cli.resolve", "resolve_command", "Find the bundle for a package."),
        "search": Lazy("olm_cli.search", "search", "Find packages by words."),
        "resume": Lazy("olm_cli.resume", "resume", "Go on with a suspended extension."),
        "suspend": Lazy("olm_cli.suspend", "suspend", "Leave an extension as it is for a while."),
        "status": Lazy("olm_cli.status", "status", "Show the state of extensions and catalogs."),
        "uninstall": Lazy("olm_cli.uninstall", "uninstall", "Remove an extension."),
        "upgrade": Lazy("olm_cli.upgrade", "upgrade", "Bring an extension to another version."),
        "show": Lazy("olm_cli.show", "show_command", "Show what catalogs say of a package."),
        "rollback": Lazy("olm_cli.rollback", "rollback", "Bring an extension back to a revision."),
        "version": Lazy("olm_cli.version", "version", "Work with versions and version ranges."),
        "why": Lazy("olm_cli.why", "why", "Explain the state of an extension in a cluster."),
    }
)


@click.group(
    cls=LazyGroup,
    lazily=COMMANDS,
    completing=_completing,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="olmv1", prog_name="olm")
def cli(**_: Any) -> None:
    """Work with Operator Lifecycle Manager v1: in a cluster, and offline what its controllers do.

    \b
    Examples:
      olm install argocd-operator --wait
      olm status
      olm version match '>=1.2 <2' 1.4.0
      olm resolve --catalog mine=./catalog --package argocd-operator --version 0.x
      olm bundle render ./my-bundle --install-namespace my-operator
      olm --context staging status

    kubectl's options to reach a cluster, such as --context, --as and -v, stand in the help of each
    command that takes them, and may be said before its name, too.
    """


on_front(cli)


def main() -> NoReturn:
    """Runs the command line; kubectl runs it as the program kubectl-olm."""
    plugin = sys.argv[0].rpartition("/")[2] == "kubectl-olm"
    run(cli, "kubectl olm" if plugin else "olm")


if __name__ == "__main__":
    main()
