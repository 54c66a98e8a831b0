"""The commands that pages show are those of the page, whatever names and fields say."""

import re
import shlex
from pathlib import Path

import pytest

from console.orders import Asked
from console.rendering import FOLDER, environment

TRICKS = ["a; touch b", "$(touch b)", "`touch b`", "a' touch 'b", "a\ntouch b", "a & b", "--help"]
COMMAND = re.compile(r"parts_of\.command\((.*)\)\s*\}\}")
LITERAL = re.compile(r'"(?:\\.|[^"\\])*"')
NAME = re.compile(r"\b(name|version|channel|words|catalog|facts\.\w+)\b(?! \|)(?= ~|$|\))")


@pytest.mark.parametrize("trick", TRICKS)
def test_a_field_of_the_form_stays_one_word(trick: str) -> None:
    said = Asked(catalog=trick, version=trick, config=f"a: {trick}").command(trick)
    written = ["printf", "%s\\n", f"a: {trick}", ">", "config.yaml"]
    words = ["olm", "install", trick, "--catalog", trick, "--version", trick]
    assert shlex.split(said) == [*written, *words, "--config", "config.yaml"]


@pytest.mark.parametrize("trick", TRICKS)
def test_a_value_in_a_template_stays_one_word(trick: str) -> None:
    template = environment().from_string("{{ ('olm ' ~ value | shell) | safe }}")
    assert shlex.split(template.render(value=trick)) == ["olm", trick]


@pytest.mark.parametrize("template", sorted(FOLDER.glob("*.html")), ids=lambda file: file.name)
def test_every_value_in_a_command_is_quoted(template: Path) -> None:
    text = template.read_text().replace("asked.command(name)", '""')  # it quotes by itself
    for expression in COMMAND.findall(text):
        assert not NAME.search(LITERAL.sub('""', expression)), expression
