"""Which requests go through a proxy."""

import pytest

from olm_runtime.errors import TransientError
from olm_runtime.proxies import (
    Proxies,
    given_first,
    read_cluster_proxies,
    read_grpc_proxy,
    read_proxies,
    without_password,
)

PROXIES = {"HTTP_PROXY": "http://plain:1", "HTTPS_PROXY": "secure:2"}


def chosen(url: str, exceptions: str = "", **environment: str) -> str:
    return read_proxies({**PROXIES, "NO_PROXY": exceptions, **environment}).choose(url)


def test_the_scheme_of_the_request_chooses() -> None:
    assert chosen("http://r.test/v2/") == "http://plain:1"
    assert chosen("https://r.test/v2/") == "http://secure:2"
    assert not read_proxies({"HTTP_PROXY": "p:1"}).choose("https://r.test/")


def test_upper_case_goes_before_lower_case() -> None:
    assert chosen("https://r.test/", https_proxy="other:3") == "http://secure:2"
    assert read_proxies({"https_proxy": "other:3"}).choose("https://r.test/") == "http://other:3"


@pytest.mark.parametrize(
    ("exceptions", "url", "direct"),
    [
        ("", "https://r.test/", False),
        ("*", "https://r.test/", True),
        ("r.test", "https://r.test/", True),
        ("R.Test", "https://r.test:5000/", True),
        ("r.test", "https://a.r.test/", True),
        ("r.test", "https://ar.test/", False),
        (".r.test", "https://a.r.test/", True),
        (".r.test", "https://r.test/", False),
        ("*.r.test", "https://a.b.r.test/", True),
        (".svc, .cluster.local", "https://reg.ns.svc/", True),
        ("r.test:5000", "https://r.test:5000/", True),
        ("r.test:5000", "https://r.test/", False),
        ("r.test:443", "https://r.test/", True),
        ("r.test:80", "http://r.test/", True),
        ("10.0.0.0/8", "https://10.1.2.3:5000/", True),
        ("10.0.0.0/8", "https://11.1.2.3/", False),
        ("10.1.2.3/33", "https://10.1.2.3/", False),
        ("10.1.2.3", "https://10.1.2.3/", True),
        ("10.1.2.3:1", "https://10.1.2.3/", False),
        ("fd00::/8", "https://[fd00::1]:5000/", True),
        ("fd00::1", "https://[fd00::1]:5000/", True),
        ("[fd00::1]:5000", "https://[fd00::1]:5000/", True),
        ("[fd00::1]:5001", "https://[fd00::1]:5000/", False),
        ("fd00::1", "http://r.test/", False),
        ("", "https://localhost:5000/", True),
        ("", "https://127.0.0.1:5000/", True),
        ("", "http://[::1]:5000/", True),
    ],
)
def test_exceptions_are_names_domains_addresses_and_networks(
    exceptions: str, url: str, direct: bool
) -> None:
    assert (chosen(url, exceptions) == "") is direct


@pytest.mark.parametrize(
    "text",
    ["socks5://me:secret@p:1", "http://:1", "http://me:secret@p:99999999", "http://[me:secret"],
)
def test_what_is_no_proxy_is_named_without_its_text(text: str) -> None:
    with pytest.raises(TransientError, match="HTTPS_PROXY") as caught:
        read_proxies({"HTTPS_PROXY": text})
    assert "secret" not in caught.value.describe()


STATUS = {
    "httpProxy": "http://plain:1",
    "httpsProxy": "http://secure:2",
    "noProxy": ".cluster.local,.svc,10.128.0.0/14",
}


def test_the_status_of_a_clusters_proxy_says_what_the_environment_would() -> None:
    environment = {
        "HTTP_PROXY": STATUS["httpProxy"],
        "HTTPS_PROXY": STATUS["httpsProxy"],
        "NO_PROXY": STATUS["noProxy"],
    }
    assert read_cluster_proxies(STATUS) == read_proxies(environment)
    assert read_cluster_proxies({}) == Proxies()


def test_a_status_that_names_no_proxy_is_reported_by_its_field() -> None:
    with pytest.raises(TransientError, match=r"Proxy cluster: status\.httpsProxy holds no"):
        read_cluster_proxies({"httpsProxy": "socks5://p:1"})


@pytest.mark.parametrize(
    ("environment", "url", "expected"),
    [
        ({}, "https://r.test/", "http://secure:2"),
        ({}, "https://r.ns.svc/", ""),
        ({"HTTPS_PROXY": "http://mine:3"}, "https://r.test/", "http://mine:3"),
        ({"HTTPS_PROXY": "http://mine:3"}, "https://r.ns.svc/", "http://mine:3"),
        ({"HTTP_PROXY": "http://mine:3"}, "https://r.test/", ""),
        ({"NO_PROXY": "r.test"}, "https://r.test/", ""),
        ({"NO_PROXY": "r.test"}, "https://s.test/", "http://secure:2"),
        ({"NO_PROXY": "r.test"}, "https://r.ns.svc/", ""),
    ],
)
def test_proxies_of_the_environment_win_as_a_whole(
    environment: dict[str, str], url: str, expected: str
) -> None:
    proxies = given_first(read_proxies(environment), read_cluster_proxies(STATUS))
    assert proxies.choose(url) == expected


def test_a_password_is_not_shown() -> None:
    assert without_password("http://me:secret@p:1/") == "http://p:1/"


def test_registries_of_catalogs_have_a_proxy_of_their_own() -> None:
    environment = {**PROXIES, "grpc_proxy": "grpc:4", "NO_PROXY": ".svc"}
    proxies = read_grpc_proxy(environment)
    assert proxies.choose("http://catalogs.example.com:50051") == "http://grpc:4"
    assert not proxies.choose("http://catalog.olm.svc:50051")
    assert not read_grpc_proxy(PROXIES).choose("http://catalogs.example.com:50051")
