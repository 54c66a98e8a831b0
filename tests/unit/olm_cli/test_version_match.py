"""`olm version match`."""

import json

import pytest
from click.testing import CliRunner, Result

from olm_cli.version import version
from olm_runtime.errors import OLMError


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(version, ["match", *arguments], input=stdin)


ANSWERS = {
    "in the range": ((">=1.2 <2", "1.4"), 0, "1.4 is in >=1.2 <2\n"),
    "not in the range": (("~1.4", "1.5.0"), 1, "1.5.0 is not in ~1.4\n"),
    "a prerelease is told the way in": (
        (">=1", "1.5.0-rc"),
        1,
        (
            "1.5.0-rc is not in >=1\nhint: it is a prerelease, and the range names none; "
            "a range that does, such as >=1.0.0-0, takes prereleases too\n"
        ),
    ),
    "the other dialect": (
        (">=1.0.0", "1.5.0-rc", "--dialect", "skip-range"),
        0,
        "1.5.0-rc is in >=1.0.0\n",
    ),
    "for programs": (("1.x", "1.5.0", "-o", "json"), 0, '{\n  "match": true\n}\n'),
    "as YAML": (("1.x", "2.5.0", "-o", "yaml"), 1, "match: false\n"),
}


@pytest.mark.parametrize(("arguments", "code", "shown"), ANSWERS.values(), ids=ANSWERS.keys())
def test_answer(arguments: tuple[str, ...], code: int, shown: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.output) == (code, shown)


def test_a_range_that_is_none_is_an_error_with_a_caret() -> None:
    result = run("1 OR 2", "1.0.0")
    assert isinstance(result.exception, OLMError)
    assert result.exception.hint.endswith("1 OR 2\n    ^")


def test_arguments_are_needed() -> None:
    assert run("1.x").exit_code == 2


def test_a_batch_of_requests_alone_ends_well_whatever_the_answers() -> None:
    lines = '{"range": "1.x", "version": "2.0.0"}\n{"range": "latest", "version": "1.0.0"}\n'
    result = run("--batch", "-", stdin=lines)
    assert result.exit_code == 0
    assert [*map(json.loads, result.output.splitlines())][1]["error"].startswith("improper")


def test_a_batch_answers_every_line() -> None:
    lines = [
        {"id": 1, "range": ">=1", "version": "1.5.0"},
        {"id": "b", "range": ">=1.0.0", "version": "1.5.0-rc", "dialect": "skip-range"},
        {"id": "c", "range": "", "version": "1.0.0"},
        {"id": "d", "range": "1.x"},
        {"id": "e", "range": "1.x", "version": "1", "dialect": "npm"},
        {"id": "f", "range": "1.x", "version": 1},
    ]
    stdin = "\n".join([*map(json.dumps, lines), "[]", "{", ""])
    result = run("--batch", "-", stdin=stdin)
    assert result.exit_code == 1
    answers = [json.loads(line) for line in result.output.splitlines()]
    assert answers[:2] == [{"id": 1, "match": True}, {"id": "b", "match": True}]
    assert [answer["id"] for answer in answers[2:]] == ["c", "d", "e", "f", None, None]
    errors = [answer["error"] for answer in answers[2:]]
    assert errors[:4] == [
        'improper constraint: ""',
        "version: expected text, got nothing",
        'unknown dialect "npm"; there are extension, skip-range',
        "version: expected text, got 1",
    ]
