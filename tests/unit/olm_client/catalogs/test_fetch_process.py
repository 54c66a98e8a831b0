"""A catalog that is fetched by a process of its own."""

from pathlib import Path

import pytest

from olm_client.catalogs.cluster import Served
from olm_client.catalogs.fetch_process import fetch_apart
from olm_client.reach import ClusterOptions, Reach
from olm_runtime.errors import TerminalError
from olm_runtime.kube.overrides import Overrides

AWAY = Served("team", "sha256:0", "https://127.0.0.1:1/catalogs/team", available=True)


@pytest.fixture
def options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ClusterOptions:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    config = tmp_path / "kubeconfig"
    config.write_text(
        "{current-context: here, contexts: [{name: here, context: {cluster: here, user: me}}],"
        " clusters: [{name: here, cluster: {server: 'http://127.0.0.1:1'}}],"
        " users: [{name: me, user: {token: secret}}]}"
    )
    return ClusterOptions(Reach(str(config), Overrides(as_user="somebody")))


async def test_what_is_wrong_is_reported_as_here(options: ClusterOptions) -> None:
    with pytest.raises(TerminalError, match='catalog "team" cannot be read from https') as raised:
        await fetch_apart(options, AWAY)
    assert "--catalogd-cas-dir" in raised.value.hint


async def test_nothing_of_the_folder_around_is_imported(
    options: ClusterOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "orjson.py").write_text("raise SystemExit('of the folder around')")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TerminalError, match="cannot be read"):
        await fetch_apart(options, AWAY)


async def test_a_process_that_fails_is_reported(
    options: ClusterOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    with pytest.raises(TerminalError, match='catalog "team" could not be fetched: '):
        await fetch_apart(options, AWAY)
