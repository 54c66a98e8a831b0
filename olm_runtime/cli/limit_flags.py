"""The limits of images as flags, the same in both programs."""

import argparse
from collections.abc import Callable
from dataclasses import fields
from typing import NamedTuple

from olm_runtime.cli.flags import parse_count, parse_size
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


def add_limits(parser: argparse.ArgumentParser, defaults: Limits) -> argparse._ArgumentGroup:
    """Adds a flag for each limit; the group, for further ones."""
    group = parser.add_argument_group("limits of images")
    for flag in LIMIT_FLAGS:
        group.add_argument(
            limit_flag(flag.field),
            dest=f"image_{flag.field}",
            type=flag.parse,
            metavar="SIZE" if flag.parse is parse_size else "COUNT",
            default=getattr(defaults, flag.field),
            help=f"{flag.what} (default: %(default)s)",
        )
    return group


def limits_of(given: argparse.Namespace) -> Limits:
    """The limits that a command line asks for."""
    return Limits(**{field.name: getattr(given, f"image_{field.name}") for field in fields(Limits)})
