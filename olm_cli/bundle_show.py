"""`olm bundle show`: what is in a bundle."""

from collections.abc import Iterator, Mapping
from typing import Any

import click

from olm_cli.output import Output, fail, output_option, show
from olm_cli.registry_options import registry_options
from olm_client.bundle_files import read_source, registries
from olm_content.bundle.summary import summary
from olm_runtime.errors import OLMError


@click.command("show")
@click.argument("source", metavar="BUNDLE")
@output_option
@registry_options
def show_command(source: str, output: Output, **given: Any) -> None:
    """Say what BUNDLE contains: a folder, a tar of it, or an image reference.

    APIs, permissions, images, webhooks, install modes, dependencies.

    \b
    Examples:
      olm bundle show ./argocd-operator/0.18.0
      olm bundle show registry.example.com/op-bundle:v1.2.0 -o json
    """
    try:
        found = summary(read_source(source, registries(given)))
    except OLMError as error:
        fail(error)
    if output.is_text:
        click.echo("\n".join(_lines(found)))
    else:
        show(found, output)


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    yield f"{found['name']} (package {found['package']}, version {found['version']})"
    yield f"install modes: {', '.join(found['installModes'])}"
    yield from _section("APIs", (_api(api) for api in found["apis"]["defined"]))
    yield from _section("required APIs", (a["name"] for a in found["apis"]["required"]))
    for scope, permissions in found["permissions"].items():
        yield from _section(f"{scope} permissions", rule_lines(permissions))
    yield from _section("images", found["images"])
    yield from _section("related images", (i["image"] for i in found["relatedImages"]))
    yield from _section("webhooks", (f"{w['type']} {w['generateName']}" for w in found["webhooks"]))
    yield from _section("dependencies", (str(d["type"]) for d in found["dependencies"]))
    yield from _section("other objects", found["objects"])


def _section(title: str, lines: Any) -> Iterator[str]:
    listed = list(lines)
    if listed:
        yield f"{title}:"
        yield from (f"  {line}" for line in listed)


def _api(api: Mapping[str, Any]) -> str:
    return f"{api['name']} ({', '.join(api['served'])})"


def rule_lines(permissions: list[dict[str, Any]]) -> Iterator[str]:
    """The rules of service accounts, one a line."""
    for permission in permissions:
        for rule in permission["rules"]:
            what = rule.get("resources") or rule.get("nonResourceURLs") or []
            groups = ",".join(group or "core" for group in rule.get("apiGroups") or [])
            where = f" in {groups}" if groups else ""
            verbs = ",".join(rule.get("verbs") or [])
            yield f"{permission['serviceAccount']}: {verbs} {','.join(what)}{where}"
