"""Commands whose flags are spelled as Go programs spell them.

`--flag=value` and `--flag value`, `-flag` for `--flag`, `_` for `-`, `-v=4`, and boolean flags as
`--flag`, `--flag=true` and `--flag=false`. Of a flag that is given twice the last one counts.
"""

from collections.abc import Iterable
from itertools import islice

import click

from olm_runtime.cli.values import parse_bool


class GoCommand(click.Command):
    """Brings Go's spelling into click's before the arguments are read."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reads the arguments."""
        options = {
            name: option
            for option in self.get_params(ctx)
            if isinstance(option, click.Option)
            for name in (*option.opts, *option.secondary_opts)
        }
        return super().parse_args(ctx, _spelled_for_click(args, options))


def _spelled_for_click(args: Iterable[str], options: dict[str, click.Option]) -> list[str]:
    spelled: list[str] = []
    rest = iter(args)
    for argument in rest:
        if argument == "--":
            return [*spelled, argument, *rest]
        before, equals, value = argument.partition("=")
        name = _name(before, options)
        option = options.get(name)
        if option is None:
            spelled.append(argument)
        elif not option.is_flag:
            # The next argument is its value, whatever it looks like.
            spelled += [name, value] if equals else [name, *islice(rest, 1)]
        elif not equals or name in option.secondary_opts:
            spelled.append(argument.replace(before, name, 1))
        elif _read(name, value):
            spelled.append(name)
        else:
            spelled = [other for other in spelled if options.get(other) is not option]
            spelled += option.secondary_opts[:1]
    return spelled


def _name(given: str, options: dict[str, click.Option]) -> str:
    """The name of the flag that is meant; what was given when there is none."""
    if not given.startswith("-"):
        return given
    long = "--" + given.removeprefix("-").removeprefix("-").replace("_", "-")
    return long if given not in options and long in options else given


def _read(name: str, value: str) -> bool:
    try:
        return parse_bool(value)
    except click.BadParameter as error:
        raise click.BadParameter(error.message, param_hint=name) from error
