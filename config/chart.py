"""What of charts/olmv1 is generated: CRDs from the models, roles from config/rbac, its README.

One source each, so that what the chart installs cannot drift from what tests and demo run with.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

CHART = Path(__file__).parents[1] / "charts" / "olmv1"
RBAC_FOLDER = Path(__file__).parent / "rbac"
COMPONENTS = ("catalogd", "operator-controller")
NAMESPACE = "olmv1-system"
README_TEXT = "README.in.md"
VALUES_MARK = "<!-- values -->\n"

_VALUE = re.compile(r'^(?P<indent> *)(?P<key>"?[A-Za-z]+"?):(?P<rest>.*)$')
_DESCRIPTION = re.compile(r"^ *# -- (?P<text>.*)$")


def chart_files(definitions: Mapping[str, str]) -> dict[Path, str]:
    """The generated files of the chart; `definitions` are CRDs in YAML by file name."""
    templates = CHART / "templates"
    crds = {templates / "crds" / name: _crd_template(text) for name, text in definitions.items()}
    roles = {
        templates / "rbac" / f"{component}.yaml": _rbac_template(
            (RBAC_FOLDER / f"{component}.yaml").read_text(encoding="utf-8"), component
        )
        for component in COMPONENTS
    }
    return {**crds, **roles, CHART / "README.md": _readme()}


def _crd_template(text: str) -> str:
    """A CRD that Helm upgrades as any other object, and does not delete."""
    comment, _, content = text.partition("\n")
    before, metadata, after = content.partition("metadata:\n  annotations:\n")
    if not metadata:
        raise SystemExit("a CustomResourceDefinition without annotations: see config/chart.py")
    labels = '  labels:\n    {{- include "olmv1.labels" (list $ "olmv1") | nindent 4 }}\n'
    marked = metadata.replace("metadata:\n", f"metadata:\n{labels}")
    marked += "    helm.sh/resource-policy: keep\n"
    return f"{{{{- if .Values.crds.install }}}}\n{comment}\n{before}{marked}{after}{{{{- end }}}}\n"


def _rbac_template(text: str, component: str) -> str:
    """The roles of a component. Its account is a template of its own, for it has values."""
    documents = [part for part in text.split("---\n") if "\nkind: ServiceAccount\n" not in part]
    namespace = f'{{{{ include "olmv1.namespace" (list $ "{component}") }}}}'
    labels = f'{{{{- include "olmv1.labels" (list $ "{component}") | nindent 4 }}}}'
    body = "---\n".join(documents)
    body = body.replace(f"namespace: {NAMESPACE}\n", f"namespace: {namespace}\n")
    body = body.replace("\nmetadata:\n", f"\nmetadata:\n  labels:\n    {labels}\n")
    source = f"config/rbac/{component}.yaml"
    return f"# Generated from {source} by `make generate`. Do not edit.\n{body}"


def _readme() -> str:
    text = (CHART / README_TEXT).read_text(encoding="utf-8")
    before, mark, after = text.partition(VALUES_MARK)
    if not mark:
        raise SystemExit(f"{README_TEXT} has no line {VALUES_MARK.strip()}")
    values = (CHART / "values.yaml").read_text(encoding="utf-8")
    rows = [f"| `{path}` | {default} | {text} |" for path, default, text in value_rows(values)]
    table = "\n".join(("| value | default | |", "|---|---|---|", *rows))
    return f"{before}{table}\n{after}"


def value_rows(values: str) -> Iterator[tuple[str, str, str]]:
    """Path, default as Markdown and description of every value that has a description."""
    defaults = yaml.safe_load(values)
    path: list[str] = []
    description = ""
    for line in values.splitlines():
        if found := _DESCRIPTION.match(line):
            description = found["text"]
        elif (found := _VALUE.match(line)) and not line.lstrip().startswith("#"):
            path = [*path[: len(found["indent"]) // 2], found["key"].strip('"')]
            if description:
                yield ".".join(path), _default(defaults, path), description
            description = ""


def _default(defaults: object, path: list[str]) -> str:
    value = defaults
    for key in path:
        value = value[key] if isinstance(value, dict) else None
    if value in ("", [], {}):
        return ""
    if isinstance(value, bool | int | str):
        return f"`{str(value).lower() if isinstance(value, bool) else value}`"
    return "see [values.yaml](values.yaml)"
