"""update-service as a process."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest

from cluster_version.updates.graph import read_graph, updates_of
from e2e.harness.client import PATIENCE_SECONDS
from e2e.harness.errors import ProcessFailed
from e2e.harness.pki import CertificateAuthority
from e2e.harness.ports import free_port
from e2e.olm.daemons import HOST
from e2e.olm.pages import HOW_TO, shows, steps
from e2e.olm.update_service import UpdateService, write_graph_data
from olm_content.versions import parse_version

pytestmark = pytest.mark.integration

RISK = {"name": "Slow", "message": "It is slow.", "url": "https://example.com/1"}


def release(version: str, *previous: str) -> dict[str, object]:
    payload = f"r.test/r@sha256:{version.replace('.', ''):0>64}"
    return {"version": version, "previous": list(previous), "payload": payload}


def write(folder: Path, *versions: str) -> None:
    rules = [{"type": "Always"}]
    write_graph_data(
        folder,
        channels={"stable-4.1": versions},
        blocked=[{"to": "4.1.2", "from": "^4[.]1[.]0[+]", **RISK, "matchingRules": rules}],
        releases=[release(each, *versions[:number]) for number, each in enumerate(versions)],
    )


def test_a_cluster_sees_its_updates_and_then_those_that_are_added(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    write(folder, "4.1.0", "4.1.1")
    with UpdateService(tmp_path, f"--graph-data={folder}") as service:
        assert len(service.graph("stable-4.1", arch="amd64")["nodes"]) == 2
        failed: list[str] = []
        done = threading.Event()

        def ask() -> None:
            with httpx.Client(trust_env=False, timeout=PATIENCE_SECONDS) as client:
                while not done.is_set():
                    answer = client.get(service.address, params={"channel": "stable-4.1"})
                    if answer.status_code != 200 or len(answer.json()["nodes"]) < 2:
                        failed.append(answer.text)

        asking = threading.Thread(target=ask)
        asking.start()
        write(folder, "4.1.0", "4.1.1", "4.1.2")
        service.wait_for_nodes("stable-4.1", 3)
        (folder / "channels" / "broken.yaml").write_text("name: [")
        wait_for_line(service, "channels/broken.yaml")
        done.set()
        asking.join()
        assert failed == []

        graph = read_graph(httpx.get(service.address, params={"channel": "stable-4.1"}).content)
        version = parse_version("4.1.0")
        found = updates_of(graph, version, "stable-4.1", desired="amd64", current="amd64")
        assert [each.version for each in found.available] == ["4.1.1"]
        assert [each.release.version for each in found.conditional] == ["4.1.2"]
        metrics = service.metrics()
        assert "cincinnati_gb_graph_final_releases 3.0" in metrics
        failures = 'cincinnati_gb_graph_upstream_errors_total{source="graph-data"} '
        assert re.search(re.escape(failures) + "[1-9]", metrics)
    assert service.program is not None
    assert service.program.returncode == 0


def test_graphs_are_served_over_tls_and_requests_logged(tmp_path: Path) -> None:
    write(tmp_path / "data", "4.1.0")
    authority = CertificateAuthority.load_or_create(tmp_path, "ca")
    certificate, key = authority.issue_server("server", hosts=[HOST]).write(tmp_path, "server")
    flags = (f"--graph-data={tmp_path / 'data'}", f"--tls-cert={certificate}", f"--tls-key={key}")
    with UpdateService(tmp_path, *flags, ca_file=tmp_path / "ca.crt") as service:
        assert len(service.graph("stable-4.1", arch="amd64")["nodes"]) == 1
        with pytest.raises(httpx.TransportError):
            httpx.get(service.address.replace("https", "http"), trust_env=False)
    line = r'update_service\.access: \S+ "GET \S+/v1/graph\?channel=stable-4\.1&arch=amd64\S* 200'
    assert re.search(line, service.log.read_text())


def test_a_fault_at_the_start_is_reported(tmp_path: Path) -> None:
    write(tmp_path / "data", "4.1.0")
    (tmp_path / "data" / "version").write_text("2.0.0")
    service = UpdateService(tmp_path, f"--graph-data={tmp_path / 'data'}")
    with pytest.raises(ProcessFailed):
        service.start()
    assert "error: its schema is 2.0.0; understood is 1, not 2" in service.log.read_text()


@pytest.mark.pages
def test_the_how_to_is_followed(tmp_path: Path) -> None:
    ports = [str(free_port(HOST)) for _ in range(3)]
    own = f"--health-probe-bind-address={HOST}:{ports[1]} --metrics-bind-address={HOST}:{ports[2]}"
    try:
        for step in steps(HOW_TO / "serve-updates.md"):
            command = step.command.replace(f"{HOST}:8080", f"{HOST}:{ports[0]}")
            command = command.replace("--graph-data graph-data", f"--graph-data graph-data {own}")
            output = "" if step.minutes else said_by(command, tmp_path)
            assert step.minutes or step.expected is None or shows(step.expected, output), output
    finally:
        if (started := tmp_path / "update-service.pid").exists():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(started.read_text()), signal.SIGTERM)


def said_by(command: str, folder: Path) -> str:
    done = subprocess.run(
        ["/bin/sh", "-ec", command],
        env={"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


def wait_for_line(service: UpdateService, text: str) -> None:
    patience = threading.Event()
    for _ in range(600):
        if text in service.log.read_text():
            return
        patience.wait(0.1)
    pytest.fail(f"{text} is not in the log")
