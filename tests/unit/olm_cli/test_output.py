"""`-o`: which formats a command takes, and kubectl's JSONPath templates."""

from typing import Any

import click
import pytest
from click.testing import CliRunner

from api.objects import GVK
from olm_cli.jsonpath import parse_template
from olm_cli.output import Output, show, table_output_option, typed_name
from olm_runtime.errors import TerminalError

CONFIG: dict[str, Any] = {
    "kind": "Config",
    "contexts": [
        {"name": "a", "context": {"user": "u", "namespace": "x", "cluster": "c"}},
        {"name": "b.c/d-e", "context": {"cluster": "d", "user": "v"}},
    ],
    "labels": {"example.com/x-y": "1", "n": 3, "yes": True, "none": None},
}


@pytest.mark.parametrize(
    ("template", "written"),
    [
        # What kubectl writes of the same; tests/integration/test_kubeconfig.py asks it.
        ("{.contexts[*].name}", "a b.c/d-e"),
        (r'{range .contexts[*]}{.name}{"\t"}{.context.user}{"\n"}{end}', "a\tu\nb.c/d-e\tv\n"),
        ("{..name}", "a b.c/d-e"),
        ('{.contexts[?(@.name=="a")].context.user}', "u"),
        ("x {.nope} y", "x  y"),
        ("{.contexts[-1].name}{.contexts[-1:].name}", "b.c/d-eb.c/d-e"),
        ("{.contexts[0].context}", '{"cluster":"c","namespace":"x","user":"u"}'),
        (r"{.labels.example\.com/x-y}", "1"),
        ("{@.kind}{$.kind}", "ConfigConfig"),
        ("{.contexts[?(@.context.namespace)].name}", "a"),
        ("{range .contexts[*]}{range .context}{.user}{end};{end}", "u;v;"),
        (r'{"a\"b{c}"}', 'a"b{c}'),
        ("{.labels.n}{.labels.yes}", "3true"),
        # What kubectl does otherwise.
        (".contexts[0].name", "a"),
        ("{.contexts[9].name}", ""),
        (r'{.contexts[?(@.context.user=="v")].name}', "b.c/d-e"),
    ],
)
def test_templates_are_written_as_kubectl_does(template: str, written: str) -> None:
    assert parse_template(template).render(CONFIG) == written


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        ("{range .items[*]}{.name}", "a {range} has no {end}"),
        ("{.a}{end}", "there is no {range}"),
        ("{.a", "a brace is not closed"),
        ("{.a[}", "unexpected '['"),
        ("{.a[?(@.b}", "is no path"),
        ("{.a b}", "unexpected ' b'"),
    ],
)
def test_what_is_no_template_is_reported(template: str, problem: str) -> None:
    with pytest.raises(TerminalError) as caught:
        parse_template(template)
    assert problem in caught.value.message


@click.command()
@table_output_option
def command(output: Output) -> None:
    show(CONFIG, output, [typed_name(GVK("g.io", "v1", "Kind"), "n"), "pod/m"])


def test_each_format() -> None:
    def said(*arguments: str) -> str:
        return CliRunner().invoke(command, arguments).output

    assert said("-o", "json").startswith('{\n  "kind": "Config"')
    assert said("-o", "yaml").startswith("kind: Config\n")
    assert said("-o", "name") == "kind.g.io/n\npod/m\n"
    assert said("-o", "jsonpath={.kind}") == "Config"
    assert "did you mean yaml?" in said("-o", "yml")
    assert "there are text, wide" in said("-o", "csv")
    assert "a template is missing" in said("-o", "jsonpath=")
    assert "no JSONPath template" in said("-o", "jsonpath={.a")
    assert "text|wide|name|json|yaml|jsonpath=TEMPLATE" in said("--help")
