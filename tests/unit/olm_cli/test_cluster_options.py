"""kubectl's options: where they may stand, what they come to, and how the help shows them."""

from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from olm_cli import __main__ as front
from olm_cli.cluster_options import ClusterCommand, ReachOption, on_front, reach_options
from olm_client.reach import Reach
from olm_runtime.kube.overrides import Overrides


def given(*arguments: str) -> Reach:
    """What a command gets."""
    seen: list[Reach] = []

    @click.group()
    def group(**_: Any) -> None:
        """Nothing."""

    on_front(group)

    @group.command("go", cls=ClusterCommand)
    @reach_options
    def go(reach: Reach) -> None:
        seen.append(reach)

    result = CliRunner().invoke(group, arguments)
    assert result.exit_code == 0, result.output
    return seen[0]


def refusal(*arguments: str) -> str:
    result = CliRunner().invoke(front.cli, arguments)
    assert result.exit_code == 2
    return result.output


def test_nothing_said_is_as_kubectl_does() -> None:
    assert given("go") == Reach(None, Overrides())


@pytest.mark.parametrize(
    ("option", "value", "meant"),
    [
        ("--kubeconfig", "f", Reach("f")),
        ("--context", "c", Reach(None, Overrides(context="c"))),
        ("--as-group", "g", Reach(None, Overrides(as_groups=("g",)))),
        ("-s", "https://x", Reach(None, Overrides(server="https://x"))),
        ("--request-timeout", "5s", Reach(None, Overrides(request_seconds=5.0))),
        ("--request-timeout", "7", Reach(None, Overrides(request_seconds=7.0))),
        ("--request-timeout", "0", Reach(None, Overrides(request_seconds=0.0))),
        ("-v", "6", Reach()),
        ("--v", "6", Reach()),
    ],
)
def test_an_option_may_stand_before_and_behind(option: str, value: str, meant: Reach) -> None:
    assert given(option, value, "go") == given("go", option, value) == meant


def test_what_stands_behind_counts() -> None:
    assert given("--context", "a", "go", "--context", "b").overrides.context == "b"
    assert given("--as-group", "a", "go", "--as-group", "b").overrides.as_groups == ("b",)
    assert given("--insecure-skip-tls-verify", "go").overrides.insecure


def test_values_that_cannot_be_read_are_refused_wherever_they_stand() -> None:
    for arguments in (["-v", "x", "status"], ["status", "-v=x"]):
        assert "'x' is no verbosity" in refusal(*arguments)
    assert "is no duration" in refusal("--request-timeout", "soon", "status")


def commands(group: click.Group, *names: str) -> dict[tuple[str, ...], click.Command]:
    context = click.Context(group)
    found: dict[tuple[str, ...], click.Command] = {}
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        found[*names, name] = command
        if isinstance(command, click.Group):
            found |= commands(command, *names, name)
    return found


def test_every_command_that_reaches_a_cluster_takes_all_and_shows_them_last() -> None:
    reaching = {
        names: command
        for names, command in commands(front.cli).items()
        if any(isinstance(param, ReachOption) for param in command.params)
    }
    assert {("status",), ("install",), ("crd", "check"), ("search",)} <= reaching.keys()
    for names, command in reaching.items():
        shown = CliRunner().invoke(front.cli, [*names, "--help"]).output
        own, title, reach = shown.partition("Options to reach the cluster:")
        assert title, names
        assert "--context" in reach
        assert "--context" not in own
        assert "--kubeconfig" in {opt for param in command.params for opt in param.opts}


def test_names_of_entries_are_completed_from_all_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file, name in (("a", "staging"), ("b", "stage")):
        content = {"contexts": [{"name": name}], "clusters": [], "users": [{"name": f"u-{name}"}]}
        (tmp_path / file).write_text(yaml.safe_dump(content))
    (tmp_path / "broken").write_text("a: [")
    files = ":".join(str(tmp_path / each) for each in ("a", "broken", "none", "b"))
    monkeypatch.setenv("KUBECONFIG", files)
    words = ShellComplete(front.cli, {}, "olm", "")

    def completed(*typed: str) -> list[str]:
        return [item.value for item in words.get_completions([*typed], "")]

    assert completed("status", "--context") == ["stage", "staging"]
    assert completed("--context") == ["stage", "staging"]
    assert completed("status", "--user") == ["u-stage", "u-staging"]
    assert completed("status", "--kubeconfig", str(tmp_path / "a"), "--context") == ["staging"]
