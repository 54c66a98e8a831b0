"""Through which proxy the API server is reached, if any."""

from pathlib import Path

import pytest
import yaml

from olm_shared.runtime.access import load_access

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
