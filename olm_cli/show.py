"""`olm show`: a package as catalogs have it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import click

from olm_cli.catalogs.completing import known_channels, known_versions
from olm_cli.catalogs.names import package_argument
from olm_cli.catalogs.options import catalog_options, warn
from olm_cli.cluster_options import ClusterCommand
from olm_cli.output import Output, object_output_option, show
from olm_client.catalogs.bundle_source import read_offered
from olm_client.catalogs.details import Details, package_details, records_of
from olm_client.catalogs.sources import Sources, unavailable, with_package
from olm_client.catalogs.summarising import one_line
from olm_runtime.errors import OLMError, TerminalError

VERSIONS_SHOWN = 8


@click.command("show", cls=ClusterCommand)
@package_argument
@click.option(
    "--version",
    "versions",
    default="",
    metavar="RANGE",
    shell_complete=known_versions,
    help="Of the bundle to tell.",
)
@click.option(
    "--channel",
    default="",
    metavar="NAME",
    shell_complete=known_channels,
    help="Default: the default channel.",
)
@click.option("--bundle-image", is_flag=True, help="Pull the bundle to show its permissions.")
@object_output_option
@catalog_options
def show_command(
    package: str, versions: str, channel: str, output: Output, *, bundle_image: bool, **options: Any
) -> None:
    """Tell what each catalog says of PACKAGE, and of one bundle of it.

    That is the head of the default channel, unless --version or --channel say otherwise. Catalogs
    do not have the permissions of a bundle; --bundle-image pulls its image and shows them.

    \b
    Examples:
      olm show quay-operator
      olm show quay-operator --version 3.10.x --bundle-image
      olm show quay-operator --catalog ./catalog -o json
    """
    offers = Sources(options).offers()
    found, faults = [], []
    for catalog, blobs in with_package(offers, package):
        try:
            facts = package_details(records_of(blobs), version=versions, channel=channel)
        except OLMError as error:
            faults.append(
                TerminalError(f"{package} in {catalog}: {error.message}", hint=error.hint)
            )
            continue
        if bundle_image:
            facts["bundle"]["permissions"] = _permissions(
                facts["bundle"]["image"], catalog, options
            )
        found.append({"catalog": catalog, **facts})
    if not found:
        raise faults[0]
    if output.is_text:
        warn(offers)
        for fault in faults:
            click.echo(f"warning: {fault.message}", err=True)
        for facts in found:
            click.echo("\n".join(_lines(facts)))
    else:
        failed = [{"message": fault.message} for fault in faults]
        answer = {"catalogs": found, "unavailable": [*unavailable(offers), *failed]}
        show(answer, output, dict.fromkeys(facts["bundle"]["name"] for facts in found))


def _permissions(image: str, catalog: str, options: Mapping[str, Any]) -> Any:
    from olm_content.bundle.summary import summary

    return summary(read_offered(image, catalog, options))["permissions"]


def _lines(facts: Details) -> Iterator[str]:
    bundle = facts["bundle"]
    title = f"{facts['package']} in catalog {facts['catalog']}"
    yield click.style(title, bold=True)
    named = ", ".join(filter(None, (facts["displayName"], facts["provider"])))
    purpose = bundle["description"] or one_line(facts["description"])
    yield from _indented(filter(None, (named, purpose)))
    yield from _section("deprecated", (_deprecation(each) for each in facts["deprecations"]))
    yield from _section("channels", _columns(map(_channel, facts["channels"])))
    versions = [each["version"] or each["name"] for each in facts["versions"]]
    more = f" and {len(versions) - VERSIONS_SHOWN} more" if len(versions) > VERSIONS_SHOWN else ""
    yield f"versions: {', '.join(versions[:VERSIONS_SHOWN])}{more}"
    yield f"bundle: {bundle['name']} (version {bundle['version']})"
    yield from _indented(_bundle(bundle))
    yield from _permission_lines(bundle)


def _bundle(bundle: Details) -> Iterator[str]:
    yield f"image: {bundle['image']}"
    if bundle["installModes"]:
        yield f"install modes: {', '.join(bundle['installModes'])}"
    if bundle["minKubeVersion"]:
        yield f"needs Kubernetes {bundle['minKubeVersion']} or newer"
    if bundle["maxOpenShiftVersion"]:
        yield f"runs on OpenShift up to {bundle['maxOpenShiftVersion']}"
    yield from _section("APIs", map(_api, bundle["apis"]))
    yield from _section("required APIs", map(_api, bundle["requiredAPIs"]))
    yield from _section("required packages", map(_requirement, bundle["requiredPackages"]))
    yield from _section("constraints", map(str, bundle["constraints"]))
    obstacles = (click.style(each, fg="red") for each in bundle["obstacles"])
    yield from _section("OLM v1 cannot install it", obstacles)
    yield from _section("related images", (each["image"] for each in bundle["relatedImages"]))


def _permission_lines(bundle: Details) -> Iterator[str]:
    from olm_cli.bundle_show import rule_lines

    if bundle["permissions"] is None:
        yield "  permissions: only the bundle's image has them; --bundle-image pulls it"
        return
    for scope, permissions in bundle["permissions"].items():
        yield from _indented(_section(f"{scope} permissions", rule_lines(permissions)))


def _channel(channel: Details) -> tuple[str, ...]:
    marks = [mark for mark in ("default", "deprecated") if channel[mark]]
    return channel["name"], channel["version"], channel["head"], ", ".join(marks)


def _deprecation(entry: Details) -> str:
    what = f"{entry['schema'].removeprefix('olm.')} {entry['name']}".rstrip()
    return click.style(f"{what}: {' '.join(entry['message'].split())}", fg="yellow")


def _api(api: Details) -> str:
    return f"{api['kind']} ({api['group']}/{api['version']})"


def _requirement(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{value.get('packageName', '')} {value.get('versionRange', '')}".rstrip()
    return str(value)


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    listed = list(lines)
    if listed:
        yield f"{title}:"
        yield from _indented(listed)


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)


def _columns(rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    given = list(rows)
    widths = [max(map(len, column)) for column in zip(*given, strict=True)]
    for row in given:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()
