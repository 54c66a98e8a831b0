"""Boolean options as Go programs read them: `--switch`, `--switch=true`, `--switch=false`."""

import argparse

import click

from olm_runtime.cli.flags import parse_bool


class Switches(click.Command):
    """A command whose boolean options may be given a value after an equals sign.

    An option that has no opposite is left out when its value is false.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reads the arguments."""
        opposites = {
            name: option.secondary_opts[0] if option.secondary_opts else ""
            for option in self.params
            if isinstance(option, click.Option) and option.is_flag
            for name in option.opts
        }
        given = []
        for position, argument in enumerate(args):
            if argument == "--":
                given += args[position:]
                break
            name, equals, value = argument.partition("=")
            if not equals or name not in opposites:
                given.append(argument)
                continue
            spelled = name if _read(name, value) else opposites[name]
            given += [spelled] if spelled else []
        return super().parse_args(ctx, given)


def _read(name: str, value: str) -> bool:
    try:
        return parse_bool(value)
    except argparse.ArgumentTypeError as error:
        raise click.BadParameter(str(error), param_hint=name) from error
