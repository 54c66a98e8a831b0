"""The command line of catalog-operator."""

import logging
from pathlib import Path

import pytest

from olm_classic.catalog_operator.settings import BundleUnpack, CatalogServing, parse_settings
from olm_classic.catalog_sources.pods import Images
from olm_classic.dialect import Dialect
from olm_runtime.daemon.settings import Metrics


def test_defaults() -> None:
    settings = parse_settings([])
    assert settings.kubeconfig is None
    assert (settings.system_namespace, settings.global_namespace) == ("olm", "olm")
    assert settings.health_address == ("", 8081)
    assert settings.metrics == Metrics(("", 8080), None, None, None)
    assert settings.resync_seconds == 900.0
    assert (settings.bundle_unpack_seconds, settings.install_plan_retry_seconds) == (600.0, 60.0)
    assert settings.catalog_serving is CatalogServing.PODS
    assert settings.bundle_unpack is BundleUnpack.PROCESS
    assert settings.dialect is Dialect.DOCUMENTS
    assert (settings.pods.workload_user, settings.status_name) == (1001, "")
    assert settings.log_level == logging.INFO


UPSTREAM = {
    "--kubeconfig": "file",
    "--namespace": "elsewhere",
    "--configmapServerImage": "registry.example.com/configmaps:1",
    "--opmImage": "registry.example.com/opm:1",
    "--util-image": "registry.example.com/util:1",
    "--writeStatusName": "operator-lifecycle-manager-catalog",
    "--set-workload-user-id": "1002",
    "--tls-key": "k",
    "--tls-cert": "c",
    "--client-ca": "ca",
    "--interval": "1h",
    "--bundle-unpack-timeout": "0",
    "--install-plan-retry-timeout": "5s",
    "--v": "2",
}


@pytest.mark.parametrize("joined", [True, False], ids=["with an equals sign", "as two words"])
@pytest.mark.parametrize("dashes", [1, 2])
def test_upstreams_flags_mean_here_what_they_mean_there(*, joined: bool, dashes: int) -> None:
    arguments = ["--debug", "--profiling"]
    for flag, value in UPSTREAM.items():
        spelled = f"{'-' * dashes}{flag.removeprefix('--')}"
        arguments += [f"{spelled}={value}"] if joined else [spelled, value]
    settings = parse_settings(arguments)
    assert settings.kubeconfig == "file"
    assert (settings.system_namespace, settings.global_namespace) == ("elsewhere", "elsewhere")
    assert settings.pods.images == Images(
        opm="registry.example.com/opm:1",
        util="registry.example.com/util:1",
        config_map="registry.example.com/configmaps:1",
    )
    assert settings.status_name == "operator-lifecycle-manager-catalog"
    assert settings.pods.workload_user == 1002
    assert settings.metrics == Metrics(("", 8443), Path("c"), Path("k"), Path("ca"))
    assert settings.resync_seconds == 3600.0
    assert (settings.bundle_unpack_seconds, settings.install_plan_retry_seconds) == (0.0, 5.0)
    assert settings.log_level == logging.DEBUG


def test_the_global_namespace_may_be_another_than_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLOBAL_CATALOG_NAMESPACE", "openshift-marketplace")
    settings = parse_settings(["--namespace=openshift-operator-lifecycle-manager"])
    assert settings.system_namespace == "openshift-operator-lifecycle-manager"
    assert settings.global_namespace == "openshift-marketplace"


def test_our_own_flags() -> None:
    settings = parse_settings(
        [
            "--catalog-serving=shared",
            "--resolution-dialect=upstream",
            "--metrics-bind-address=127.0.0.1:9",
            "--default-catalogs=/catalogs",
        ]
    )
    assert settings.catalog_serving is CatalogServing.SHARED
    assert settings.dialect is Dialect.UPSTREAM
    assert settings.metrics == Metrics(("127.0.0.1", 9), None, None, None)
    assert settings.default_catalogs == Path("/catalogs")


def test_metrics_are_not_served_at_0() -> None:
    assert parse_settings(["--metrics-bind-address=0"]).metrics is None


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--tls-cert=c"], "tls-cert and tls-key flags must be used together"),
        (["--client-ca=c"], "client-ca requires tls-cert and tls-key flags to be set"),
        (["--catalog-serving=cloud"], "'cloud' is not one of 'pods', 'shared'"),
        (["--interval=soon"], "'soon' is no duration"),
    ],
)
def test_what_is_wrong_is_reported(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse_settings(arguments)
    assert ended.value.code == 2
    assert complaint in capsys.readouterr().err
