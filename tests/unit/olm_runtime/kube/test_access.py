"""Where the API server is found, in a pod and outside, and through which proxy it is reached."""

import errno
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.harness.pki import CertificateAuthority
from olm_runtime.errors import TerminalError
from olm_runtime.kube import access
from olm_runtime.kube.access import load_access
from olm_runtime.kube.cluster_access import ClusterAccess
from olm_runtime.kube.errors import ApiError

SERVER, PROXY, NAMED = "https://10.0.0.1:6443", "http://proxy.test:3128", "http://named.test:1"


def kubeconfig(folder: Path, **cluster: str) -> str:
    path = folder / "kubeconfig.yaml"
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": SERVER, **cluster}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path.write_text(yaml.safe_dump(content))
    return str(path)


@pytest.mark.parametrize(
    ("environment", "cluster", "chosen"),
    [
        pytest.param({}, {}, None, id="none"),
        pytest.param({"HTTPS_PROXY": PROXY}, {}, PROXY, id="that of the environment"),
        pytest.param({"HTTP_PROXY": PROXY}, {}, None, id="not that of another scheme"),
        pytest.param(
            {"HTTPS_PROXY": PROXY, "NO_PROXY": ".svc,10.0.0.1"}, {}, None, id="excepted by address"
        ),
        pytest.param(
            {"HTTPS_PROXY": PROXY, "NO_PROXY": "10.0.0.0/8"}, {}, None, id="excepted by network"
        ),
        pytest.param(
            {"HTTPS_PROXY": PROXY, "NO_PROXY": "*"}, {"proxy-url": NAMED}, NAMED, id="proxy-url"
        ),
    ],
)
def test_the_proxy_of_the_api_server(
    environment: dict[str, str],
    cluster: dict[str, str],
    chosen: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert load_access(kubeconfig(tmp_path, **cluster)).proxy == chosen


@pytest.fixture
def pod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a pod's service account."""
    monkeypatch.setattr(access, "SERVICE_ACCOUNT_FOLDER", tmp_path)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "6443")
    (tmp_path / "token").write_text("first\n")
    (tmp_path / "ca.crt").write_text("the CA")
    return tmp_path


@pytest.mark.parametrize(("host", "shown"), [("10.0.0.1", "10.0.0.1"), ("fd00::1", "[fd00::1]")])
def test_a_pod_uses_its_service_account(
    host: str, shown: str, pod: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
    found = load_access(None)
    assert found.server == f"https://{shown}:6443"
    assert found.authority == "the CA"
    assert found.authorization() == "Bearer first"
    (pod / "token").write_text("second\n")
    assert found.authorization() == "Bearer second"
    shutil.rmtree(pod)
    with pytest.raises(ApiError, match="cannot read the token file"):
        found.authorization()


def test_a_kubeconfig_that_is_named_counts_in_a_pod_too(pod: Path) -> None:
    found = load_access(kubeconfig(pod))
    assert (found.server, found.authorization()) == (SERVER, "Bearer t")


def test_the_part_that_a_pod_lacks_is_reported(pod: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (pod / "ca.crt").unlink()
    with pytest.raises(TerminalError, match=f"No such file or directory: {pod}/ca.crt"):
        load_access(None)
    monkeypatch.delenv("KUBERNETES_SERVICE_PORT")
    with pytest.raises(TerminalError, match="KUBERNETES_SERVICE_PORT are not both set"):
        load_access(None)


@pytest.mark.parametrize("broken", [{"authority": "no CA"}, {"certificate": b"no chain"}])
def test_what_is_no_certificate_is_reported(broken: dict[str, Any]) -> None:
    with pytest.raises(TerminalError, match="a certificate or key in it is none"):
        ClusterAccess(server=SERVER, **broken).tls()


@pytest.mark.parametrize("in_memory", [True, False])
def test_a_client_certificate_is_shown_and_leaves_no_file(
    in_memory: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not in_memory:

        def refuse(_: str) -> int:
            raise PermissionError(errno.EPERM, "forbidden")

        monkeypatch.setattr(os, "memfd_create", refuse)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    authority = CertificateAuthority.create("mine")
    pair = authority.issue_client("me")
    chain = pair.certificate + b"\n" + pair.key
    before = len([*Path("/proc/self/fd").iterdir()])
    access = ClusterAccess(server=SERVER, authority=authority.pair.certificate.decode())
    assert access._replace(certificate=chain).tls().get_ca_certs() != []
    with pytest.raises(TerminalError, match="a certificate or key in it is none"):
        access._replace(certificate=pair.certificate).tls()
    assert list(tmp_path.iterdir()) == []
    assert len([*Path("/proc/self/fd").iterdir()]) == before


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"foo: [", "while parsing a flow node expected the node content"),
        (b"some text", "'str' object"),
        (b"", "file is empty"),
        (b"\xff\xfe\xfa", "decode"),
        (b"current-context: x\ncontexts: 5\n", "'int' object"),
        (b"current-context: x\ncontexts: []\n", "x"),
    ],
)
def test_a_file_that_is_no_kubeconfig_is_reported(
    content: bytes, problem: str, tmp_path: Path
) -> None:
    file = tmp_path / "config"
    file.write_bytes(content)
    with pytest.raises(TerminalError, match="cannot read the cluster configuration: ") as caught:
        load_access(str(file))
    assert problem in caught.value.message
    assert "\n" not in caught.value.message


def test_a_kubeconfig_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(TerminalError, match=f"{tmp_path}/none: no such file") as caught:
        load_access(str(tmp_path / "none"))
    assert caught.value.hint == "give --kubeconfig FILE, or set KUBECONFIG"


@pytest.mark.parametrize(
    ("user", "problem", "hint"),
    [
        (
            {"exec": {"command": "no-such-plugin", "apiVersion": "v1"}},
            'the plugin "no-such-plugin" gave no credentials: .* No such file or directory',
            "see that no-such-plugin is installed and works",
        ),
        (
            {"exec": {"command": "false", "apiVersion": "v1", "installHint": "get it there"}},
            'the plugin "false" gave no credentials: exec: process returned 1',
            "get it there",
        ),
        ({"auth-provider": {"name": "azure"}}, "auth-provider gave no", "log in"),
    ],
)
def test_nobody_goes_on_as_anonymous_who_named_a_plugin(
    user: dict[str, Any],
    problem: str,
    hint: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    path = Path(kubeconfig(tmp_path))
    content = yaml.safe_load(path.read_text())
    content["users"][0]["user"] = user
    path.write_text(yaml.safe_dump(content))
    with pytest.raises(TerminalError, match=problem) as caught:
        load_access(str(path))
    assert caught.value.hint.startswith(hint)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("program", ["catalogd", "operator_controller"])
@pytest.mark.parametrize("library", ["kubernetes", "prometheus_client"])
def test_a_program_starts_without_what_it_may_not_need(program: str, library: str) -> None:
    """The official client is for kubeconfigs of people, the other for metrics."""
    script = f"import sys, {program}.__main__; sys.exit({library!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.parametrize("server", ["https://a:99999", "http://[::1", "https://ä..b"])
def test_an_address_that_no_server_can_have_is_reported(server: str, tmp_path: Path) -> None:
    with pytest.raises(TerminalError, match="no server can have the address") as raised:
        load_access(kubeconfig(tmp_path, server=server))
    assert "--server" in raised.value.hint
