"""Values of flags as Go and Kubernetes write them. What cannot be read raises BadParameter."""

import logging
import math
import re

import click

Address = tuple[str, int]
"""Host and port; the empty host is every interface."""

_DURATION_PART = r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)"
_BYTES = {"": 1, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}
_LONGEST_SECONDS = (2**63 - 1) / 1e9
"""Of a duration in Go, which has 63 bits of nanoseconds."""
SHORTEST_INTERVAL_SECONDS = 0.01
"""Whoever begins again sooner does nothing else."""
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


def parse_bool(text: str) -> bool:
    """A boolean as Go's flag package reads it."""
    if text in ("1", "t", "T", "true", "TRUE", "True"):
        return True
    if text in ("0", "f", "F", "false", "FALSE", "False"):
        return False
    raise click.BadParameter(f"{text!r} is no boolean; say true or false")


def parse_address(text: str) -> Address | None:
    """`HOST:PORT` or `:PORT` (all interfaces); None for the empty text and `0`, which mean off."""
    if text in ("", "0"):
        return None
    host, colon, port = text.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise click.BadParameter(f"{text!r} is no address; say HOST:PORT or :PORT")
    return host.strip("[]"), int(port)


def parse_served_address(text: str) -> Address:
    """The same, of what cannot be left off."""
    address = parse_address(text)
    if address is None:
        raise click.BadParameter("it must be served somewhere; say HOST:PORT or :PORT")
    return address


def parse_count(text: str) -> int:
    """A whole number of at least one."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise click.BadParameter(f"{text!r} is no count; say a number from 1 on")
    return int(text)


def parse_size(text: str) -> int:
    """Bytes, as Kubernetes writes them: 1048576, 64Ki, 512Mi, 4Gi."""
    number, unit = (text[:-2], text[-2:]) if text[-2:] in _BYTES else (text, "")
    if not number.isascii() or not number.isdigit() or int(number) < 1:
        raise click.BadParameter(f"{text!r} is no size; say 512Mi or 4Gi")
    return int(number) * _BYTES[unit]


def write_size(size: int) -> str:
    """The shortest text that `parse_size` reads as this many bytes."""
    unit = next(unit for unit in ("Gi", "Mi", "Ki", "") if size % _BYTES[unit] == 0)
    return f"{size // _BYTES[unit]}{unit}"


def parse_duration(text: str) -> float:
    """Seconds of a duration as Go writes it: 12h, 1h30m, 1.5s, 0."""
    if text == "0":
        return 0.0
    parts = re.findall(_DURATION_PART, text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise click.BadParameter(f"{text!r} is no duration; say 12h or 1h30m")
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if seconds > _LONGEST_SECONDS:
        years = _LONGEST_SECONDS / _SECONDS["h"] / 24 / 365
        raise click.BadParameter(f"{text!r} is too long; say no more than {years:.0f} years")
    return seconds


def parse_patience(text: str) -> int:
    """Whole seconds to wait, at least one, of a duration; a bare number is of seconds."""
    bare = text.isascii() and text.isdigit()
    seconds = math.ceil(parse_duration(f"{text}s" if bare else text))
    if seconds < 1:
        raise click.BadParameter(f"{text!r} is no time to wait; say 1s or more")
    return seconds


def parse_interval(text: str) -> float:
    """Seconds of a duration after which something is done again and again."""
    seconds = parse_duration(text)
    if seconds < SHORTEST_INTERVAL_SECONDS:
        shortest = f"{SHORTEST_INTERVAL_SECONDS * 1000:.0f}ms"
        raise click.BadParameter(f"{text!r} is too short a pause; say {shortest} or more")
    return seconds


def parse_secret(text: str, flag: str = "global-pull-secret") -> tuple[str, str] | None:
    """`NAMESPACE/NAME` of a Secret; None for the empty text."""
    if not text:
        return None
    namespace, _, name = text.partition("/")
    if not namespace or not name or "/" in name:
        raise click.BadParameter(f"value of {flag} should be of the format <namespace>/<name>")
    return namespace, name


def parse_pair(text: str) -> tuple[str, str]:
    """What stands before and after the first colon."""
    before, _, after = text.partition(":")
    if not before or not after:
        raise click.BadParameter(f"{text!r} is no pair; say NAME:VALUE")
    return before, after


def log_level(verbosity: str) -> int:
    """The level for klog's `-v`: 0 to 3 say what happens, 4 and more also why."""
    digits = verbosity if verbosity.isascii() and verbosity.isdigit() else "0"
    return logging.DEBUG if int(digits) >= 4 else logging.INFO
