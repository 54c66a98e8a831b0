from pathlib import Path

import pytest

from olm_classic.package_server.settings import CertificateFiles, OwnCertificate, parse_settings


def test_defaults() -> None:
    settings = parse_settings([])
    assert (settings.global_namespace, settings.system_namespace) == ("olm", "olm")
    assert settings.address == ("", 5443)
    assert settings.sync_seconds == 12 * 3600
    assert isinstance(settings.certificate, OwnCertificate)
    assert settings.front_proxy is None
    assert settings.always_allowed == ("/healthz", "/readyz", "/livez")


def test_flags_of_upstream_and_of_api_servers() -> None:
    settings = parse_settings(
        ["-v=4", "--global-namespace=openshift-marketplace", "--secure-port=8443",
         "--bind-address", "127.0.0.1", "--tls-cert-file=/c", "--tls-private-key-file=/k",
         "--interval=5m", "--debug=true", "--tls-min-version=VersionTLS13", "--profiling=false",
         "--feature-gates=A=true", "--authorization-kubeconfig=/a"]
    )  # fmt: skip
    assert settings.global_namespace == "openshift-marketplace"
    assert settings.address == ("127.0.0.1", 8443)
    assert settings.certificate == CertificateFiles(Path("/c"), Path("/k"))
    assert (settings.sync_seconds, settings.authorization) == (300, "/a")


def test_the_front_proxy_of_flags(tmp_path: Path) -> None:
    (tmp_path / "ca").write_text("PEM")
    settings = parse_settings(
        [f"--requestheader-client-ca-file={tmp_path / 'ca'}", "--requestheader-allowed-names=a,b",
         "--requestheader-username-headers=X-User"]
    )  # fmt: skip
    assert settings.front_proxy is not None
    assert settings.front_proxy.names == {"a", "b"}
    assert settings.front_proxy.user_headers == ("X-User",)
    assert settings.front_proxy.group_headers == ("x-remote-group",)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--tls-cert-file=/c"], "--tls-cert-file and --tls-private-key-file go together"),
        (["--tls-sni-cert-key=a,b"], "--tls-sni-cert-key is not supported"),
        (["--secure-port=0"], "0 is not in the range"),
        (["--client-ca-file=/nowhere/ca"], "cannot read --client-ca-file"),
        (["--tls-cipher-suites=ROT13"], "unknown TLS cipher: ROT13"),
        (["--interval=often"], "no duration"),
        (["--interval=0"], "too short a pause"),
        (["--what"], "No such option"),
    ],
)
def test_what_is_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse_settings(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
