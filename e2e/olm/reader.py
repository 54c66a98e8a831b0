"""Runs the commands of pages of the documentation, in a folder of its own."""

import base64
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from e2e.harness.binaries import helm_binary
from e2e.harness.controlplane import ControlPlane
from e2e.harness.process import service_environment
from e2e.olm.api import Api
from e2e.olm.chart import CHART, NAMESPACE
from e2e.olm.pages import Step, shows
from e2e.olm.programs import CONFIG
from e2e.olm.warm import warm_path

CATALOGD_CERT = f"/api/v1/namespaces/{NAMESPACE}/secrets/catalogd-service-cert"
SECONDS, LOOK_SECONDS, POLL_SECONDS = 180.0, 30.0, 0.2


class Reader:
    """Has kubectl, helm, the chart, `olm` and `opm`, and trusts what `authorities` have signed."""

    def __init__(
        self,
        folder: Path,
        control_plane: ControlPlane,
        *,
        names: Mapping[str, str] = MappingProxyType({}),
        values: Path | None = None,
        authorities: bytes = b"",
    ) -> None:
        """`names` replaces names of the pages; `values` are further values of the chart."""
        self.folder = folder
        self.names = dict(names)
        self._control_plane = control_plane
        self._authorities = authorities
        (folder / "charts").symlink_to(CHART.parent)
        (folder / "config").symlink_to(CONFIG)
        self._program("kubectl", control_plane.binaries.kubectl.argv)
        self._program("helm", helm_binary().argv, f"'--values={values}'" if values else "")
        self._environment = service_environment(
            PATH=f"{folder / 'bin'}:{warm_path()}",
            HOME=str(folder),
            KUBECONFIG=str(control_plane.kubeconfig),
            SSL_CERT_FILE=str(folder / "ca.pem"),
        )

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """Runs a command as it stands, but for names."""
        self._trust()
        return subprocess.run(
            ["/bin/sh", "-ec", self._here(command)],
            env=self._environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )

    def follow(self, steps: list[Step]) -> None:
        """Runs the commands; each must succeed or fail and print as the page says.

        What only looks is run until it prints that, as a person does who looks too early.
        """
        assert steps
        for step in steps:
            looks = step.command.startswith("kubectl get ")
            deadline = time.monotonic() + (LOOK_SECONDS if looks else 0.0)
            while problem := self._problem(step):
                assert time.monotonic() < deadline, problem
                time.sleep(POLL_SECONDS)

    def _problem(self, step: Step) -> str:
        """How a command ended otherwise than the page says; empty if it did not."""
        done, where = self.run(step.command), f"line {step.line}: {step.command}"
        if bool(done.returncode) != step.fails:
            return f"{where}\n{done.stdout}\n{done.stderr}"
        desired = None if step.expected is None else self._here(step.expected)
        if desired is None or shows(desired, done.stdout):
            return ""
        return f"{where}\n{done.stdout}\nis not\n{desired}"

    def _here(self, text: str) -> str:
        for name, stands_for in self.names.items():
            text = text.replace(name, stands_for)
        return text

    def _program(self, name: str, argv: tuple[str, ...], values: str = "") -> None:
        """Helm takes its command first, and the values of a file before those of the page."""
        program = " ".join(f"'{part}'" for part in argv)
        script = f'exec {program} "$@"\n'
        if values:
            script = (
                f'case "$1" in install|upgrade|template) command=$1; shift;\n'
                f'  exec {program} "$command" {values} "$@";; esac\n{script}'
            )
        path = self.folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}")
        path.chmod(0o755)

    def _trust(self) -> None:
        """catalogd's certificate, which the cluster's own network would have no need of."""
        with Api(self._control_plane) as api:
            secret = api.get(CATALOGD_CERT) or {"data": {"ca.crt": ""}}
        catalogd = base64.b64decode(secret["data"]["ca.crt"])
        (self.folder / "ca.pem").write_bytes(self._authorities + catalogd)
