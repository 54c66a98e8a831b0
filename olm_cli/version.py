"""`olm version`: what versions and ranges of versions mean. Needs no cluster."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

import click

from olm_cli.fields import text
from olm_cli.output import Output, batch_option, output_option, show, show_answers
from olm_client.usage import RequestError
from olm_content.ranges import (
    ExtensionRange,
    SkipRange,
    parse_extension_range,
    parse_loose_version,
    parse_skip_range,
)
from olm_content.versions import parse_version


class Dialect(StrEnum):
    """Who wrote the range."""

    EXTENSION = "extension"
    SKIP_RANGE = "skip-range"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a version is in a range; `prerelease_rule` if only that rule keeps it out."""

    match: bool
    prerelease_rule: bool = False


@click.group()
def version() -> None:
    """Work with versions and version ranges."""


@version.command("match")
@click.argument("range_", required=False, metavar="RANGE")
@click.argument("version_", required=False, metavar="VERSION")
@click.option(
    "--dialect",
    type=click.Choice([dialect.value for dialect in Dialect]),
    default=Dialect.EXTENSION.value,
    show_default=True,
    help="Whose rules count: those of a ClusterExtension's version, or of a catalog's skipRange.",
)
@output_option
@batch_option
def match_command(
    range_: str | None, version_: str | None, dialect: str, output: Output, batch: str | None
) -> None:
    """Tell whether VERSION is in RANGE: exit code 0 if it is, 1 if not.

    \b
    Examples:
      olm version match '>=1.2, <2' 1.4.0
      olm version match '~1.4 || ^3' 3.0.1 -o json
      olm version match '>=1.0.0 <1.2.0' 1.1.0 --dialect skip-range
      olm version match --batch - < requests.jsonl

    A line of a batch is {"id","range","version","dialect"}; its answer is {"id","match"} or
    {"id","error"}.
    """
    if batch:
        show_answers(batch, answer, parallel=False)
        return
    if range_ is None or version_ is None:
        raise click.UsageError("give RANGE and VERSION, or --batch")
    verdict = judge(range_, version_, Dialect(dialect))
    if output.is_text:
        click.echo(f"{version_} is {'in' if verdict.match else 'not in'} {range_}")
        if verdict.prerelease_rule:
            click.echo(
                "hint: it is a prerelease, and the range names none; "
                "a range that does, such as >=1.0.0-0, takes prereleases too",
                err=True,
            )
    else:
        show({"match": verdict.match}, output)
    raise SystemExit(0 if verdict.match else 1)


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to one line of a batch, without its id. Raises OLMError."""
    spelled = text(request, "dialect") or Dialect.EXTENSION.value
    if spelled not in list(Dialect):
        raise RequestError(f'unknown dialect "{spelled}"; there are {", ".join(Dialect)}')
    verdict = judge(
        text(request, "range", required=True),
        text(request, "version", required=True),
        Dialect(spelled),
    )
    return {"match": verdict.match}


def judge(range_text: str, version_text: str, dialect: Dialect) -> Verdict:
    """Raises RangeError, VersionError."""
    versions = _parsed(range_text, dialect)
    if isinstance(versions, SkipRange):
        return Verdict(versions.matches(parse_version(version_text)))
    subject = parse_loose_version(version_text)
    if versions.matches(subject):
        return Verdict(match=True)
    return Verdict(match=False, prerelease_rule=versions.matches(subject, any_prerelease=True))


@lru_cache(maxsize=1024)
def _parsed(range_text: str, dialect: Dialect) -> ExtensionRange | SkipRange:
    parse = parse_extension_range if dialect is Dialect.EXTENSION else parse_skip_range
    return parse(range_text)
