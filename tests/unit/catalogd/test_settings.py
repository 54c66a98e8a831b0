"""Upstream's flags, and the messages for wrong ones."""

import ssl

import pytest

from catalogd.settings import parse_settings
from olm_runtime.images.limits import Limits

CERTIFICATES = ["--tls-cert=/c", "--tls-key=/k"]


def test_defaults_are_upstreams() -> None:
    found = parse_settings(CERTIFICATES)
    assert found.catalogs_address == ("", 8443)
    assert found.metrics_address == ("", 7443)
    assert found.health_address == ("", 8081)
    assert found.base_url == "https://catalogd-service.olmv1-system.svc"
    assert str(found.cache_dir) == "/var/cache/catalogd"
    assert found.gc_interval == 12 * 3600
    assert found.webhook_port == 9443
    assert not found.leader_elect
    assert found.metas
    assert found.tls_profile.minimum is ssl.TLSVersion.TLSv1_2


def test_both_spellings_and_klog_flags_are_accepted() -> None:
    found = parse_settings(
        [
            *CERTIFICATES,
            "--catalogs-server-addr",
            "127.0.0.1:0",
            "--leader-elect=true",
            "--metrics-bind-address=0",
            "-v=4",
            "--logtostderr",
            "--vmodule=a=1",
            "--feature-gates=APIV1MetasHandler=false,Unheard=true",
            "--feature-gates",
            "GraphQLCatalogQueries=true",
            "--global-pull-secret=ns/name",
            "--tls-profile=custom",
            "--tls-custom-version=TLSv1.3",
            "--tls-custom-ciphers=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_AES_128_GCM_SHA256",
        ]
    )
    assert found.catalogs_address == ("127.0.0.1", 0)
    assert found.leader_elect
    assert found.metrics_address is None
    assert not found.metas
    assert found.global_pull_secret == ("ns", "name")
    assert found.tls_profile.minimum is ssl.TLSVersion.TLSv1_3
    assert found.tls_profile.ciphers == ("ECDHE-RSA-AES128-GCM-SHA256",)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--tls-cert=/c"], "tls-cert and tls-key flags must be used together"),
        (["--metrics-bind-address=:1"], "metrics-bind-address requires tls-cert and tls-key"),
        ([], "tls-cert and tls-key flags are required"),
        (
            [*CERTIFICATES, "--global-pull-secret=name"],
            "value of global-pull-secret should be of the format <namespace>/<name>",
        ),
        ([*CERTIFICATES, "--gc-interval=soon"], "no duration"),
        ([*CERTIFICATES, "--gc-interval=0s"], "too short a pause"),
        ([*CERTIFICATES, "--catalogs-server-addr=0"], "must be served somewhere"),
        (
            [*CERTIFICATES, "--tls-profile=custom", "--tls-custom-ciphers=NULL"],
            "unknown TLS cipher: NULL",
        ),
        ([*CERTIFICATES, "--unknown"], "--unknown"),
    ],
)
def test_wrong_flags_are_named(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        parse_settings(arguments)
    assert caught.value.code == 2
    assert message in capsys.readouterr().err


def test_limits_are_flags_with_the_constants_as_defaults() -> None:
    assert parse_settings(CERTIFICATES).limits == Limits()
    found = parse_settings(
        [
            *CERTIFICATES,
            "--max-image-entries=7",
            "--max-image-total-bytes=2Gi",
            "--max-image-path-length=99",
            "--max-document-bytes=512Ki",
        ]
    )
    assert found.limits == Limits(entries=7, total_bytes=2 << 30, path_length=99)
    assert found.document_bytes == 512 << 10


@pytest.mark.parametrize("text", ["0", "-1", "1.5Gi", "1GB", "", "Mi", "²"])
def test_a_size_that_is_none_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse_settings([*CERTIFICATES, f"--max-image-file-bytes={text}"])
    assert "is no size; say 512Mi or 4Gi" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("gates", "graphql"),
    [("", False), ("GraphQLCatalogQueries=true", True), ("AllAlpha=true", True)],
)
def test_graphql_is_served_behind_its_gate(gates: str, *, graphql: bool) -> None:
    assert parse_settings([*CERTIFICATES, f"--feature-gates={gates}"]).graphql is graphql
