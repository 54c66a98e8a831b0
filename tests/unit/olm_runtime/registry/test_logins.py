"""Files of logins: who may read them, what stays in them, and which one is chosen."""

import json
import stat
from pathlib import Path

import pytest

from olm_runtime.errors import TerminalError
from olm_runtime.images.registry_auth import encoded
from olm_runtime.registry.logins import add_login, login_target, remove_login
from olm_runtime.registry.settings import PullSettings, credential_files
from olm_runtime.registry.workstation import auth_files


def test_a_login_joins_what_is_there(tmp_path: Path) -> None:
    file = tmp_path / "containers" / "auth.json"
    add_login(file, "a.test", encoded("me", "pass:word"))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_bytes()) == {"auths": {"a.test": {"auth": "bWU6cGFzczp3b3Jk"}}}
    file.write_text(json.dumps({"credHelpers": {"x": "y"}, "auths": {"b.test": {"auth": "1"}}}))
    add_login(file, "a.test", "2")
    assert json.loads(file.read_bytes()) == {
        "credHelpers": {"x": "y"},
        "auths": {"a.test": {"auth": "2"}, "b.test": {"auth": "1"}},
    }
    assert remove_login(file, "a.test")
    assert not remove_login(file, "a.test")
    assert json.loads(file.read_bytes())["auths"] == {"b.test": {"auth": "1"}}
    assert [each.name for each in file.parent.iterdir()] == ["auth.json"], "nothing is left aside"


def test_a_login_goes_nowhere_where_it_would_not_be_looked_at(tmp_path: Path) -> None:
    file = tmp_path / "auth.json"
    content = json.dumps({"credHelpers": {"a.test": "gcloud"}})
    file.write_text(content)
    with pytest.raises(TerminalError, match="docker-credential-gcloud"):
        add_login(file, "a.test", "1")
    assert file.read_text() == content
    add_login(file, "b.test", "1")


@pytest.mark.parametrize("content", ["{", "[]"])
def test_a_file_that_is_none_is_left_alone(content: str, tmp_path: Path) -> None:
    file = tmp_path / "auth.json"
    file.write_text(content)
    with pytest.raises(TerminalError, match=r"auth\.json"):
        add_login(file, "a.test", "1")
    assert file.read_text() == content


def test_where_logins_are_looked_for_and_kept(tmp_path: Path) -> None:
    podman = tmp_path / "run" / "containers" / "auth.json"
    lasting = tmp_path / ".config" / "containers" / "auth.json"
    docker = tmp_path / ".docker" / "config.json"
    environment = {"XDG_RUNTIME_DIR": str(tmp_path / "run")}
    assert auth_files(environment, tmp_path) == [podman, lasting, docker]
    assert login_target(environment, tmp_path) == lasting, "a folder that is not there"
    (tmp_path / "run").mkdir()
    assert login_target(environment, tmp_path) == podman
    assert login_target({}, tmp_path) == lasting
    named = {**environment, "REGISTRY_AUTH_FILE": "/named"}
    assert auth_files(named, tmp_path) == [Path("/named")]
    assert login_target(named, tmp_path) == Path("/named")


@pytest.mark.parametrize(
    ("settings", "read"),
    [
        (PullSettings(), ["/home/me/.docker/config.json"]),
        (PullSettings(login_files=(Path("/a"), Path("/b"))), ["/a", "/b"]),
        (PullSettings(auth_file=Path("/named")), ["/named"]),
        (PullSettings(auth_file=Path("/named"), login_files=(Path("/a"),)), ["/named"]),
    ],
)
def test_a_file_that_is_named_replaces_all_others(settings: PullSettings, read: list[str]) -> None:
    assert credential_files(settings, {"HOME": "/home/me"}) == tuple(map(Path, read))
