"""The command line of operator-controller."""

import ssl
from datetime import timedelta
from pathlib import Path

import pytest

from olm_content.render.options import CertificateProvider
from operator_controller.settings import DEFAULT_CACHE_PATH, parse_settings


def test_defaults() -> None:
    settings = parse_settings([])
    assert settings.kubeconfig is None
    assert settings.system_namespace == "olmv1-system"
    assert settings.cache_path == DEFAULT_CACHE_PATH
    assert settings.health_address == ("", 8081)
    assert settings.workers == 8
    assert settings.certificate_provider is None
    assert (settings.leader_elect, settings.allow_controller_identity) == (False, False)
    assert (settings.catalogd_cas_dir, settings.pull_cas_dir) == (None, None)


UPSTREAM = {
    "--catalogd-cas-dir": "/cas",
    "--pull-cas-dir": "/registry",
    "--cache-path": "/cache",
    "--system-namespace": "elsewhere",
    "--health-probe-bind-address": ":1",
    "--metrics-bind-address": ":8443",
    "--pprof-bind-address": "0",
    "--tls-cert": "c",
    "--tls-key": "k",
    "--tls-profile": "modern",
    "--tls-custom-version": "TLSv1.3",
    "--tls-custom-ciphers": "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "--tls-custom-curves": "X25519",
    "--global-pull-secret": "ns/name",
    "--feature-gates": "BoxcutterRuntime=true",
    "--kubeconfig": "file",
    "--v": "2",
}


@pytest.mark.parametrize("joined", [True, False], ids=["with an equals sign", "as two words"])
def test_upstreams_flags_mean_here_what_they_mean_there(*, joined: bool) -> None:
    arguments = ["--leader-elect"]
    for flag, value in UPSTREAM.items():
        arguments += [f"{flag}={value}"] if joined else [flag, value]
    settings = parse_settings(arguments)
    assert settings.catalogd_cas_dir == Path("/cas")
    assert settings.pull_cas_dir == Path("/registry")
    assert settings.cache_path == Path("/cache")
    assert settings.system_namespace == "elsewhere"
    assert settings.health_address == ("", 1)
    assert settings.kubeconfig == "file"
    assert settings.leader_elect
    assert settings.gates["BoxcutterRuntime"]
    assert settings.tls_profile.minimum is ssl.TLSVersion.TLSv1_3


def test_our_own_flags() -> None:
    settings = parse_settings(
        [
            "--allow-controller-identity",
            "--max-concurrent-reconciles=3",
            "--webhook-cert-provider=cert-manager",
        ]
    )
    assert settings.allow_controller_identity
    assert settings.workers == 3
    assert settings.certificate_provider is CertificateProvider.CERT_MANAGER


def test_an_empty_kubeconfig_is_none() -> None:
    assert parse_settings(["--kubeconfig="]).kubeconfig is None


def test_an_unknown_gate_warns(caplog: pytest.LogCaptureFixture) -> None:
    parse_settings(["--feature-gates=Unheard=true"])
    assert caplog.messages == ["unknown feature gate Unheard is ignored"]


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        pytest.param("--unheard", "No such option '--unheard'", id="an unknown flag"),
        pytest.param("--leader", "No such option '--leader'", id="a shortened flag"),
        pytest.param("--leader-elect=x", "'x' is no boolean; say true or false", id="a boolean"),
        pytest.param("--max-concurrent-reconciles=0", "'0' is no count", id="no workers"),
        pytest.param("--health-probe-bind-address=x", "'x' is no address", id="an address"),
        pytest.param("--webhook-cert-provider=x", "'x' is not one of", id="a provider"),
        pytest.param("--tls-profile=x", "'x' is not one of 'modern'", id="a TLS profile"),
        pytest.param("--feature-gates=x", "feature gate 'x': say NAME=true", id="a gate"),
        pytest.param(
            "--global-pull-secret=x",
            "value of global-pull-secret should be of the format <namespace>/<name>",
            id="a pull secret",
        ),
        pytest.param(
            "--tls-cert=c",
            "unable to configure TLS certificates: tls-cert and tls-key flags must be used "
            "together",
            id="a certificate without its key",
        ),
    ],
)
def test_what_is_wrong_is_said_with_exit_code_2(
    argument: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse_settings([argument])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_lifetimes_of_certificates_leave_time_for_a_rotation(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = parse_settings(["--webhook-cert-lifetime=1h", "--webhook-cert-settle=10m"])
    assert (found.certificate_lifetime, found.certificate_settle) == (
        timedelta(hours=1),
        timedelta(minutes=10),
    )
    with pytest.raises(SystemExit):
        parse_settings(["--webhook-cert-lifetime=1h", "--webhook-cert-settle=11m"])
    assert "at least 6 times" in capsys.readouterr().err


PAIR = ("--tls-cert=c", "--tls-key=k")


@pytest.mark.parametrize(
    ("arguments", "address"),
    [
        pytest.param((), None, id="no certificate, no metrics"),
        pytest.param(PAIR, ("", 8443), id="a certificate"),
        pytest.param((*PAIR, "--metrics-bind-address=0"), None, id="switched off"),
        pytest.param((*PAIR, "--metrics-bind-address=[::1]:1"), ("::1", 1), id="elsewhere"),
    ],
)
def test_metrics_are_served_with_a_certificate_only(
    arguments: tuple[str, ...], address: tuple[str, int] | None
) -> None:
    found = parse_settings(arguments).metrics
    assert (found and found.address) == address


def test_metrics_without_a_certificate_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse_settings(["--metrics-bind-address=:8443"])
    assert "metrics-bind-address requires tls-cert and tls-key flags" in capsys.readouterr().err


SERVING = (
    "--serving-cert=one:a.svc,b.svc",
    "--serving-cert=two:c.svc",
    "--serving-cert-dir=/certs",
)


def test_serving_certificates_know_who_trusts_them() -> None:
    serving = parse_settings([*SERVING, "--serving-cert-webhook=hook:one"]).serving
    assert serving is not None
    assert serving.folder == Path("/certs")
    first, second = serving.certificates
    assert (first.secret, first.dns_names, first.webhooks) == ("one", ("a.svc", "b.svc"), ("hook",))
    assert (second.secret, second.dns_names, second.webhooks) == ("two", ("c.svc",), ())


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (SERVING[:1], "must be used together"),
        (SERVING[2:], "must be used together"),
        ((*SERVING, "--serving-cert-webhook=hook:three"), "there is no serving-cert three"),
        (("--serving-cert=one",), "'one' is no pair; say NAME:VALUE"),
    ],
)
def test_serving_certificates_that_do_not_fit_are_refused(
    arguments: tuple[str, ...], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parse_settings(arguments)
    assert complaint in capsys.readouterr().err
