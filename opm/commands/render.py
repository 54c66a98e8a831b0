"""`opm render`: the records of catalogs and bundles as one stream."""

import re
from typing import Any

import click

from olm_content.bundle.reader import Contents
from olm_runtime.errors import TerminalError
from opm.commands.output import output_option, show
from opm.commands.registries import registry_options
from opm.io.references import ImageFor, Reading, read_reference
from opm.migrate import MIGRATIONS, NONE, migrate

_FIELD = re.compile(r"\{\{-?\s*\.(\w+)\s*-?\}\}")

migrate_level_option = click.option(
    "--migrate-level",
    type=click.Choice(list(MIGRATIONS)),
    default=NONE,
    show_default=True,
    help="Run all migrations up to and including this one.",
)


@click.command("render")
@click.argument("references", nargs=-1, required=True, metavar="REFERENCE...")
@output_option
@migrate_level_option
@click.option("--migrate", "migrate_all", is_flag=True, help="Run all migrations.")
@click.option(
    "--alpha-image-ref-template",
    metavar="TEMPLATE",
    help="Image of a bundle folder, such as registry.example.com/{{.Package}}:v{{.Version}}.",
)
@registry_options
@click.pass_obj
def render(
    registries: dict[str, Any],
    *,
    references: tuple[str, ...],
    output: str,
    migrate_level: str,
    migrate_all: bool,
    alpha_image_ref_template: str | None,
) -> None:
    """Print the objects of catalogs and bundles as one stream of file-based catalog objects.

    REFERENCE is a catalog image, a catalog folder, a bundle image, a bundle folder, or an SQLite
    catalog file.

    \b
    Examples:
      opm render registry.example.com/my-operator-bundle:v1.0.0 -o yaml >> catalog/index.yaml
      opm render registry.example.com/catalog:v4.19 | jq -s '.[] | select(.schema == "olm.package")'
      opm render ./bundle --alpha-image-ref-template 'registry.example.com/{{.Name}}:v{{.Version}}'
    """
    how = Reading(image_for=image_template(alpha_image_ref_template), **registries)
    level = list(MIGRATIONS)[-1] if migrate_all else migrate_level
    records = [each for reference in references for each in read_reference(reference, how)]
    show(migrate(records, level), output)


def image_template(template: str | None) -> ImageFor:
    """How a bundle folder's image is named. Raises TerminalError for fields that do not exist."""
    if template is None:
        return lambda _: ""
    known = {"Package", "Name", "Version"}
    unknown = set(_FIELD.findall(template)) - known
    if unknown or "{{" in _FIELD.sub("", template):
        raise TerminalError(
            f'image reference template "{template}" cannot be filled in',
            hint="its fields are {{.Package}}, {{.Name}} and {{.Version}}",
        )

    def image(bundle: Contents) -> str:
        fields = {
            "Package": bundle.metadata.package,
            "Name": bundle.name,
            "Version": bundle.version,
        }
        return _FIELD.sub(lambda found: fields[found[1]], template)

    return image
