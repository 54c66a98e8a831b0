"""Which kubeconfigs are read without the official client: plain ones only."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.harness.ports import free_port
from olm_client.catalogs.quick_list import quick_list
from olm_client.reach import Reach


def config(cluster: dict[str, Any], user: dict[str, Any]) -> dict[str, Any]:
    return {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
        "clusters": [{"name": "k", "cluster": cluster}],
        "users": [{"name": "u", "user": user}],
    }


PLAIN = {"server": f"https://127.0.0.1:{free_port('127.0.0.1')}"}


@pytest.mark.parametrize(
    "content",
    [
        config(PLAIN, {"exec": {"command": "login"}}),
        config(PLAIN, {"auth-provider": {"name": "oidc"}}),
        config(PLAIN | {"proxy-url": "http://proxy"}, {"token": "t"}),
        config(PLAIN | {"tls-server-name": "x"}, {"token": "t"}),
        config(PLAIN | {"insecure-skip-tls-verify": True}, {"token": "t"}),
        config(PLAIN | {"certificate-authority-data": "bm8gQ0E="}, {"token": "t"}),
        config(PLAIN | {"certificate-authority": "absent.crt"}, {"token": "t"}),
        config({"server": "http://127.0.0.1:1"}, {"token": "t"}),
        config(PLAIN, {"tokenFile": "absent"}),
        config(PLAIN, {"token": "t"}),
        config(PLAIN, {}) | {"current-context": "other"},
        config(PLAIN, {}) | {"users": None},
        {},
        "text",
    ],
    ids=[
        "exec", "auth provider", "proxy", "server name", "insecure", "broken CA", "no CA file",
        "plain HTTP", "no token file", "nobody answers", "no such context", "no users", "empty",
        "text",
    ],
)  # fmt: skip
def test_anything_unusual_is_left_to_the_official_client(content: Any, tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(yaml.safe_dump(content))
    assert quick_list(Reach(str(file))) is None


def test_a_file_that_is_not_there_is_left_to_it_too(tmp_path: Path) -> None:
    assert quick_list(Reach(str(tmp_path / "none"))) is None
