"""`make demo` stays up, and what it prints to go on with works as it is printed."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from e2e.demo.steps import ENVIRONMENT

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]
LAST = "Ctrl-C stops everything"


@dataclass(frozen=True)
class Demo:
    """A running demo: where it was started, and what it printed."""

    folder: Path
    process: subprocess.Popen[str]
    printed: str

    @property
    def commands(self) -> list[str]:
        """Those to try, as printed."""
        block = self.printed.partition("In another terminal:\n")[2].strip("\n")
        return [line.strip() for line in block.partition("\n\n")[0].splitlines()]

    def run(self, *commands: str) -> str:
        """What the last command prints in a new shell of somebody with an empty home."""
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        done = subprocess.run(
            ["/bin/sh", "-ec", "\n".join(commands)],
            env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
            cwd=home,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, f"{commands}\n{done.stdout}\n{done.stderr}"
        return done.stdout


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """The demo of its own operator alone."""
    folder = tmp_path_factory.mktemp("demo")
    none = folder / "no-bundles"
    process = subprocess.Popen(
        [sys.executable, "-m", "e2e.demo"],
        env=os.environ | {"PYTHONPATH": str(ROOT), "DEMO_BUNDLES": str(none), "DEMO_ONCE": ""},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        lines = []
        for line in process.stdout or ():
            lines.append(line)
            if line.startswith(LAST):
                break
        yield Demo(folder, process, "".join(lines))
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def test_the_commands_work_as_printed(demo: Demo) -> None:
    source, *commands = demo.commands
    assert source == f". {demo.folder / ENVIRONMENT}"
    assert [command.split()[:2] for command in commands] == [
        *(["olm", "search"], ["olm", "plan"]),
        ["opm", "render"],
    ]
    found, planned, rendered = (demo.run(source, command) for command in commands)
    assert "hello-operator" in found
    assert "hello: hello-operator.v0.2.0 -> hello-operator.v0.1.0" in planned
    assert '"schema": "olm.channel"' in rendered


def test_the_variables_are_what_other_programs_need(demo: Demo) -> None:
    source = demo.commands[0]
    named = demo.run(source, "kubectl get clusterextension -o name; kubectl olm status")
    assert named.startswith("clusterextension.olm.operatorframework.io/hello\n")
    catalog = '"$CATALOGD/catalogs/demo/api/v1/all"'
    assert "hello-operator" in demo.run(source, f'curl -sS --cacert "$CATALOGD_CA" {catalog}')
    registry = '"https://$REGISTRY/v2/demo/catalog/tags/list"'
    assert "latest" in demo.run(source, f'curl -sS --cacert "$REGISTRY_CA" {registry}')


def test_it_says_that_no_node_runs_pods(demo: Demo) -> None:
    said = r"Available=False .*\n(?:.*\n)*No node runs pods here: Deployments stay at 0 available"
    assert re.search(said, demo.printed)
    assert "make demo NODE=1" in demo.printed


def test_it_leaves_nothing_behind(demo: Demo) -> None:
    demo.process.send_signal(signal.SIGINT)
    demo.process.communicate(timeout=60)
    assert demo.process.returncode == 0
    assert not (demo.folder / ENVIRONMENT).exists()
