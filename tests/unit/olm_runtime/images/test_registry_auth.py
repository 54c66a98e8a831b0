"""Who may be told credentials, and which."""

import subprocess
import sys

import pytest

from olm_runtime.images.reference import parse_ref
from olm_runtime.images.registry_auth import (
    Credential,
    credential_for,
    host_of,
    may_be_asked,
    may_get_credentials,
)


@pytest.mark.parametrize(
    ("realm", "registry", "allowed"),
    [
        ("https://quay.io/v2/auth", "quay.io", True),
        ("https://auth.docker.io/token", "docker.io", True),
        ("https://gitlab.com/jwt/auth", "registry.gitlab.com", True),
        ("https://auth.example.com/t", "registry.example.com", True),
        ("https://127.0.0.1:5001/token", "127.0.0.1:5000", True),
        ("http://localhost:1/token", "localhost:5000", True),
        ("https://evil.com/token", "quay.io", False),
        ("https://quay.io.evil.com/token", "quay.io", False),
        ("https://evilquay.io/token", "quay.io", False),
        ("https://127.0.0.2/token", "127.0.0.1", False),
        ("https://evil.0.0.1/token", "127.0.0.1", False),
        ("https://", "quay.io", False),
        ("https://quay.io@evil.com/", "quay.io", False),
        # What may be registered by whom is for the public suffix list to say.
        ("https://gitlab.shop.com.au/token", "registry.shop.com.au", True),
        ("https://evil.com.au/token", "registry.com.au", False),
        ("https://shop.co.uk/token", "registry.co.uk", False),
        ("https://auth.registry.co.uk/token", "registry.co.uk", True),
        ("https://auth.abc.de/token", "registry.abc.de", True),
        ("https://evil.github.io/token", "victim.github.io", False),
        ("https://github.io/token", "victim.github.io", False),
        ("https://evil.co.uk/token", "co.uk", False),
        ("https://AUTH.corp.internal/token", "registry.corp.internal", True),
        ("https://evil.internal/token", "registry.internal", False),
        ("https://evil..com/token", "registry..com", False),
    ],
)
def test_credentials_stay_on_the_registrys_site(
    realm: str, registry: str, *, allowed: bool
) -> None:
    assert may_get_credentials(realm, registry) is allowed


@pytest.mark.parametrize(
    ("realm", "plain", "allowed"),
    [
        ("https://quay.io/token", False, True),
        ("http://quay.io/token", False, False),
        ("http://localhost:1/token", True, True),
        ("ftp://quay.io/token", True, False),
        ("https:///token", True, False),
        ("/token", True, False),
    ],
)
def test_token_servers_are_asked_over_https(realm: str, *, plain: bool, allowed: bool) -> None:
    assert may_be_asked(realm, plain_http=plain) is allowed


def test_the_public_suffix_list_is_read_when_it_is_needed() -> None:
    """It takes as long as a tenth of a program's start."""
    code = (
        "import sys, olm_runtime.registry.client, olm_runtime.images.registry_auth as auth;"
        "assert auth.may_get_credentials('https://a.test/token', 'a.test');"
        "assert 'publicsuffixlist' not in sys.modules;"
        "assert auth.may_get_credentials('https://b.a.test/token', 'a.test');"
        "assert 'publicsuffixlist' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


AUTHS = {
    "quay.io": {"auth": "host"},
    "quay.io/org": {"auth": "org"},
    "https://index.docker.io/v1/": {"auth": "hub"},
    "azure.io": {"auth": "MDAwMDo=", "identitytoken": "identity"},
    "empty.io": {},
    "odd.io": "text",
}


@pytest.mark.parametrize(
    ("reference", "credential"),
    [
        ("quay.io/other/cat:v1", Credential("host")),
        ("quay.io/org/cat:v1", Credential("org")),
        ("quay.io/organic/cat:v1", Credential("host")),
        ("docker.io/org/cat:v1", Credential("hub")),
        ("azure.io/org/cat:v1", Credential(identity_token="identity")),
        ("empty.io/org/cat:v1", Credential()),
        ("odd.io/org/cat:v1", Credential()),
        ("quay.io.evil.com/org/cat:v1", Credential()),
    ],
)
def test_the_longest_key_that_covers_the_repository_wins(
    reference: str, credential: Credential
) -> None:
    assert credential_for(AUTHS, parse_ref(reference)) == credential


def test_credentials_are_not_shown() -> None:
    shown = repr(Credential("secret", "secret"))
    assert "secret" not in shown


def test_host_of() -> None:
    assert host_of("Quay.io:443") == "quay.io"
    assert host_of("[::1]:5000") == "::1"
