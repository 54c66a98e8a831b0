"""How long sessions last, whose they are, and how often somebody may try."""

import asyncio
from pathlib import Path

import pytest
from click import ClickException

from console.attempts import ALL, EACH, WINDOW_SECONDS, Attempts
from console.flags import command, parse_settings
from console.identities import (
    IDLE_SECONDS,
    LONGEST_SECONDS,
    RENEWED_SECONDS,
    Credential,
    IdentitySessions,
)
from console.signing_in import TokenReach
from console.users import User
from olm_client.reach import ClusterOptions

OIDC = ("--oidc-issuer-url=https://b", "--oidc-client-id=c")
TLS = ("--tls-cert=a", "--tls-key=b")


def somebody(token: str = "a") -> User:
    """Of an API server that is not asked."""
    return User.connect(
        "me", ClusterOptions(TokenReach(server="https://127.0.0.1:1", credential=Credential(token)))
    )


async def test_a_session_ends_when_idle_and_at_last() -> None:
    time = 0.0
    sessions = IdentitySessions(now=lambda: time)
    user = somebody()
    idle, busy = sessions.begin(Credential("a"), user), sessions.begin(Credential("a"), user)
    for time in range(0, int(LONGEST_SECONDS), int(IDLE_SECONDS)):
        assert sessions.find(busy.id, used=True) is busy
        if time == IDLE_SECONDS:
            assert sessions.find(idle.id, used=False) is idle, "looking is no use"
    assert sessions.find(idle.id, used=True) is None
    time = LONGEST_SECONDS + 1
    assert sessions.find(busy.id, used=True) is None
    await sessions.close()


async def test_a_session_ends_with_its_token_unless_that_is_renewed() -> None:
    time = 0.0
    sessions = IdentitySessions(now=lambda: time)
    renewed = []

    async def renew() -> None:
        renewed.append(time)
        lasting.expires = time + 1000

    lasting, lost = Credential("a", 1000.0, renew), Credential("b", 1000.0)
    first, second = sessions.begin(lasting, somebody()), sessions.begin(lost, somebody("b"))
    for time in (0.0, 1000.0 - RENEWED_SECONDS, 999.0, 1000.0):  # noqa: B007 - the clock
        await sessions.renew()
    assert renewed == [999.0]
    assert sessions.find(first.id, used=True) is first
    assert sessions.find(second.id, used=True) is None
    await sessions.close()


async def test_who_is_being_closed_when_the_console_ends_is_closed_all_the_same() -> None:
    sessions, user = IdentitySessions(), somebody()
    session = sessions.begin(Credential("a"), user)
    stopping = asyncio.Event()

    async def stops_slowly() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopping.set()
            await asyncio.Event().wait()

    user.works.begin("slow", stops_slowly)
    await asyncio.sleep(0)
    ending = asyncio.create_task(sessions.end(session))
    await stopping.wait()
    ending.cancel()
    await asyncio.wait([ending])
    await sessions.close()
    with pytest.raises(RuntimeError, match="closed"):
        await user.kube.request("GET", "/version")


async def test_the_user_of_sessions_is_closed_with_the_last() -> None:
    sessions = IdentitySessions()
    first, second = (
        sessions.begin(Credential("a"), somebody()),
        sessions.begin(Credential("b"), somebody("b")),
    )
    other = somebody()
    third = sessions.begin(Credential("a"), other)
    assert third.user is first.user is not other
    assert second.user is not first.user
    await other.close()
    await sessions.end(first)
    assert sessions.find(third.id, used=True) is third
    assert not third.user.changes.ended
    await sessions.end(third)
    assert third.user.changes.ended, "and with them its streams"
    await sessions.close()


def test_attempts_are_counted_by_address_and_in_all() -> None:
    time = 0.0
    attempts = Attempts(now=lambda: time)
    assert [attempts.allow("a") for _ in range(EACH + 1)] == [True] * EACH + [False]
    assert attempts.allow("b")
    assert sum(attempts.allow(f"c{number}") for number in range(ALL)) == ALL - EACH - 1
    assert not attempts.allow("d")
    time = WINDOW_SECONDS + 1
    assert attempts.allow("a")


async def test_what_a_session_is_renewed_with_ends_with_it() -> None:
    time, revoked = 0.0, []
    sessions = IdentitySessions(now=lambda: time)

    def credential(token: str) -> Credential:
        async def revoke() -> None:
            revoked.append(token)

        return Credential(token, revoke=revoke, elsewhere=f"https://provider/{token}")

    user = somebody()
    left, idle = (sessions.begin(credential(each), user) for each in ("left", "idle"))
    assert await sessions.end(left) == "https://provider/left"
    assert await sessions.end(left) == "", "it has ended"
    assert revoked == ["left"]
    await sessions.tidy()
    assert revoked == ["left"]
    time = IDLE_SECONDS + 1
    assert sessions.find(idle.id, used=True) is None
    await sessions.tidy()
    await sessions.tidy()
    assert revoked == ["left", "idle"]
    await sessions.close()


def test_flags_say_what_browsers_call_it() -> None:
    given = ("--host", "Console.example.com:443", "-host=other:8443", "--server=https://api:6443/")
    settings = parse_settings([*given, *TLS])
    assert settings.hosts == {"console.example.com", "other:8443"}
    assert (settings.server, settings.tls_cert) == ("https://api:6443", Path("a"))
    assert settings.oidc is None


def test_an_id_token_is_always_asked_for() -> None:
    given = ("--host=a", "--server=https://b", *TLS, *OIDC, "--oidc-scope=groups")
    oidc = parse_settings(given).oidc
    assert oidc is not None
    assert oidc.scopes == ("openid", "groups")


@pytest.mark.parametrize(
    "arguments",
    [
        (*TLS, "--server=https://api"),
        (*TLS, "--server=http://api", "--host=a"),
        (*TLS, "--server=https://api", "--host=https://a"),
        (*TLS, "--server=https://api", "--host=b@a"),
        ("--server=https://api", "--host=a"),
        (*TLS, "--server=https://api", "--host=a", "--oidc-issuer-url=https://b"),
        (*TLS, "--server=https://api", "--host=a", "--oidc-client-id=b"),
        (*TLS, "--server=https://api", "--host=a", *OIDC, "--oidc-issuer-url=http://b"),
    ],
    ids=[
        "no host",
        "no TLS to the API server",
        "an address",
        "somebody",
        "no TLS",
        "no client",
        "no issuer",
        "an issuer without TLS",
    ],
)
def test_flags_that_would_not_be_safe_are_refused(arguments: tuple[str, ...]) -> None:
    with pytest.raises(ClickException):
        command.make_context("console", list(arguments)).invoke(command)
