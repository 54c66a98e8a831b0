"""The limits of images as flags, the same in all daemons."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import click

from olm_runtime.cli.values import parse_count, parse_size, write_size
from olm_runtime.images.limits import Limits, limit_flag


class LimitFlag(NamedTuple):
    """A field of `Limits`, how its text is read, and what it bounds."""

    field: str
    parse: Callable[[str], int]
    what: str


LIMIT_FLAGS = (
    LimitFlag("manifest_bytes", parse_size, "size of a manifest or an index"),
    LimitFlag("config_bytes", parse_size, "size of the image configuration"),
    LimitFlag("layers", parse_count, "layers"),
    LimitFlag("compressed_bytes", parse_size, "size of all layers as they are transferred"),
    LimitFlag("window_bytes", parse_size, "memory that a zstd layer may ask for"),
    LimitFlag("header_bytes", parse_size, "size of an extended tar header, 256Ki at least"),
    LimitFlag("entries", parse_count, "files, folders and links in all layers"),
    LimitFlag("file_bytes", parse_size, "size of a file"),
    LimitFlag("total_bytes", parse_size, "size of all files"),
    LimitFlag("ratio", parse_count, "bytes that a compressed byte becomes"),
    LimitFlag("depth", parse_count, "folders within each other"),
    LimitFlag("path_length", parse_count, "characters of a path"),
)


def limit_options(defaults: Limits) -> Callable[[Any], Any]:
    """Adds a flag for each limit; the command gets all of them as `limits`."""

    def decorate(command: Any) -> Any:
        @functools.wraps(command)
        def callback(**given: Any) -> Any:
            limits = {flag.field: given.pop(_parameter(flag)) for flag in LIMIT_FLAGS}
            return command(**given, limits=Limits(**limits))

        for flag in reversed(LIMIT_FLAGS):
            default = getattr(defaults, flag.field)
            is_size = flag.parse is parse_size
            callback = click.option(
                limit_flag(flag.field),
                _parameter(flag),
                type=flag.parse,
                metavar="SIZE" if is_size else "COUNT",
                default=write_size(default) if is_size else str(default),
                show_default=True,
                help=f"Limit of images: {flag.what}.",
            )(callback)
        return callback

    return decorate


def _parameter(flag: LimitFlag) -> str:
    return f"image_{flag.field}"
