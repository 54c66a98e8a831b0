"""`olm bundle`: what is in a bundle, and what installing it would create. Needs no cluster."""

import sys
from collections.abc import Iterable, Mapping
from typing import Any

import click

from api.objects import KubeObject
from olm_cli.bundle_show import show_command
from olm_cli.bundle_validate import validate_command
from olm_cli.fields import text
from olm_cli.kube_names import namespace_name
from olm_cli.output import (
    YAML,
    Format,
    Output,
    batch_option,
    fail,
    output_of,
    show,
    show_answers,
    typed_names,
)
from olm_cli.registry_options import registry_options
from olm_client.bundle_files import read_source, registries
from olm_client.bundle_rendering import DEFAULT_PROVIDER, rendered
from olm_client.inline_config import read_config
from olm_content.render.options import CertificateProvider
from olm_runtime.errors import OLMError
from olm_runtime.registry.workstation import Registries


@click.group()
def bundle() -> None:
    """Look into registry+v1 bundles."""


bundle.add_command(validate_command)
bundle.add_command(show_command)


@bundle.command("render")
@click.argument("source", required=False, metavar="BUNDLE")
@click.option(
    "--install-namespace",
    callback=namespace_name,
    metavar="NS",
    help="Namespace the operator is installed in.",
)
@click.option(
    "--watch-namespace",
    callback=namespace_name,
    metavar="NS",
    help="Namespace to watch; default: all, if it can.",
)
@click.option(
    "--certificate-provider",
    type=click.Choice([provider.value for provider in CertificateProvider]),
    default=DEFAULT_PROVIDER.value,
    show_default=True,
    help="Who issues the serving certificates of webhooks.",
)
@click.option("--config", "config_file", metavar="FILE", help="What spec.config.inline would say.")
@output_of(Format.YAML, Format.JSON, Format.JSONPATH, Format.NAME, default=YAML)
@batch_option
@registry_options
def render_command(**given: Any) -> None:
    """Print the objects that installing BUNDLE would create.

    BUNDLE is a folder with the folders manifests and metadata, a tar of it, or an image reference.

    \b
    Examples:
      olm bundle render ./argocd-operator/0.18.0 --install-namespace argocd
      olm bundle render . --install-namespace op --watch-namespace apps -o json
      olm bundle render registry.example.com/op-bundle:v1.2.0 --install-namespace op
      olm bundle render --batch - < requests.jsonl

    A line of a batch is {"id","dir","installNamespace","watchNamespace",
    "certificateProvider","config"}, where "dir" is a BUNDLE too; its answer is
    {"id","objects"} or {"id","error"}.
    """
    if given["batch"]:
        show_answers(given["batch"], answer)
        return
    if not given["source"] or not given["install_namespace"]:
        raise click.UsageError("give BUNDLE and --install-namespace, or --batch")
    try:
        objects = rendered(
            files=read_source(given["source"], registries(given)),
            install_namespace=given["install_namespace"],
            watch_namespace=given["watch_namespace"] or "",
            provider=given["certificate_provider"],
            config=read_config(given["config_file"]),
        )
    except OLMError as error:
        fail(error)
    _show(objects, given["output"])


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to one line of a batch, without its id. Raises OLMError."""
    return {
        "objects": rendered(
            files=read_source(text(request, "dir", required=True), Registries()),
            install_namespace=text(request, "installNamespace"),
            watch_namespace=text(request, "watchNamespace"),
            provider=text(request, "certificateProvider") or DEFAULT_PROVIDER.value,
            config=request.get("config"),
        )
    }


def _show(objects: Iterable[KubeObject], output: Output) -> None:
    if output.format is Format.YAML:
        from olm_content.formats.yaml_text import dump_all

        sys.stdout.write(dump_all(objects))
    else:
        listed = list(objects)
        show(listed, output, typed_names(listed))
