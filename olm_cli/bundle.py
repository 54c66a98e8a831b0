"""`olm bundle`: what is in a bundle, and what installing it would create. Needs no cluster."""

import sys
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn

import click
import orjson

from olm_cli.batch import answers
from olm_shared.errors import OLMError, TerminalError
from olm_shared.kube_object import KubeObject
from olm_shared.kube_yaml import load_all
from operator_controller.bundle import RegistryV1, load
from operator_controller.bundle.configuration import WATCH_NAMESPACE
from operator_controller.bundle.loader import ANNOTATIONS_FILE, MANIFESTS, PROPERTIES_FILE
from operator_controller.render import CertificateProvider, InstallRequest, install_objects

KEPT_BUNDLES = 2
"""A batch asks for one bundle in several ways, one after the other: it is parsed once."""

DEFAULT_PROVIDER = CertificateProvider.SELF
"""What the controller falls back to in a cluster that offers nothing else."""


@click.group()
def bundle() -> None:
    """Look into registry+v1 bundles."""


@bundle.command("render")
@click.argument("folder", required=False, metavar="DIR")
@click.option("--install-namespace", metavar="NS", help="Namespace the operator is installed in.")
@click.option(
    "--watch-namespace", metavar="NS", help="Namespace to watch; default: all, if it can."
)
@click.option(
    "--certificate-provider",
    type=click.Choice([provider.value for provider in CertificateProvider]),
    default=DEFAULT_PROVIDER.value,
    show_default=True,
    help="Who issues the serving certificates of webhooks.",
)
@click.option("--config", "config_file", metavar="FILE", help="What spec.config.inline would say.")
@click.option("-o", "--output", type=click.Choice(["yaml", "json"]), default="yaml")
@click.option("--batch", metavar="FILE", help="Answer JSON lines from FILE, or - for stdin.")
def render_command(**given: Any) -> None:
    """Print the objects that installing the bundle in DIR would create.

    DIR is a bundle's root, with the folders manifests and metadata.

    \b
    Examples:
      olm bundle render ./argocd-operator/0.18.0 --install-namespace argocd
      olm bundle render . --install-namespace op --watch-namespace apps -o json
      olm bundle render --batch - < requests.jsonl

    A line of a batch is {"id","dir","installNamespace","watchNamespace",
    "certificateProvider","config"}; its answer is {"id","objects"} or {"id","error"}.
    """
    if given["batch"]:
        for line in answers(given["batch"], answer):
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
        return
    if not given["folder"] or not given["install_namespace"]:
        raise click.UsageError("give DIR and --install-namespace, or --batch")
    try:
        objects = _rendered(
            folder=Path(given["folder"]),
            install_namespace=given["install_namespace"],
            watch_namespace=given["watch_namespace"] or "",
            provider=given["certificate_provider"],
            config=_read_config(given["config_file"]),
        )
    except OLMError as error:
        _fail(error)
    _show(objects, given["output"])


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to one line of a batch, without its id. Raises OLMError."""
    return {
        "objects": _rendered(
            folder=Path(_text(request, "dir")),
            install_namespace=_text(request, "installNamespace"),
            watch_namespace=_text(request, "watchNamespace"),
            provider=_text(request, "certificateProvider") or DEFAULT_PROVIDER.value,
            config=request.get("config"),
        )
    }


def _text(request: Mapping[str, Any], field: str) -> str:
    value = request.get(field)
    if value is not None and not isinstance(value, str):
        raise TerminalError(f"{field}: expected text, got {value!r}")
    return value or ""


def _rendered(
    *, folder: Path, install_namespace: str, watch_namespace: str, provider: str, config: Any
) -> list[KubeObject]:
    if provider not in [known.value for known in CertificateProvider]:
        raise TerminalError(f'unknown certificate provider "{provider}"')
    request = InstallRequest(
        install_namespace=install_namespace,
        config=_with_watch_namespace(config, watch_namespace),
        certificate_provider=CertificateProvider(provider),
    )
    return install_objects(_loaded(tuple(read_bundle(folder).items())), request)


@lru_cache(maxsize=KEPT_BUNDLES)
def _loaded(files: tuple[tuple[str, bytes], ...]) -> RegistryV1:
    return load(dict(files))


def _with_watch_namespace(config: Any, watch_namespace: str) -> Any:
    if not watch_namespace or not isinstance(config or {}, dict):
        return config
    merged = {WATCH_NAMESPACE: watch_namespace, **(config or {})}
    if merged[WATCH_NAMESPACE] != watch_namespace:
        raise TerminalError(
            f'the watch namespace is "{watch_namespace}" and, in the configuration, '
            f'"{merged[WATCH_NAMESPACE]}"'
        )
    return merged


def read_bundle(folder: Path) -> dict[str, bytes]:
    """The files of a bundle that count, by their path from its root. Raises OLMError."""
    try:
        if not folder.is_dir():
            raise TerminalError(f"{folder}: no such folder")
        metadata = [folder / name for name in (ANNOTATIONS_FILE, PROPERTIES_FILE)]
        paths = [
            *(path for path in metadata if path.exists()),
            *sorted((folder / MANIFESTS).rglob("*")),
        ]
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in paths
            if path.is_file()
        }
    except OSError as error:
        raise TerminalError(f"{error.filename}: {error.strerror}") from error


def _read_config(file: str | None) -> Any:
    if file is None:
        return None
    try:
        return next(load_all(Path(file).read_bytes()), {})
    except OSError as error:
        raise TerminalError(f"{file}: {error.strerror}") from error


def _show(objects: Iterable[KubeObject], output: str) -> None:
    if output == "json":
        sys.stdout.buffer.write(orjson.dumps(list(objects), option=orjson.OPT_INDENT_2) + b"\n")
        return
    from olm_cli.yaml_text import dump_all

    sys.stdout.write(dump_all(objects))


def _fail(error: OLMError) -> NoReturn:
    click.echo(f"error: {error.message}", err=True)
    if error.hint:
        click.echo(f"hint: {error.hint}", err=True)
    raise SystemExit(1)
