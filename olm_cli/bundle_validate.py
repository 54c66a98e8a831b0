"""`olm bundle validate`: every fault of a bundle at once, for its author's CI."""

from collections.abc import Iterator, Mapping
from typing import Any

import click

from olm_cli.output import Output, fail, output_option, show
from olm_cli.registry_options import registry_options
from olm_client.bundle_files import read_source, registries
from olm_content.bundle.manifests import manifests
from olm_content.bundle.model import InstallMode, RegistryV1
from olm_content.bundle.reader import load
from olm_content.bundle.review import Fault, file_faults
from olm_content.bundle.summary import dependencies
from olm_content.names import CSV_KIND
from olm_content.render.install import InstallRequest, install_objects, unsupported
from olm_content.render.options import CertificateProvider
from olm_content.render.validators import unsupported_kinds, validate
from olm_runtime.errors import OLMError

VALID, FAULTY, UNREADABLE = 0, 1, 2
"""Exit codes."""


@click.command("validate")
@click.argument("source", metavar="BUNDLE")
@output_option
@registry_options
def validate_command(source: str, output: Output, **given: Any) -> None:
    """Check BUNDLE: a folder, a tar of it, or an image reference.

    Everything that OLM would refuse, and what it would install but the author did not mean, such
    as keys given twice. All faults are reported at once.

    Exit code: 0 valid, 1 faulty, 2 the bundle could not be read.

    \b
    Examples:
      olm bundle validate ./my-bundle
      olm bundle validate my-bundle.tar.gz -o json
      olm bundle validate localhost:5000/my-bundle:v1.0.0 --plain-http
    """
    try:
        files = read_source(source, registries(given))
    except OLMError as error:
        fail(error, UNREADABLE)
    found = faults(files)
    if output.is_text:
        click.echo("\n".join(map(str, found)) if found else f"{source}: no faults")
    else:
        listed = [{"file": fault.file, "message": fault.message} for fault in found]
        show({"valid": not found, "faults": listed}, output)
    raise SystemExit(FAULTY if found else VALID)


def faults(files: Mapping[str, bytes]) -> list[Fault]:
    """Every fault of a bundle's files; what they mean together once they can be read."""
    found = file_faults(files)
    try:
        bundle = load(files)
    except OLMError:
        return found  # one of `file_faults`
    return found + list(_bundle_faults(bundle, files))


def _bundle_faults(bundle: RegistryV1, files: Mapping[str, bytes]) -> Iterator[Fault]:
    by_kind = {(obj["kind"], obj["metadata"].get("name")): path for path, obj in _named(files)}
    csv_file = by_kind.get((CSV_KIND, bundle.csv.name), "")
    for message in unsupported(bundle, CertificateProvider.SELF):
        yield Fault(csv_file, f"unsupported bundle: {message}")
    for dependency in dependencies(bundle, files):
        yield Fault("", f"unsupported bundle: it depends on {dependency['type']}, and OLM v1 "
                    "installs no dependencies")  # fmt: skip
    kinds = set(unsupported_kinds(bundle))
    checked = validate(bundle)
    for message in checked:
        yield Fault("" if message in kinds else csv_file, message)
    if not checked:
        yield from _render_faults(bundle, csv_file)


def _named(files: Mapping[str, bytes]) -> Iterator[tuple[str, dict[str, Any]]]:
    return ((path, obj) for path, obj in manifests(files) if obj.get("metadata"))


def _render_faults(bundle: RegistryV1, csv_file: str) -> Iterator[Fault]:
    """What only generating shows, with the configuration that fits the install modes."""
    if any(unsupported(bundle, CertificateProvider.SELF)):
        return
    csv = bundle.csv
    config = None
    if not csv.supports(InstallMode.ALL_NAMESPACES):
        own = csv.supports(InstallMode.OWN_NAMESPACE)
        config = {"watchNamespace": "install" if own else "watched"}
    request = InstallRequest(
        install_namespace="install", config=config, certificate_provider=CertificateProvider.SELF
    )
    try:
        install_objects(bundle, request)
    except OLMError as error:
        yield Fault(csv_file, error.message)
