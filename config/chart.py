"""What of the charts is generated: CRDs from the models, roles from config/rbac, each README.

One source each, so that what a chart installs cannot drift from what tests and demo run with.
The others also have the templates of charts/olmv1 that their pods share.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

FOLDER = Path(__file__).parents[1] / "charts"
RBAC_FOLDER = Path(__file__).parent / "rbac"
README_TEXT = "README.in.md"
VALUES_MARK = "<!-- values -->\n"


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart, and where what is generated of it comes from.

    name        of the chart, its folder and its templates
    components  the programs; each has its roles in a file of `rbac`
    namespace   that the roles name
    """

    name: str
    components: tuple[str, ...]
    rbac: Path
    namespace: str

    @property
    def folder(self) -> Path:
        """Its folder."""
        return FOLDER / self.name


OLM_V1 = Chart("olmv1", ("catalogd", "operator-controller"), RBAC_FOLDER, "olmv1-system")
CLASSIC = Chart(
    "olm-classic",
    ("catalog-operator", "olm-operator", "package-server"),
    RBAC_FOLDER / "classic",
    "olm",
)

UPDATE_SERVICE = Chart("update-service", (), RBAC_FOLDER, "update-service")
"""Its program needs no rights."""
SHARING = (CLASSIC, UPDATE_SERVICE)
"""The charts with templates of charts/olmv1."""

_VALUE = re.compile(r'^(?P<indent> *)(?P<key>"?[A-Za-z]+"?):(?P<rest>.*)$')
_DESCRIPTION = re.compile(r"^ *# -- (?P<text>.*)$")
_DEFINITION = re.compile(r'{{- define "olmv1\.(?P<name>[^"]+)" -}}\n.*?\n{{- end -}}\n', re.DOTALL)
_OWN_LABELS = re.compile(
    r"(?P<labels>\nmetadata:\n  labels:\n    {{-.*\n)(?P<names>(?:  name(?:space)?: .*\n)*)"
    r"  labels:\n(?P<own>(?:    .*\n)*)"
)
"""A role that has labels of its own, too."""
SHARED = ("labels", "registryCAs", "registriesConf")
"""Definitions of _helpers.tpl that all charts have; of _pods.tpl they have all."""


def chart_files(
    definitions: Mapping[str, str], classic_definitions: Mapping[str, str]
) -> dict[Path, str]:
    """The generated files of all charts; definitions are CRDs in YAML by file name."""
    shared = {
        chart.folder / "templates" / "_shared.tpl": _shared_templates(chart) for chart in SHARING
    }
    return {
        **_files_of(OLM_V1, definitions),
        **_files_of(CLASSIC, classic_definitions),
        **_files_of(UPDATE_SERVICE, {}),
        **shared,
    }


def _files_of(chart: Chart, definitions: Mapping[str, str]) -> dict[Path, str]:
    templates = chart.folder / "templates"
    crds = {
        templates / "crds" / name: _crd_template(text, chart) for name, text in definitions.items()
    }
    roles = {
        templates / "rbac" / f"{component}.yaml": _rbac_template(chart, component)
        for component in chart.components
    }
    return {**crds, **roles, chart.folder / "README.md": _readme(chart.folder)}


def _shared_templates(chart: Chart) -> str:
    """What pods and labels of the charts share, by the names of one of them.

    Programs of OLM Classic are called as upstream calls them, without -controller-manager.
    """
    templates = OLM_V1.folder / "templates"
    helpers = (templates / "_helpers.tpl").read_text(encoding="utf-8")
    pods = (templates / "_pods.tpl").read_text(encoding="utf-8")
    parts = [
        found[0]
        for text, names in ((helpers, SHARED), (pods, None))
        for found in _DEFINITION.finditer(text)
        if names is None or found["name"] in names
    ]
    text = "\n".join(parts).replace("olmv1", chart.name)
    text = text.replace("control-plane: {{ index . 1 }}-controller-manager", "app: {{ index . 1 }}")
    text = text.replace("-controller-manager", "").replace("manager", "{{ index . 1 }}")
    comment = "Generated from charts/olmv1/templates by `make generate`. Do not edit."
    return f"{{{{/* {comment} */}}}}\n\n{text}"


def _crd_template(text: str, chart: Chart) -> str:
    """A CRD that Helm upgrades as any other object, and does not delete."""
    comment, _, content = text.partition("\n")
    before, mark, after = content.partition("metadata:\n")
    annotations = "  annotations:\n"
    after = after.removeprefix(annotations) if after.startswith(annotations) else after
    call = f'include "{chart.name}.labels" (list $ "{chart.name}") | nindent 4'
    marked = f"{mark}  labels:\n    {{{{- {call} }}}}\n{annotations}"
    marked += "    helm.sh/resource-policy: keep\n"
    return f"{{{{- if .Values.crds.install }}}}\n{comment}\n{before}{marked}{after}{{{{- end }}}}\n"


def _rbac_template(chart: Chart, component: str) -> str:
    """The roles of a component. Its account is a template of its own, for it has values."""
    file = chart.rbac / f"{component}.yaml"
    text = file.read_text(encoding="utf-8")
    documents = [part for part in text.split("---\n") if "\nkind: ServiceAccount\n" not in part]
    namespace = f'{{{{ include "{chart.name}.namespace" (list $ "{component}") }}}}'
    labels = f'{{{{- include "{chart.name}.labels" (list $ "{component}") | nindent 4 }}}}'
    body = "---\n".join(documents)
    body = body.replace(f"namespace: {chart.namespace}\n", f"namespace: {namespace}\n")
    body = body.replace("\nmetadata:\n", f"\nmetadata:\n  labels:\n    {labels}\n")
    body = _OWN_LABELS.sub(r"\g<labels>\g<own>\g<names>", body)
    source = file.relative_to(RBAC_FOLDER.parents[1])
    return f"# Generated from {source} by `make generate`. Do not edit.\n{body}"


def _readme(chart: Path) -> str:
    text = (chart / README_TEXT).read_text(encoding="utf-8")
    before, mark, after = text.partition(VALUES_MARK)
    if not mark:
        raise SystemExit(f"{README_TEXT} has no line {VALUES_MARK.strip()}")
    values = (chart / "values.yaml").read_text(encoding="utf-8")
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
