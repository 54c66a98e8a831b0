"""What an ID token has to be before anybody is let in for it (OpenID Connect Core 1.0, 3.1.3.7)."""

from collections.abc import Mapping
from typing import Any

from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import ExpiredTokenError, InvalidClaimError, JoseError
from joserfc.jwk import KeySet

from olm_runtime.errors import TerminalError, bounded

ALGORITHMS = (
    "RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512"
)  # fmt: skip
"""Those that kube-apiserver takes: by a public key of the provider, never by a shared secret."""
LEEWAY_SECONDS = 60
"""By which clocks may differ."""
SKEW = "compare the clocks of this console and of the provider"


class RefusedTokenError(TerminalError):
    """An ID token for which nobody is let in."""

    def __init__(self, why: str, *, hint: str = "") -> None:
        super().__init__(f"the provider's ID token is not taken: {why}", hint=hint)


def verified(
    token: str, keys: Mapping[str, Any], *, expected: Mapping[str, str], now: float
) -> dict[str, Any]:
    """The claims of a token.

    `keys` is the provider's key set (RFC 7517), `expected` has `iss`, `aud`, and what else has to
    be as it is there, `nonce` and `sub`; `now` is in seconds since 1970. Raises RefusedTokenError.
    """
    try:
        decoded = jwt.decode(token, KeySet.import_key_set(dict(keys)), ALGORITHMS)  # type: ignore[arg-type]
    except (JoseError, ValueError, TypeError, KeyError) as error:
        raise RefusedTokenError(
            f"its signature does not hold: {bounded(str(error), 200)}"
        ) from error
    client = expected["aud"]
    claims = CodeIDToken(
        decoded.claims,
        decoded.header,
        options={name: {"essential": True, "value": value} for name, value in expected.items()},
        params={"nonce": expected.get("nonce"), "client_id": client},
    )
    try:
        claims.validate(now=int(now), leeway=LEEWAY_SECONDS)
    except ExpiredTokenError as error:
        raise RefusedTokenError("it has expired already", hint=SKEW) from error
    except InvalidClaimError as error:
        hint = SKEW if error.claim in ("iat", "nbf") else ""
        raise RefusedTokenError(_wrong(error.claim, decoded.claims, expected), hint=hint) from error
    except (JoseError, ValueError, TypeError) as error:
        raise RefusedTokenError(bounded(str(error), 200)) from error
    return dict(decoded.claims)


def _wrong(claim: str, claims: Mapping[str, Any], expected: Mapping[str, str]) -> str:
    if claim in ("iat", "nbf"):
        return f"its claim {claim} is a time to come"
    if claim in ("nonce", "sub"):
        return f"its claim {claim} is another than that of this sign-in"
    given = bounded(str(claims.get(claim)), 200)
    return f"its claim {claim} is {given}, not {expected.get(claim, 'what it has to be')}"
