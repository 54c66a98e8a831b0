"""For which ID tokens nobody is let in, and who comes back from a provider."""

import re
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet

from console.id_tokens import LEEWAY_SECONDS, RefusedTokenError, verified
from console.provider import Provider, Tokens
from console.provider_sign_in import WAIT_SECONDS, Waiting
from olm_runtime.errors import TransientError

NOW = 1_800_000_000
KEY = ECKey.generate_key("P-256", parameters={"kid": "a"})
KEYS: dict[str, Any] = {**KeySet([KEY]).as_dict()}
EXPECTED = {"iss": "https://issuer", "aud": "console", "nonce": "n"}


def token(key: ECKey = KEY, alg: str = "ES256", **claims: Any) -> str:
    """One that is taken, but for what is said; None leaves a claim out."""
    usual = {**EXPECTED, "sub": "alice", "iat": NOW, "exp": NOW + 300, **claims}
    given = {name: value for name, value in usual.items() if value is not None}
    return jwt.encode({"alg": alg, "kid": "a"}, given, key)


def tampered() -> str:
    head, _, signature = token().split(".")
    return ".".join((head, token(sub="mallory").split(".")[1], signature))


def unsigned() -> str:
    return f"eyJhbGciOiJub25lIn0.{token().split('.')[1]}."


@pytest.mark.parametrize(
    "claims", [{}, {"aud": ["console", "other"], "azp": "console"}, {"exp": NOW - 5}]
)
def test_a_token_is_taken(claims: dict[str, Any]) -> None:
    assert verified(token(**claims), KEYS, expected=EXPECTED, now=NOW)["sub"] == "alice"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (token(iss="https://other"), "iss is https://other, not https://issuer"),
        (token(aud="other"), "aud is other, not console"),
        (token(aud=["console", "other"]), "azp"),
        (token(azp="other"), "azp is other"),
        (token(nonce="another"), "nonce is another than that of this sign-in"),
        (token(nonce=None), "nonce"),
        (token(exp=NOW - LEEWAY_SECONDS - 1), "expired already.*\n.*clocks"),
        (token(exp=None), "exp"),
        (token(iat=NOW + LEEWAY_SECONDS + 1), "time to come.*\n.*clocks"),
        (token(nbf=NOW + LEEWAY_SECONDS + 1), "time to come.*\n.*clocks"),
        (token(sub=None), "sub"),
        (token(exp="soon"), "exp"),
        (token(ECKey.generate_key("P-256")), "signature"),
        (tampered(), "signature"),
        (unsigned(), "signature.*none"),
        ("", "signature"),
        ("a.b.c", "signature"),
    ],
)
def test_a_token_is_refused(given: str, why: str) -> None:
    with pytest.raises(RefusedTokenError) as refused:
        verified(given, KEYS, expected=EXPECTED, now=NOW)
    assert re.search(why, refused.value.describe())


@pytest.mark.parametrize("keys", [{}, {"keys": []}, {"keys": "a"}, {"keys": [{"kty": "x"}]}])
def test_keys_that_are_none_verify_nothing(keys: dict[str, Any]) -> None:
    with pytest.raises(RefusedTokenError, match="signature"):
        verified(token(), keys, expected=EXPECTED, now=NOW)


def test_a_newer_token_is_of_the_same_person() -> None:
    expected = {"iss": EXPECTED["iss"], "aud": EXPECTED["aud"], "sub": "alice"}
    assert verified(token(nonce=None), KEYS, expected=expected, now=NOW)
    with pytest.raises(RefusedTokenError, match="sub"):
        verified(token(sub="mallory"), KEYS, expected=expected, now=NOW)


@pytest.mark.parametrize(
    ("endpoint", "address"),
    [
        ("https://issuer/end", "https://issuer/end?client_id=console&post_logout_redirect_uri="),
        ("https://issuer/end?a=b", "https://issuer/end?a=b&client_id=console&"),
        ("http://issuer/end", ""),
        ("javascript:alert(1)", ""),
        (None, ""),
    ],
)
def test_a_browser_is_sent_to_a_provider_over_tls_alone(endpoint: str, address: str) -> None:
    provider = Provider("https://issuer", "console", None, None, ("openid",))
    left = provider.leaving({"end_session_endpoint": endpoint}, "https://console/sign-in")
    assert left.startswith(address)
    assert bool(left) == bool(address)


async def test_a_provider_that_revokes_nothing_is_not_asked() -> None:
    provider = Provider("https://127.0.0.1:1", "console", None, None, ("openid",))
    await provider.revoke({}, Tokens("", "alice", 0, "refresh"))
    away = {"revocation_endpoint": "https://127.0.0.1:1/revoke"}
    await provider.revoke(away, Tokens("", "alice", 0, ""))
    with pytest.raises(TransientError, match="cannot be reached"):
        await provider.revoke(away, Tokens("", "alice", 0, "refresh"))


def test_who_comes_back_is_known_once_and_for_a_while() -> None:
    time = 0.0
    waiting = Waiting(now=lambda: time)
    first, second, third = (waiting.add({}, "console") for _ in range(3))
    assert len({first.state, second.state, first.nonce, first.verifier}) == 4
    assert waiting.take(first.id, second.state) is None
    assert waiting.take(first.id, first.state) is None, "a wrong state ends it"
    assert waiting.take(second.id, second.state) is second
    assert waiting.take(second.id, second.state) is None
    assert waiting.take("", "ä") is None
    time = WAIT_SECONDS
    assert waiting.take(third.id, third.state) is None
