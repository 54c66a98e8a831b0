"""Command lines as Go programs read them, so that upstream's arguments work here unchanged.

`--flag=value` and `--flag value`, booleans with and without a value, feature gates as a
comma-separated map that may be given several times, and klog's flags.
"""

import argparse
import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

KLOG_VALUES = (
    "v", "vmodule", "log-backtrace-at", "log-dir", "log-file", "log-file-max-size",
    "stderrthreshold",
)  # fmt: skip
KLOG_SWITCHES = (
    "add-dir-header", "alsologtostderr", "logtostderr", "one-output", "skip-headers",
    "skip-log-headers",
)  # fmt: skip

TLS_PROFILES = ("modern", "intermediate", "old", "custom")

ALL_ALPHA = "AllAlpha"
ALL_BETA = "AllBeta"

_DURATION_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)")
_BYTES = {"": 1, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True, slots=True)
class Gate:
    """A feature gate. `alpha`: upstream calls it so; `without_effect`: why it does nothing."""

    default: bool
    alpha: bool = False
    without_effect: str = ""


def parse_bool(text: str) -> bool:
    """A boolean as Go's flag package reads it."""
    if text in ("1", "t", "T", "true", "TRUE", "True"):
        return True
    if text in ("0", "f", "F", "false", "FALSE", "False"):
        return False
    raise argparse.ArgumentTypeError(f"{text!r} is no boolean; say true or false")


def parse_address(text: str) -> tuple[str, int] | None:
    """`HOST:PORT` or `:PORT` (all interfaces); None for the empty text and `0`, which mean off."""
    if text in ("", "0"):
        return None
    host, colon, port = text.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no address; say HOST:PORT or :PORT")
    return host.strip("[]"), int(port)


def parse_count(text: str) -> int:
    """A whole number of at least one."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no count; say a number from 1 on")
    return int(text)


def parse_size(text: str) -> int:
    """Bytes, as Kubernetes writes them: 1048576, 64Ki, 512Mi, 4Gi."""
    number, unit = (text[:-2], text[-2:]) if text[-2:] in _BYTES else (text, "")
    if not number.isascii() or not number.isdigit() or int(number) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no size; say 512Mi or 4Gi")
    return int(number) * _BYTES[unit]


def parse_duration(text: str) -> float:
    """Seconds of a duration as Go writes it: 12h, 1h30m, 1.5s, 0."""
    if text == "0":
        return 0.0
    parts = _DURATION_PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise argparse.ArgumentTypeError(f"{text!r} is no duration; say 12h or 1h30m")
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)


def parse_secret(text: str) -> tuple[str, str] | None:
    """`NAMESPACE/NAME` of a Secret; None for the empty text."""
    if not text:
        return None
    namespace, _, name = text.partition("/")
    if not namespace or not name or "/" in name:
        raise argparse.ArgumentTypeError(
            "value of global-pull-secret should be of the format <namespace>/<name>"
        )
    return namespace, name


def add_switch(parser: argparse.ArgumentParser, name: str, description: str) -> None:
    """Adds a boolean flag that is off unless given, with or without a value."""
    parser.add_argument(
        name, nargs="?", const=True, default=False, type=parse_bool, help=description
    )


def add_common(parser: argparse.ArgumentParser) -> None:
    """Adds what both programs know: cluster, leader election, gates, TLS, klog."""
    parser.add_argument("--kubeconfig", help="kubeconfig file (default: the pod's own account)")
    add_switch(parser, "--leader-elect", "work only while holding the lease, so that replicas wait")
    parser.add_argument("--system-namespace", default="", help="namespace of our own objects")
    parser.add_argument(
        "--feature-gates", action="append", default=[], metavar="NAME=BOOL,...",
        help="switches of features; unknown ones are warned about",
    )  # fmt: skip
    parser.add_argument("--pull-cas-dir", default="", help="folder of CA files for registries")
    parser.add_argument(
        "--global-pull-secret",
        type=parse_secret,
        default=None,
        metavar="NAMESPACE/NAME",
        help="pull secret for images",
    )
    parser.add_argument("--tls-cert", default="", help="certificate file of the servers")
    parser.add_argument("--tls-key", default="", help="key file of the servers")
    parser.add_argument("--tls-profile", default="intermediate", choices=TLS_PROFILES)
    parser.add_argument("--tls-custom-ciphers", default="", help="comma list, profile custom")
    parser.add_argument("--tls-custom-curves", default="", help="comma list, profile custom")
    parser.add_argument("--tls-custom-version", default="TLSv1.2", help="profile custom")
    parser.add_argument("--pprof-bind-address", default="0", help="accepted, without effect")
    for name in KLOG_VALUES:
        spelling = ("-v", "--v") if name == "v" else (f"--{name}", f"--{name.replace('-', '_')}")
        parser.add_argument(*spelling, dest=f"klog_{name}", default="", help=argparse.SUPPRESS)
    for name in KLOG_SWITCHES:
        parser.add_argument(
            f"--{name}", f"--{name.replace('-', '_')}", dest=f"klog_{name}",
            nargs="?", const=True, type=parse_bool, help=argparse.SUPPRESS,
        )  # fmt: skip


def feature_gates(
    texts: Iterable[str], known: Mapping[str, Gate], log: logging.Logger
) -> dict[str, bool]:
    """The state of each known gate: as named, else as AllAlpha says of alpha ones, else as usual.

    Unknown ones are warned about and change nothing. Raises ArgumentTypeError for text that is no
    map of booleans.
    """
    named = _named_gates(texts)
    for name in named.keys() - known.keys() - {ALL_ALPHA, ALL_BETA}:
        log.warning("unknown feature gate %s is ignored", name)
    if ALL_BETA in named:
        log.warning("feature gate %s has no effect: no feature is beta", ALL_BETA)
    gates = {}
    for name, gate in known.items():
        usual = named.get(ALL_ALPHA, gate.default) if gate.alpha else gate.default
        gates[name] = named.get(name, usual)
        if gates[name] and gate.without_effect:
            log.warning("feature gate %s has no effect: %s", name, gate.without_effect)
    return gates


def _named_gates(texts: Iterable[str]) -> dict[str, bool]:
    named: dict[str, bool] = {}
    for part in filter(None, (p.strip() for text in texts for p in text.split(","))):
        name, equals, value = part.partition("=")
        if not equals:
            raise argparse.ArgumentTypeError(f"feature gate {part!r}: say NAME=true or NAME=false")
        try:
            named[name.strip()] = parse_bool(value.strip())
        except argparse.ArgumentTypeError as error:
            raise argparse.ArgumentTypeError(f"feature gate {part!r}: {error}") from error
    return named


def log_level(verbosity: str) -> int:
    """The level for klog's `-v`: 0 to 3 say what happens, 4 and more also why."""
    digits = verbosity if verbosity.isascii() and verbosity.isdigit() else "0"
    return logging.DEBUG if int(digits) >= 4 else logging.INFO
