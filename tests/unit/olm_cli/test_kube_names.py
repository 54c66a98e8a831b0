"""Names that no object can have are refused before anything is asked or written."""

import pytest
from click.testing import CliRunner

from olm_cli.__main__ import cli

NOWHERE = "--kubeconfig=/nonexistent"


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (("install", "it", "-n", "Bad NS"), "-n"),
        (("install", "it", "-n", "has.dots"), "-n"),
        (("install", "it", "-n", "x" * 64), "-n"),
        (("install", "it", "--extension", "Bad Name"), "--extension"),
        (("install", "it", "--service-account", "a/b"), "--service-account"),
        (("install", "it", "--watch-namespace", "-x"), "--watch-namespace"),
        (("plan", "it", "--watch-namespace", "Apps"), "--watch-namespace"),
        (("plan", "Bad Name"), ""),
        (("rbac", "it", "--install-namespace", "NS"), "--install-namespace"),
        (("rbac", "it", "--check", "no account"), "--check"),
        (("bundle", "render", ".", "--install-namespace", "a_b"), "--install-namespace"),
        (("graph", "it", "--extension", "a b"), "--extension"),
        (("why", "../it"), "EXTENSION"),
        (("why", ""), "EXTENSION"),
        (("history", "x" * 254), "EXTENSION"),
        (("status", "it\n"), "EXTENSION"),
        (("rollback", "It"), "EXTENSION"),
        (("uninstall", "it."), "EXTENSION"),
    ],
)
def test_a_name_that_is_none_is_refused(arguments: tuple[str, ...], option: str) -> None:
    given = arguments if arguments[0] == "bundle" else (*arguments, NOWHERE)
    result = CliRunner().invoke(cli, given)
    assert result.exit_code == 2
    assert "Invalid value" in result.stderr
    assert option in result.stderr
    assert "is no name" in result.stderr or "characters" in result.stderr


@pytest.mark.parametrize("name", ["a.b-c.1", "x" * 253])
def test_a_name_that_an_object_can_have_goes_on_to_the_cluster(name: str) -> None:
    result = CliRunner().invoke(cli, ["why", name, NOWHERE])
    assert result.exit_code == 1
    assert "cannot read the cluster configuration" in str(result.exception)
