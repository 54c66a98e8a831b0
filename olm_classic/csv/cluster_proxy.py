"""OpenShift's Proxy `cluster`, as environment variables of operators. Pure."""

from api.objects import KubeObject

SINGLETON = "cluster"
DEFINITION = "proxies.config.openshift.io"
_FIELDS = {"HTTP_PROXY": "httpProxy", "HTTPS_PROXY": "httpsProxy", "NO_PROXY": "noProxy"}


def variables_of(proxy: KubeObject | None) -> list[dict[str, str]]:
    """The variables of containers, from the status: the specification is what people wish."""
    status = (proxy or {}).get("status") or {}
    found = {name: str(status.get(field) or "") for name, field in _FIELDS.items()}
    return [{"name": name, "value": value} for name, value in found.items() if value]
