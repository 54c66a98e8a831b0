"""Which proxy a request goes through, as Go programs read HTTP_PROXY, HTTPS_PROXY and NO_PROXY.

The rules are those of golang.org/x/net/http/httpproxy, which every component of a cluster follows:
NO_PROXY holds names (with their subdomains), `.domains`, addresses, networks (`10.0.0.0/8`), each
also with a port, or `*`; this machine itself is never asked through a proxy. Pure.
"""

import ipaddress
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from olm_runtime.errors import TransientError

PROXY_SCHEMES = ("http", "https")


class Proxies(NamedTuple):
    """Addresses of proxies by the scheme of the request (empty for none), and who needs none."""

    http: str = ""
    https: str = ""
    exceptions: tuple[str, ...] = ()

    def choose(self, url: str) -> str:
        """The address of the proxy for a request, empty if it goes there itself."""
        parts = urlsplit(url)
        proxy = self.https if parts.scheme == "https" else self.http
        host = (parts.hostname or "").rstrip(".")
        port = parts.port or (443 if parts.scheme == "https" else 80)
        if not proxy or _is_here(host):
            return ""
        excepted = any(_covers(exception, host, port) for exception in self.exceptions)
        return "" if excepted else proxy


def read_proxies(environment: Mapping[str, str]) -> Proxies:
    """The proxies of an environment. Raises TransientError naming the variable that is wrong."""

    def value(name: str) -> str:
        return (environment.get(name) or environment.get(name.lower()) or "").strip()

    return Proxies(
        http=_address("environment variable HTTP_PROXY", value("HTTP_PROXY")),
        https=_address("environment variable HTTPS_PROXY", value("HTTPS_PROXY")),
        exceptions=_exceptions(value("NO_PROXY")),
    )


def read_grpc_proxy(environment: Mapping[str, str]) -> Proxies:
    """The proxy for registries of catalogs, which is not that of the web: GRPC_PROXY.

    Raises TransientError naming the variable that is wrong.
    """

    def value(name: str) -> str:
        return (environment.get(name) or environment.get(name.lower()) or "").strip()

    proxy = _address("environment variable GRPC_PROXY", value("GRPC_PROXY"))
    return Proxies(http=proxy, exceptions=_exceptions(value("NO_PROXY")))


def read_cluster_proxies(status: Mapping[str, Any]) -> Proxies:
    """The proxies of OpenShift's Proxy `cluster`, from its status.

    The specification is what people wish; the cluster checks it and adds itself to `noProxy`.
    Raises TransientError naming the field that is wrong.
    """

    def value(name: str) -> str:
        return str(status.get(name) or "").strip()

    return Proxies(
        http=_address("Proxy cluster: status.httpProxy", value("httpProxy")),
        https=_address("Proxy cluster: status.httpsProxy", value("httpsProxy")),
        exceptions=_exceptions(value("noProxy")),
    )


def given_first(given: Proxies, cluster: Proxies) -> Proxies:
    """Proxies that were given to this program win; whom they except needs none in any case."""
    if given.http or given.https:
        return given
    return cluster._replace(exceptions=(*given.exceptions, *cluster.exceptions))


def without_password(address: str) -> str:
    """An address as it may be shown to people."""
    parts = urlsplit(address)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _exceptions(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (part.strip().lower() for part in text.split(","))))


def _address(what: str, text: str) -> str:
    if not text:
        return ""
    address = text if "://" in text else f"http://{text}"
    try:
        parts = urlsplit(address)
        valid = parts.scheme in PROXY_SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise TransientError(
            f"{what} holds no address of a proxy",
            hint="write http://HOST:PORT or https://HOST:PORT",
        )
    return address


def _is_here(host: str) -> bool:
    ip = _ip(host)
    return host == "localhost" or (ip is not None and ip.is_loopback)


def _covers(exception: str, host: str, port: int) -> bool:
    if exception == "*":
        return True
    ip = _ip(host)
    if ip is not None and "/" in exception:
        return _in_network(ip, exception)
    name, only_port = _split_port(exception)
    if only_port and only_port != str(port):
        return False
    if ip is not None:
        return _ip(name.strip("[]")) == ip
    domain = name.removeprefix("*")
    below = domain if domain.startswith(".") else f".{domain}"
    return host.endswith(below) or host == domain


def _split_port(text: str) -> tuple[str, str]:
    """`HOST:PORT` in two; an IPv6 address without brackets has no port."""
    name, colon, port = text.rpartition(":")
    is_port = colon and port.isdigit() and (":" not in name or name.endswith("]"))
    return (name, port) if is_port else (text, "")


def _in_network(ip: ipaddress.IPv4Address | ipaddress.IPv6Address, text: str) -> bool:
    try:
        return ip in ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False


def _ip(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
