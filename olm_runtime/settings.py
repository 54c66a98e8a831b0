"""Settings that all daemons share, and the command line that they are read from."""

import functools
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from olm_runtime.cli.gates import Gate, feature_gates
from olm_runtime.cli.go_command import GoCommand
from olm_runtime.cli.option_lists import with_options
from olm_runtime.cli.values import Address, log_level, parse_address, parse_secret
from olm_runtime.http.tls import TlsProfile, profile_of
from olm_runtime.images.limits import Limits
from olm_runtime.kube.access import own_namespace
from olm_runtime.logs import LogFormat

DISTRIBUTION = "olmv1"
"""What pip calls us; it knows the version."""
TLS_PROFILES = ("modern", "intermediate", "old", "custom")
KLOG_VALUES = (
    "vmodule", "log-backtrace-at", "log-dir", "log-file", "log-file-max-size", "stderrthreshold",
)  # fmt: skip
KLOG_SWITCHES = (
    "add-dir-header", "alsologtostderr", "logtostderr", "one-output", "skip-headers",
    "skip-log-headers",
)  # fmt: skip

Option = Callable[[Any], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonSettings:
    """How a daemon runs. An address that is None is not served."""

    kubeconfig: str | None
    leader_elect: bool
    system_namespace: str
    gates: Mapping[str, bool]
    pull_cas_dir: Path | None
    global_pull_secret: tuple[str, str] | None
    limits: Limits
    tls_cert: Path | None
    tls_key: Path | None
    tls_profile: TlsProfile
    health_address: Address | None
    log_level: int
    log_format: LogFormat
    tracing: bool


def daemon(
    name: str,
    *,
    gates: Mapping[str, Gate],
    namespace: str,
    namespace_flag: str | None = None,
    elects: bool = False,
) -> Callable[[Callable[..., Any]], click.Command]:
    """Makes a command of a function that gets its own flags and the fields of DaemonSettings.

    gates           the feature gates that it knows
    namespace       where its own objects are when it runs outside a cluster
    namespace_flag  another name of --system-namespace
    elects          whether it works only while holding the lease unless told otherwise
    """

    def decorate(settings: Callable[..., Any]) -> click.Command:
        @functools.wraps(settings)
        def callback(**given: Any) -> Any:
            given["tls_profile"] = take_tls_profile(given)
            given["system_namespace"] = given["system_namespace"] or own_namespace(namespace)
            return settings(**given)

        callback = click.version_option(package_name=DISTRIBUTION, prog_name=name)(callback)
        log = logging.getLogger(settings.__module__)
        shared = _shared_options(gates, log, namespace_flag, elects=elects)
        callback = with_options(callback, (*shared, *klog_options()))
        context = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
        return click.command(name, cls=GoCommand, context_settings=context)(callback)

    return decorate


def take_tls_profile(given: dict[str, Any]) -> TlsProfile:
    """The profile that the flags of `tls_options` ask for, which are taken out of `given`.

    Raises click.UsageError.
    """
    parts = (given.pop(f"tls_{part}") for part in ("profile", "version", "ciphers", "curves"))
    try:
        return profile_of(*parts)
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def optional_path(text: str) -> Path | None:
    """A path; None for the empty text."""
    return Path(text) if text else None


def _shared_options(
    gates: Mapping[str, Gate], log: logging.Logger, namespace_flag: str | None, *, elects: bool
) -> tuple[Option, ...]:
    namespace_flags = ["--system-namespace", *([namespace_flag] if namespace_flag else [])]
    option = click.option
    return (
        option("--kubeconfig", metavar="FILE", callback=lambda _, __, text: text or None,
               help="Kubeconfig file.  [default: the pod's own account]"),
        option("--leader-elect/--no-leader-elect" if elects else "--leader-elect", is_flag=True,
               default=elects, show_default=elects,
               help="Work only while holding the lease, so that replicas wait."),
        option(*namespace_flags, "system_namespace", metavar="NAME", default="",
               help="Namespace of our own objects."),
        option("--feature-gates", "gates", multiple=True, metavar="NAME=BOOL,...",
               callback=lambda _, __, texts: feature_gates(texts, gates, log),
               help="Switches of features; unknown ones are warned about."),
        option("--pull-cas-dir", type=optional_path, metavar="FOLDER",
               help="Folder of CA files for registries."),
        option("--global-pull-secret", type=parse_secret, metavar="NAMESPACE/NAME",
               help="Pull secret for images."),
        *tls_options(),
        *process_options(),
    )  # fmt: skip


def tls_options() -> tuple[Option, ...]:
    """Flags of servers over TLS."""
    option, comma_list = click.option, "Comma list, for profile custom."
    return (
        option("--tls-cert", type=optional_path, metavar="FILE",
               help="Certificate file of the servers."),
        option("--tls-key", type=optional_path, metavar="FILE", help="Key file of the servers."),
        option("--tls-profile", type=click.Choice(TLS_PROFILES), default="intermediate",
               show_default=True),
        option("--tls-custom-version", "tls_version", default="TLSv1.2", show_default=True,
               metavar="VERSION", help="For profile custom."),
        option("--tls-custom-ciphers", "tls_ciphers", default="", metavar="NAMES", help=comma_list),
        option("--tls-custom-curves", "tls_curves", default="", metavar="NAMES", help=comma_list),
    )  # fmt: skip


def process_options() -> tuple[Option, ...]:
    """Flags of every process that goes on running."""
    option = click.option
    return (
        option("--health-probe-bind-address", "health_address", type=parse_address,
               default=":8081", show_default=True, metavar="ADDRESS",
               help="Address of /healthz and /readyz."),
        option("--logging-format", "log_format", default=LogFormat.TEXT.value, show_default=True,
               type=click.Choice([each.value for each in LogFormat]),
               callback=lambda _, __, text: LogFormat(text),
               help="How lines of the log look; json has the ids of traces."),
        option("--tracing", is_flag=True,
               help="Send spans by OTLP over HTTP, as the variables OTEL_* say."),
        option("--pprof-bind-address", expose_value=False, metavar="ADDRESS",
               help="Accepted, without effect."),
    )  # fmt: skip


def klog_options() -> tuple[Option, ...]:
    """Flags of klog: `-v` counts, the others are accepted."""
    option = functools.partial(click.option, hidden=True)
    return (
        option("-v", "--v", "log_level", default="0", callback=lambda _, __, text: log_level(text)),
        *(option(f"--{name}", expose_value=False) for name in KLOG_VALUES),
        *(option(f"--{name}", expose_value=False, is_flag=True) for name in KLOG_SWITCHES),
    )


def read_settings(command: click.Command, arguments: Sequence[str] | None) -> Any:
    """What the command makes of the arguments, by default those of the program.

    Exits with a message and code 2 when they are wrong.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        with command.make_context(command.name, given) as context:
            return command.invoke(context)
    except click.UsageError as error:
        error.show()
        raise SystemExit(error.exit_code) from error
    except click.exceptions.Exit as ended:
        raise SystemExit(ended.exit_code) from ended
