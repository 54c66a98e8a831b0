"""From where people come who sign in through a proxy."""

from collections.abc import Sequence

import httpx
import pytest
from click import ClickException

from console.__main__ import COOKIE, behind
from console.app import console_app
from console.attempts import EACH, Attempts
from console.flags import command, parse_settings
from console.identities import IdentitySessions
from console.settings import Place
from console.signing_in import SIGN_IN, SignIn, TokenReach, sign_in_routes

HOST, PROXY = "console.example.com", "10.0.0.9"
ORIGIN = {"Origin": f"https://{HOST}"}
FLAGS = (f"--host={HOST}", "--server=https://api", "--tls-cert=a", "--tls-key=b")


async def _attempts(proxies: Sequence[str], sources: Sequence[str]) -> list[int]:
    """The answers to one attempt after the other by way of the proxy."""
    place = Place(frozenset({HOST}), secure=True, cookie=COOKIE, sign_in=SIGN_IN)
    sessions = IdentitySessions()
    how = SignIn(place, sessions, TokenReach(server="https://127.0.0.1:1"), None, Attempts())
    app = behind(proxies, console_app(place, sessions, sign_in_routes(how)))
    transport = httpx.ASGITransport(app, client=(PROXY, 1))
    async with httpx.AsyncClient(transport=transport, base_url=f"https://{HOST}") as browser:
        answers = [
            await browser.post(
                SIGN_IN, data={"token": "no token"}, headers=ORIGIN | {"X-Forwarded-For": each}
            )
            for each in sources
        ]
    return [each.status_code for each in answers]


@pytest.mark.parametrize("proxies", [[PROXY], ["10.0.0.0/8"], ["192.0.2.1", PROXY]])
async def test_attempts_are_those_of_who_asked_the_proxy(proxies: Sequence[str]) -> None:
    mallory, alice = "198.51.100.1", "198.51.100.2"
    answers = await _attempts(proxies, [mallory] * (EACH + 1) + [alice])
    assert answers == [401] * EACH + [429, 401]


async def test_what_a_browser_says_before_its_own_address_does_not_count() -> None:
    answers = await _attempts([PROXY], [f"192.0.2.{at}, 198.51.100.1" for at in range(EACH + 1)])
    assert answers == [401] * EACH + [429]


@pytest.mark.parametrize("proxies", [(), ("10.0.1.0/24",)])
async def test_nobody_else_says_from_where_they_come(proxies: Sequence[str]) -> None:
    answers = await _attempts(proxies, [f"192.0.2.{at}" for at in range(EACH + 1)])
    assert answers == [401] * EACH + [429]


def test_flags_name_proxies() -> None:
    given = [*FLAGS, "--trusted-proxy=10.0.0.0/8", "--trusted-proxy=2001:db8::1"]
    assert parse_settings(given).proxies == ("10.0.0.0/8", "2001:db8::1/128")
    assert parse_settings(FLAGS).proxies == ()


@pytest.mark.parametrize("wrong", ["ingress", "10.0.0.1/8", "*", ""])
def test_what_is_no_network_is_refused(wrong: str) -> None:
    with pytest.raises(ClickException):
        command.make_context("console", [*FLAGS, f"--trusted-proxy={wrong}"])
