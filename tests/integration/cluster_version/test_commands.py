"""`olm cluster upgrade` and `olm cluster channel` on a real API server."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
import pytest_asyncio

from api.objects import KubeObject, gvk_of, name_of
from e2e.harness.controlplane import ControlPlane
from e2e.olm.graph_server import GraphServer, graph_of
from e2e.olm.warm import warm_program
from olm_runtime.kube.access import load_access
from olm_runtime.kube.client import KubeClient

pytestmark = [pytest.mark.integration, pytest.mark.asyncio]

IMAGE = f"registry.example.com/release@sha256:{'a' * 64}"
RISKY = f"registry.example.com/release@sha256:{'b' * 64}"
TIME = "2026-01-01T00:00:00Z"


def condition(type_: str, status: str, message: str, reason: str = "AsExpected") -> dict[str, str]:
    fields = {"type": type_, "status": status, "reason": reason, "message": message}
    return fields | {"lastTransitionTime": TIME}


STATUS: dict[str, Any] = {
    "desired": {"version": "1.0.0", "image": RISKY, "channels": ["fast-1.0", "stable-1.0"]},
    "observedGeneration": 1,
    "versionHash": "hash",
    "availableUpdates": [{"version": "1.0.1", "image": IMAGE}],
    "conditionalUpdates": [
        {
            "release": {"version": "1.1.0", "image": RISKY},
            "risks": [
                {
                    "name": "Slow",
                    "message": "It is slow",
                    "url": "https://example.com/slow",
                    "matchingRules": [{"type": "Always"}],
                }
            ],
            "conditions": [condition("Recommended", "False", "It is slow", "Slow")],
        }
    ],
    "conditions": [
        condition("Failing", "False", ""),
        condition("Progressing", "False", "Cluster version is 1.0.0"),
        condition("ReleaseAccepted", "True", ""),
        condition("RetrievedUpdates", "True", ""),
    ],
}


@pytest_asyncio.fixture
async def updatable(client: KubeClient, version: KubeObject) -> AsyncIterator[KubeObject]:
    """A ClusterVersion with an update, and one that is not recommended."""
    await client.patch(version, {"spec": {"channel": "stable-1.0"}})
    await client.patch(version, {"status": STATUS}, subresource="status")
    yield version
    await client.patch(version, {"spec": {"channel": None, "desiredUpdate": None}})


def olm(served: ControlPlane, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [warm_program("olm"), "cluster", *arguments, f"--kubeconfig={served.kubeconfig}"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


async def spec_of(client: KubeClient, version: KubeObject) -> dict[str, Any]:
    live = await client.get(gvk_of(version), name_of(version))
    return dict(live["spec"])


async def test_the_updates_are_shown_in_the_form_of_the_document(
    served: ControlPlane, updatable: KubeObject
) -> None:
    recommended = (
        "Cluster version is 1.0.0\n\n"
        "Upstream is unset, so the cluster will use an appropriate default.\n"
        "Channel: stable-1.0 (available channels: fast-1.0, stable-1.0)\n\n"
        f"Recommended updates:\n\n  VERSION     IMAGE\n  1.0.1       {IMAGE}\n"
    )
    hint = "Additional updates which are not recommended"
    output = olm(served, "upgrade").stdout
    assert output.startswith(recommended)
    assert RISKY not in output
    assert hint in output
    shown = olm(served, "upgrade", "--include-not-recommended")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout == (
        f"{recommended}\n"
        f"Supported but not recommended updates:\n\n  Version: 1.1.0\n  Image: {RISKY}\n"
        "  Recommended: False\n  Reason: Slow\n  Message: It is slow\n"
    )


async def test_an_update_is_asked_for_and_taken_back(
    served: ControlPlane, client: KubeClient, updatable: KubeObject
) -> None:
    assert olm(served, "upgrade", "--to-latest").stdout == "Requested update to 1.0.1\n"
    wanted = (await spec_of(client, updatable))["desiredUpdate"]
    assert (wanted["version"], wanted["image"]) == ("1.0.1", IMAGE)
    assert olm(served, "upgrade", "--clear").stdout == "Cancelled requested upgrade to 1.0.1\n"
    assert "desiredUpdate" not in await spec_of(client, updatable)
    nothing = json.loads(olm(served, "upgrade", "--clear", "-o", "json").stdout)
    assert nothing == {"message": "info: No update in progress", "patch": None}


async def test_a_risk_is_not_taken_unasked(
    served: ControlPlane, client: KubeClient, updatable: KubeObject
) -> None:
    refused = olm(served, "upgrade", "--to", "1.1.0")
    assert refused.returncode != 0
    assert "--allow-not-recommended" in refused.stderr
    assert "desiredUpdate" not in await spec_of(client, updatable)


async def test_the_channel_is_changed_to_a_known_one(
    served: ControlPlane, client: KubeClient, updatable: KubeObject
) -> None:
    assert "--allow-explicit-channel" in olm(served, "channel", "fast-9.9").stderr
    asked = json.loads(olm(served, "channel", "fast-1.0", "-o", "json").stdout)
    assert asked == {
        "message": "Requested channel fast-1.0",
        "patch": {"spec": {"channel": "fast-1.0"}},
    }
    assert (await spec_of(client, updatable))["channel"] == "fast-1.0"
    facts = json.loads(olm(served, "upgrade", "-o", "json").stdout)
    assert (facts["version"], facts["channel"]) == ("1.0.0", "fast-1.0")
    assert [each["version"] for each in facts["updates"]] == ["1.1.0", "1.0.1"]


async def test_what_speaks_against_an_update_is_said(
    served: ControlPlane, updatable: KubeObject
) -> None:
    shown = olm(served, "recommend")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "\n  Version: 1.1.0\n" in shown.stdout
    assert "\n  1.0.1       no known issues relevant to this cluster\n" in shown.stdout
    risky = olm(served, "recommend", "--version", "1.1.0")
    assert risky.returncode == 1
    assert "Update to 1.1.0 Recommended=False:\n" in risky.stdout
    assert "ConditionalUpdateRisk" in risky.stderr
    quiet = olm(served, "recommend", "--version", "1.1.0", "--quiet")
    assert (quiet.returncode, quiet.stdout) == (1, "")
    assert "not included in --accept: ConditionalUpdateRisk" in quiet.stderr
    taken = olm(served, "recommend", "--version=1.1.0", "--accept=Other,ConditionalUpdateRisk")
    assert (taken.returncode, taken.stderr) == (0, "")
    assert taken.stdout.endswith(" other than the accepted ConditionalUpdateRisk.\n")
    assert olm(served, "recommend", "--quiet").returncode == 2
    facts = json.loads(olm(served, "recommend", "-o", "json").stdout)["updates"]
    assert [(each["version"], each["recommended"]) for each in facts] == [
        ("1.1.0", "False"),
        ("1.0.1", "True"),
    ]


@pytest_asyncio.fixture
async def operator(client: KubeClient, name: str) -> AsyncIterator[KubeObject]:
    """A component of the release."""
    marked = {"include.release.openshift.io/self-managed-high-availability": "true"}
    operator = {"apiVersion": "config.openshift.io/v1", "kind": "ClusterOperator", "spec": {}}
    operator |= {"metadata": {"name": name, "annotations": marked}}
    await client.apply(operator, field_manager="test")
    yield operator
    await client.delete(operator)


@pytest.mark.usefixtures("operator")
async def test_a_status_counts_operators(
    served: ControlPlane, client: KubeClient, updatable: KubeObject
) -> None:
    assert olm(served, "status").stdout == "The cluster is not updating.\n"
    progressing = [condition("Progressing", "True", "Working"), condition("Failing", "False", "")]
    running = STATUS | {"conditions": progressing}
    await client.patch(updatable, {"status": running}, subresource="status")
    shown = olm(served, "status", "--details", "all")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "Completion:      0% (0 operators updated, 0 updating, 0 waiting)\n" in shown.stdout
    assert "Operator Health: 0 Healthy, " in shown.stdout
    facts = json.loads(olm(served, "status", "-o", "json").stdout)
    assert facts["updating"]
    assert facts["operators"]["updated"] == 0


async def test_the_graph_of_the_update_service_is_drawn(
    served: ControlPlane, client: KubeClient, updatable: KubeObject
) -> None:
    with GraphServer() as service:
        service.graph = graph_of(["1.0.0", "1.0.1"], [("1.0.0", "1.0.1")])
        await client.patch(updatable, {"spec": {"upstream": service.upstream}})
        try:
            drawn = olm(served, "graph")
            of_other = olm(served, "graph", "--channel=fast-1.0", "-o", "svg")
        finally:
            await client.patch(updatable, {"spec": {"upstream": None}})
    assert (drawn.returncode, drawn.stderr) == (0, "")
    assert drawn.stdout == ("channel stable-1.0\n●  1.0.1 [head]  from 1.0.0\n●  1.0.0 [running]\n")
    assert "<title>Update graph of channel fast-1.0</title>" in of_other.stdout
    asked = [parse_qs(each.query) for each in service.asked]
    assert [query["channel"] for query in asked] == [["stable-1.0"], ["fast-1.0"]]
    assert asked[0]["version"] == ["1.0.0"]


async def test_a_graph_that_is_none_is_reported(served: ControlPlane, tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    path.write_text('{"nodes": 1}')
    done = olm(served, "graph", "--file", str(path))
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {path} does not answer with a graph: it is no update")
    assert olm(served, "graph", "--file", str(path), "--from=running").returncode == 2


def read_until(terminal: int, text: str) -> None:
    """Reads what a terminal gets until a text came. Raises TimeoutError."""
    seen, until = "", time.monotonic() + 60
    while text not in seen:
        ready, _, _ = select.select([terminal], [], [], until - time.monotonic())
        if not ready:
            raise TimeoutError(f"{text!r} is not in {seen[-2000:]!r}")
        try:
            seen += os.read(terminal, 65536).decode()
        except OSError as error:  # how Linux reports that the program ended
            raise EOFError(seen) from error


@pytest.mark.usefixtures("operator")
async def test_who_watches_sees_the_update_and_a_restart_of_the_api_server(
    served: ControlPlane, updatable: KubeObject
) -> None:
    program = Path(sys.executable).with_name("olm")
    ours, theirs = pty.openpty()
    with subprocess.Popen(  # noqa: ASYNC220 - nothing else is to be done meanwhile
        [program, "cluster", "status", "--watch", f"--kubeconfig={served.kubeconfig}"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "100", "LINES": "40"},
        start_new_session=True,
    ) as watching:
        os.close(theirs)
        try:
            read_until(ours, "The cluster is not updating.")
            served.stop_apiserver()
            read_until(ours, "not asked again yet: ")
            served.start_apiserver()
            progressing = [condition("Progressing", "True", "Working")]
            status = STATUS | {"conditions": progressing}
            async with KubeClient.connect(load_access(str(served.kubeconfig))) as again:
                await again.patch(updatable, {"status": status}, subresource="status")
            read_until(ours, "= Control Plane =")
        finally:
            watching.send_signal(signal.SIGINT)
            os.close(ours)
    assert watching.returncode == 130
