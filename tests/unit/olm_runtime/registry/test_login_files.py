"""Files of logins and the credential helpers that they name, which are real programs here."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from olm_runtime.errors import TransientError
from olm_runtime.images.reference import ImageRef
from olm_runtime.images.registry_auth import Credential, encoded
from olm_runtime.registry.login_files import LoginFiles
from olm_runtime.registry.settings import PullSettings
from olm_runtime.registry.workstation import Registries

REF = ImageRef("a.test:5000", "org/cat", tag="v1")
FILE_KNOWS = Credential("from file")
HELPER_KNOWS = Credential(encoded("me", "pass:word"))
ANSWER = json.dumps({"ServerURL": "a.test", "Username": "me", "Secret": "pass:word"})

Helper = Callable[[str, str], None]


@pytest.fixture
def helper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Helper:
    """Puts a helper of that name on PATH; it notes in `asked` what it is asked for."""
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")

    def make(name: str, then: str) -> None:
        program = programs / f"docker-credential-{name}"
        note = f'echo "$1 $(cat)" >> {tmp_path}/asked'
        program.write_text(f"#!/bin/sh\n{note}\n{then}\n")
        program.chmod(0o755)

    return make


def asked(tmp_path: Path) -> list[str]:
    file = tmp_path / "asked"
    return file.read_text().splitlines() if file.exists() else []


def find(tmp_path: Path, *contents: Any, ref: ImageRef = REF, run: bool = True) -> Credential:
    files = [tmp_path / f"{number}.json" for number in range(len(contents) + 1)]
    for file, content in zip(files, contents, strict=False):
        file.write_text(content if isinstance(content, str) else json.dumps(content))
    return LoginFiles(tuple(files), run_helpers=run).find(ref)


AUTHS = {"auths": {"a.test:5000": {"auth": "from file"}}}
OWN, REST = {"credHelpers": {"a.test:5000": "some"}}, {"credsStore": "some"}
EMPTY: dict[str, Any] = {"auths": {"a.test:5000": {}}}


@pytest.mark.parametrize(
    ("contents", "found", "asks"),
    [
        ([OWN], HELPER_KNOWS, True),
        ([REST], HELPER_KNOWS, True),
        ([{**REST, **EMPTY}], HELPER_KNOWS, True),
        ([{**OWN, **AUTHS}], HELPER_KNOWS, True),
        ([{**REST, **AUTHS}], FILE_KNOWS, False),
        ([AUTHS, OWN], FILE_KNOWS, False),
        ([EMPTY, OWN], HELPER_KNOWS, True),
        ([{"credHelpers": {"b.test": "some"}}, AUTHS], FILE_KNOWS, False),
        ([{"credHelpers": None, "auths": None, "credsStore": ""}], Credential(), False),
    ],
)
def test_the_first_that_knows_the_registry_counts(
    tmp_path: Path, helper: Helper, contents: list[Any], found: Credential, *, asks: bool
) -> None:
    helper("some", f"echo '{ANSWER}'")
    assert find(tmp_path, *contents) == found
    assert asked(tmp_path) == (["get a.test:5000"] if asks else [])


def test_docker_hub_is_called_as_docker_calls_it(tmp_path: Path, helper: Helper) -> None:
    helper("some", f"echo '{ANSWER}'")
    hub = ImageRef("docker.io", "org/cat", tag="v1")
    named = {"credHelpers": {"https://index.docker.io/v1/": "some"}}
    assert find(tmp_path, named, ref=hub) == HELPER_KNOWS
    assert find(tmp_path, REST, ref=hub) == HELPER_KNOWS
    assert asked(tmp_path) == ["get https://index.docker.io/v1/"] * 2


@pytest.mark.parametrize(
    ("then", "found"),
    [
        ('echo \'{"Username":"<token>","Secret":"t"}\'', Credential(identity_token="t")),
        ('echo \'{"Username":"","Secret":""}\'', Credential()),
        ("echo credentials not found in native keychain; exit 1", Credential()),
    ],
)
def test_what_a_helper_says(tmp_path: Path, helper: Helper, then: str, found: Credential) -> None:
    helper("some", then)
    assert find(tmp_path, OWN) == found


@pytest.mark.parametrize(
    ("content", "then", "fault"),
    [
        (OWN, "echo the key store is locked; exit 1", "for a.test:5000: the key store is locked"),
        (OWN, "exit 3", "for a.test:5000: exit code 3"),
        (OWN, "echo s3cret", "its answer cannot be read"),
        (OWN, "echo '[\"s3cret\"]'", "its answer cannot be read"),
        ({"credsStore": "absent"}, "", r"docker-credential-absent, which \S+0.json names, is not"),
        ({"credHelpers": {"a.test:5000": "../bin/docker-credential-some"}}, "", "is not on PATH"),
        ({"credHelpers": ["x"]}, "", "credHelpers is no object"),
        ({"auths": "x"}, "", "auths is no object"),
        ("[]", "", "0.json: it is no JSON object"),
        ("{", "", "0.json: "),
    ],
)
def test_a_fault_is_reported_without_secrets(
    tmp_path: Path, helper: Helper, content: Any, then: str, fault: str
) -> None:
    helper("some", then)
    with pytest.raises(TransientError, match=fault) as caught:
        find(tmp_path, content)
    assert "s3cret" not in caught.value.describe()


def test_helpers_are_run_for_people_only(tmp_path: Path, helper: Helper) -> None:
    """Whoever may write a pull secret may not run programs of the controllers."""
    helper("some", f"echo '{ANSWER}'")
    assert find(tmp_path, {**OWN, **REST}, run=False) == Credential()
    assert not asked(tmp_path)
    assert not PullSettings().run_helpers
    assert Registries().settings(REF).run_helpers
