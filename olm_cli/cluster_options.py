"""Options of commands that reach a cluster, with kubectl's names and meaning.

They may stand before the command's name as well as behind it; what is said behind it counts.
A command takes all of them as one value, `reach`. In its help they come last (`ClusterCommand`).
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from olm_client.usage import InvalidValueError, UsageError
from olm_runtime.cli.option_lists import with_options

if TYPE_CHECKING:
    from olm_client.reach import Reach

Command = TypeVar("Command", bound=Callable[..., Any])

_PREFIX = "reach_"


def reach_of(given: Mapping[str, Any]) -> "Reach":
    """Of the parameters of a command as click has them."""
    from olm_client.reach import Reach  # late: the list of commands is shown without
    from olm_runtime.kube.overrides import Overrides

    said = {
        name.removeprefix(_PREFIX): value
        for name, value in given.items()
        if name.startswith(_PREFIX) and value is not None
    }
    said.pop("verbosity", None)
    return Reach(said.pop("kubeconfig", None), Overrides(**said))


class ReachOption(click.Option):
    """An option that may stand before the command's name, too."""

    def consume_value(
        self, ctx: click.Context, opts: Mapping[str, Any]
    ) -> tuple[Any, ParameterSource]:
        """What is said here, else what is said before."""
        value, source = super().consume_value(ctx, opts)
        before = ctx.find_root().params.get(str(self.name))
        return (before, source) if source is ParameterSource.DEFAULT and before else (value, source)


class ClusterCommand(click.Command):
    """A command in whose help the options to reach the cluster come last.

    What is wrong in the question itself is a usage error.
    """

    def invoke(self, ctx: click.Context) -> Any:
        """Runs it."""
        try:
            return super().invoke(ctx)
        except InvalidValueError as error:
            hint = error.option or None
            raise click.BadParameter(error.message, ctx, param_hint=hint) from error
        except UsageError as error:
            raise click.UsageError(error.message, ctx) from error

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The sections of options."""
        own: list[tuple[str, str]] = []
        reach: list[tuple[str, str]] = []
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                (reach if isinstance(param, ReachOption) else own).append(record)
        for title, records in (("Options", own), ("Options to reach the cluster", reach)):
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def _entries(section: str) -> Callable[..., list[CompletionItem]]:
    """Completes names of entries of the kubeconfig."""

    def complete(
        ctx: click.Context, _param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        found = reach_of(ctx.params).names_in_kubeconfig(section)
        return [CompletionItem(name) for name in found if name.startswith(incomplete)]

    return complete


def _seconds(text: str) -> float:
    """As kubectl reads it: a bare number is of seconds, 0 is no bound."""
    if text.isascii() and text.isdigit():
        return float(text)
    from olm_runtime.cli.values import parse_duration  # late: every command would wait for it

    return parse_duration(text)


def _verbosity(text: str) -> int:
    number = text.removeprefix("=")
    if not number.isascii() or not number.isdigit():
        raise click.BadParameter(f"{number!r} is no verbosity; say a number, such as 6")
    return int(number)


def _option(*names: str, **how: Any) -> ReachOption:
    name = names[-1].removeprefix("--").replace("-", "_")
    return ReachOption([*names, _PREFIX + how.pop("name", name)], **how)


def _options() -> tuple[ReachOption, ...]:
    """All of them anew: a group changes its own."""
    return (*_where(), *_who(), *_how())


def _where() -> tuple[ReachOption, ...]:
    def entry(name: str) -> ReachOption:
        """Another entry of the kubeconfig than that of the context."""
        help_text = "Of the kubeconfig, in place of the context's."
        complete = _entries(f"{name}s")
        return _option(f"--{name}", metavar="NAME", shell_complete=complete, help=help_text)

    return (
        _option("--kubeconfig", metavar="FILE", help="Default: as kubectl finds it."),
        _option(
            "--context",
            metavar="NAME",
            help="Of the kubeconfig; default: its current one.",
            shell_complete=_entries("contexts"),
        ),
        entry("cluster"),
        entry("user"),
    )


def _who() -> tuple[ReachOption, ...]:
    return (
        _option("--as", metavar="USER", name="as_user", help="Act as somebody else."),
        _option(
            "--as-group",
            metavar="GROUP",
            name="as_groups",
            multiple=True,
            help="A group to act with; may be repeated.",
        ),
        _option("--as-uid", metavar="UID", help="The UID to act with."),
        _option("-s", "--server", metavar="URL", help="Address of the API server."),
        _option("--token", metavar="TOKEN", help="Bearer token, in place of other credentials."),
    )


def _how() -> tuple[ReachOption, ...]:
    return (
        _option(
            "--certificate-authority",
            metavar="FILE",
            name="authority",
            help="CAs to check the API server with.",
        ),
        _option(
            "--insecure-skip-tls-verify",
            is_flag=True,
            name="insecure",
            help="Do not check the API server's certificate.",
        ),
        _option(
            "--tls-server-name",
            metavar="NAME",
            name="server_name",
            help="The name that the API server's certificate is to have.",
        ),
        _option(
            "--request-timeout",
            metavar="DURATION",
            name="request_seconds",
            type=_seconds,
            help="How long to wait for an answer, such as 5s; 0 is for ever.  [default: 30s]",
        ),
        _option(
            *("-v", "--v"),
            metavar="LEVEL",
            name="verbosity",
            type=_verbosity,
            help="6 writes each request to standard error, 8 its headers, too.",
        ),
    )


def reach_options(command: Command) -> Command:
    """Adds kubectl's options; the command takes `reach`, a Reach."""

    @functools.wraps(command)
    def callback(*args: Any, **given: Any) -> Any:
        verbosity = given.get(f"{_PREFIX}verbosity")
        if verbosity:
            from olm_runtime.http.request_log import write_requests

            write_requests(verbosity)
        reach = reach_of(given)
        rest = {name: value for name, value in given.items() if not name.startswith(_PREFIX)}
        return command(*args, **rest, reach=reach)

    own = list(getattr(callback, "__click_params__", ()))
    callback.__click_params__ = [*reversed(_options()), *own]  # type: ignore[attr-defined]
    return callback  # type: ignore[return-value]


def on_front(group: click.Group) -> click.Group:
    """Has a group take them for its commands, which read them."""
    for option in _options():
        option.hidden = True
        if not option.is_flag:
            option.type = click.STRING
        group.params.append(option)
    return group


def _catalogd_options() -> Sequence[Callable[[Any], Any]]:
    from pathlib import Path  # late, as above

    return (
        click.option(
            "--catalogd-cas-dir",
            type=click.Path(exists=True, file_okay=False, path_type=Path),
            help="CAs to check catalogd with, where it is not asked through the API server.",
        ),
        click.option(
            "--allow-http-catalogs",
            is_flag=True,
            help="Read catalogs whose address has no TLS, too.",
        ),
    )


def cluster_options(command: Command) -> Command:
    """Adds the options of commands that read the catalogs of a cluster, too: `ClusterOptions`."""
    return with_options(reach_options(command), _catalogd_options())
