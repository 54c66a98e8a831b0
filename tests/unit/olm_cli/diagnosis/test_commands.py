"""The commands that `olm doctor` prints, and its list of checks."""

import re
import subprocess
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from olm_cli.__main__ import cli
from olm_cli.doctor_page import page_lines
from olm_client.diagnosis.checks.every import CHECKS
from olm_client.diagnosis.commands import commands_in, without_finalizers
from olm_client.diagnosis.findings import PAGE, Finding, Remedy, Severity, Verdict
from olm_client.diagnosis.routing import routed
from tests.unit.olm_client.diagnosis.snapshots import obj
from tests.unit.olm_client.diagnosis.test_checks import WIDGET

ROOT = Path(__file__).parents[4]


def test_the_page_has_every_check_in_order() -> None:
    sections = re.findall(r"^### (\S+)$", (ROOT / PAGE).read_text(), re.MULTILINE)
    assert sections == [check.name for check in CHECKS]


def test_the_list_has_every_check() -> None:
    result = CliRunner().invoke(cli, ["doctor", "--list", "-o", "json"])
    assert [each["name"] for each in orjson.loads(result.stdout)] == [c.name for c in CHECKS]


def test_a_check_that_is_nearly_right_is_suggested() -> None:
    result = CliRunner().invoke(cli, ["doctor", "--check", "deletion"])
    assert result.exit_code == 2
    assert "there is no check 'deletion'; did you mean deletions?" in result.stderr


def test_a_cluster_that_is_not_reached_is_reported_as_data() -> None:
    result = CliRunner().invoke(cli, ["doctor", "--kubeconfig", "none-such", "-o", "json"])
    assert result.exit_code == 2
    [finding] = orjson.loads(result.stdout)["findings"]
    assert finding["why"].endswith("none-such: no such file")


def test_many_objects_are_found_by_one_command(tmp_path: Path) -> None:
    """The pipe patches each that is being deleted; kubectl notes what it is given."""
    objects = [obj(WIDGET, f"w{n}", "apps", finalizers=["a.com/x"]) for n in range(7)]
    [command] = without_finalizers(objects, ["a.com/x"])
    notes = tmp_path / "notes"
    kubectl = tmp_path / "kubectl"
    kubectl.write_text(f'#!/bin/sh\n[ $1 = get ] && echo "apps w1" || echo "$@" >> {notes}\n')
    kubectl.chmod(0o755)
    path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    subprocess.run(["bash", "-c", command], check=True, env=path)
    assert notes.read_text() == (
        "patch widget.widgets.example.com w1 --namespace apps --type=merge "
        '--patch {"metadata":{"finalizers":null}}\n'
    )


def test_commands_reach_the_cluster_that_was_examined() -> None:
    commands = (
        "kubectl get x | while read -r name; do kubectl patch x $name; done",
        'kubectl patch y --patch "$(kubectl get secret s)"',
        "helm install olmv1 charts/olmv1",
        "olm rbac kubectl | kubectl apply -f -",
    )
    finding = Finding(Severity.ERROR, "m", remedies=(Remedy("e", commands),))
    verdict = routed(Verdict(CHECKS[0], (finding,)), (("--context", "prod"),))
    assert verdict.findings[0].remedies[0].commands == (
        (
            "kubectl --context prod get x | while read -r name; do "
            "kubectl --context prod patch x $name; done"
        ),
        'kubectl --context prod patch y --patch "$(kubectl --context prod get secret s)"',
        "helm --kube-context prod install olmv1 charts/olmv1",
        "olm --context prod rbac kubectl | kubectl --context prod apply -f -",
    )


@pytest.mark.parametrize(
    ("hint", "commands"),
    [
        ("create it: kubectl create namespace a", ("kubectl create namespace a",)),
        ("delete it (all is lost): kubectl delete crd x; more", ("kubectl delete crd x",)),
        ("check that catalogd runs", ()),
    ],
)
def test_commands_in_hints(hint: str, commands: tuple[str, ...]) -> None:
    assert commands_in(hint) == commands


def test_the_page_shows_the_worst_first_and_sums_up() -> None:
    warning = Finding(Severity.WARNING, "half", remedies=(Remedy("mend", ("a",), "all"),))
    error = Finding(Severity.ERROR, "whole", why="so")
    verdicts = [
        Verdict(CHECKS[0], (warning,)),
        Verdict(CHECKS[2], (error,)),
        Verdict(CHECKS[3], well="fine"),
    ]
    assert "\n".join(page_lines(verdicts)) == (
        """\
\x1b[31m\x1b[1merror  \x1b[0m  \x1b[1mwhole\x1b[0m
         why  so
         see  docs/reference/olm-doctor.md#definitions

\x1b[33m\x1b[1mwarning\x1b[0m  \x1b[1mhalf\x1b[0m
         do   mend (all)
              \x1b[36m$ a\x1b[0m
         see  docs/reference/olm-doctor.md#api-server

\x1b[1mCluster\x1b[0m
  \x1b[33mwarning\x1b[0m  api-server   1 warning
\x1b[1mOperator Lifecycle Manager\x1b[0m
  \x1b[31merror  \x1b[0m  definitions  1 error
  \x1b[32mok     \x1b[0m  versions     fine

\x1b[31m\x1b[1m3 checks: 1 error, 1 warning\x1b[0m"""
    )
