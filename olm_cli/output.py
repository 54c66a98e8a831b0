"""Answers for people and for programs: `-o`."""

import sys
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeVar

import click
import orjson
from click.shell_completion import CompletionItem

from api.objects import GVK, KubeObject, gvk_of, name_of
from olm_client.usage import UsageError
from olm_runtime.errors import OLMError, TerminalError
from olm_runtime.plurals import counted
from olm_runtime.suggestions import suggestion

if TYPE_CHECKING:
    from olm_cli.batch import Answer
    from olm_cli.jsonpath import Template

Command = TypeVar("Command", bound=Callable[..., Any])


class Format(StrEnum):
    """What `-o` knows; each command takes some of them."""

    TEXT = "text"
    WIDE = "wide"
    NAME = "name"
    JSON = "json"
    YAML = "yaml"
    JSONPATH = "jsonpath"
    MERMAID = "mermaid"
    SVG = "svg"


class Output(NamedTuple):
    """What `-o` says; `template` is that of `jsonpath=`."""

    format: Format
    template: "Template | None" = None

    @property
    def is_text(self) -> bool:
        """Whether people read it."""
        return self.format in (Format.TEXT, Format.WIDE)

    def echo(self, text: str) -> None:
        """Prints for people; nothing where the answer is for a program."""
        if self.is_text:
            click.echo(text)

    @property
    def is_wide(self) -> bool:
        """Whether all is to be shown, however long lines become."""
        return self.format is Format.WIDE


TEXT, YAML = Output(Format.TEXT), Output(Format.YAML)


class OutputType(click.ParamType[Output]):
    """A format, or `jsonpath=TEMPLATE`."""

    name = "output"

    def __init__(self, formats: Iterable[Format]) -> None:
        self._formats = tuple(formats)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:  # noqa: ARG002
        """What the help shows."""
        return "|".join(
            f"{each}=TEMPLATE" if each is Format.JSONPATH else each for each in self._formats
        )

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Output:
        """Fails for what the command does not know."""
        if isinstance(value, Output):
            return value
        name, equals, template = str(value).partition("=")
        if name not in self._formats or (equals and name != Format.JSONPATH):
            meant = suggestion(name, self._formats) or f"there are {', '.join(self._formats)}"
            self.fail(f"{value!r} is no output of this command; {meant}", param, ctx)
        if name != Format.JSONPATH:
            return Output(Format(name))
        if not template:
            self.fail("a template is missing: jsonpath='{.field}'", param, ctx)
        from olm_cli.jsonpath import parse_template

        try:
            return Output(Format.JSONPATH, parse_template(template))
        except TerminalError as error:
            self.fail(f"{error.message}; {error.hint}", param, ctx)

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem]:
        """The formats that begin so."""
        words = (f"{each}=" if each is Format.JSONPATH else str(each) for each in self._formats)
        return [CompletionItem(word) for word in words if word.startswith(incomplete)]


def output_of(
    *formats: Format, default: Output | None = TEXT, note: str = ""
) -> Callable[[Command], Command]:
    """An option `-o` with some formats; `note` says in the help what the default depends on."""
    shown = f"[default: {default.format}]" if default else note
    return click.option("-o", "--output", type=OutputType(formats), default=default, help=shown)


DATA = (Format.JSON, Format.YAML, Format.JSONPATH)
output_option = output_of(Format.TEXT, *DATA)
"""For an answer."""
object_output_option = output_of(Format.TEXT, Format.NAME, *DATA)
"""For an answer about objects, which can be named to another command."""
table_output_option = output_of(Format.TEXT, Format.WIDE, Format.NAME, *DATA)
"""For a table."""

batch_option = click.option(
    "--batch", metavar="FILE", help="Answer JSON lines from FILE, or - for stdin."
)


def show(value: Any, output: Output, names: Iterable[str] = ()) -> None:
    """Prints a value for programs; with `-o name` the names, a line each."""
    if output.format is Format.JSON:
        sys.stdout.buffer.write(orjson.dumps(value, option=orjson.OPT_INDENT_2) + b"\n")
    elif output.format is Format.NAME:
        sys.stdout.write("".join(f"{name}\n" for name in names))
    elif output.template is not None:
        sys.stdout.write(output.template.render(value))
    else:
        from olm_content.formats.yaml_text import dump_all

        sys.stdout.write(dump_all([value]))


def typed_names(objects: Iterable[KubeObject]) -> list[str]:
    """The names of objects, as `typed_name` has them."""
    return [typed_name(gvk_of(obj), name_of(obj)) for obj in objects]


def typed_name(gvk: GVK, name: str) -> str:
    """An object as kubectl's `-o name` names it."""
    kind = gvk.kind.lower()
    return f"{kind}.{gvk.group}/{name}" if gvk.group else f"{kind}/{name}"


def fail(error: OLMError, code: int = 1) -> NoReturn:
    """Prints an error with its hint, and ends the program; a usage error is click's to print."""
    if isinstance(error, UsageError):
        raise error
    click.echo(f"error: {error.describe()}", err=True)
    raise SystemExit(code) from error


def show_answers(source: str, answer: "Answer", **how: Any) -> None:
    """Prints the answer to each line of a batch as soon as it is there; `how` as `answers` has it.

    Raises TerminalError in the end if there were lines that are no requests.
    """
    from olm_cli.batch import answers

    malformed = 0
    for answered in answers(source, answer, **how):
        sys.stdout.buffer.write(answered.line)
        sys.stdout.buffer.flush()
        malformed += answered.malformed
    if malformed:
        lines = counted(malformed, "line is no request", "lines are no requests")
        raise TerminalError(f"{lines}; what is wrong stands in the answers, under error")
