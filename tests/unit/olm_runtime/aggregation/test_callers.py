from typing import Any

import orjson
import pytest

from olm_runtime.aggregation.attributes import Attributes, attributes_of
from olm_runtime.aggregation.front_proxy import (
    NOBODY,
    BadConfigurationError,
    Identity,
    bearer_token,
    read_front_proxy,
)
from olm_runtime.aggregation.remembered import Remembered

DATA = {
    "requestheader-client-ca-file": "PEM",
    "requestheader-allowed-names": '["front-proxy-client"]',
    "requestheader-username-headers": '["X-Remote-User", "X-User"]',
    "requestheader-group-headers": '["X-Remote-Group"]',
    "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
}


def test_a_front_proxy_says_for_whom_it_asks() -> None:
    proxy = read_front_proxy(DATA)
    assert proxy is not None
    assert proxy.names == {"front-proxy-client"}
    headers = [
        (b"x-user", b"second"), (b"x-remote-user", b"me"), (b"x-remote-group", b"a"),
        (b"x-remote-group", b"b"), (b"x-remote-extra-example.com%2fkey", b"1"), (b"other", b"x"),
    ]  # fmt: skip
    expected = Identity("me", "", ("a", "b"), (("example.com/key", ("1",)),))
    assert proxy.identity(headers) == expected
    assert proxy.identity([(b"x-remote-group", b"a")]) is None


def test_whoever_is_somebody_is_in_the_group_of_them() -> None:
    assert Identity("system:aggregator").authenticated().groups == ("system:authenticated",)
    member = Identity("me", groups=("system:authenticated", "a"))
    assert member.authenticated() == member
    assert NOBODY.authenticated() == NOBODY


def test_configurations_without_a_front_proxy_and_broken_ones() -> None:
    assert read_front_proxy({}) is None
    for broken in ("nonsense", '{"a": 1}', "[1]"):
        with pytest.raises(BadConfigurationError):
            read_front_proxy({**DATA, "requestheader-allowed-names": broken})


@pytest.mark.parametrize(
    ("header", "token"),
    [(b"Bearer abc", "abc"), (b"bearer  abc", "abc"), (b"Basic abc", ""), (b"Bearer", ""),
     (b"Bearer a b", "")],
)  # fmt: skip
def test_tokens(header: bytes, token: str) -> None:
    assert bearer_token([(b"authorization", header)]) == token


BASE = "/apis/g/v1"


@pytest.mark.parametrize(
    ("method", "path", "query", "expected"),
    [
        ("GET", f"{BASE}/things", b"", ("list", "", "things", "", "")),
        ("GET", f"{BASE}/things", b"watch=true", ("watch", "", "things", "", "")),
        ("GET", f"{BASE}/namespaces/n/things", b"", ("list", "n", "things", "", "")),
        ("HEAD", f"{BASE}/namespaces/n/things/t", b"", ("get", "n", "things", "t", "")),
        ("GET", f"{BASE}/namespaces/n/things/t/icon", b"", ("get", "n", "things", "t", "icon")),
        ("DELETE", f"{BASE}/namespaces/n/things", b"", ("deletecollection", "n", "things", "", "")),
        ("PATCH", f"{BASE}/namespaces/n/things/t", b"", ("patch", "n", "things", "t", "")),
        ("GET", "/apis/g/v1", b"", ("get", "", "", "", "")),
        ("GET", "/openapi/v2", b"", ("get", "", "", "", "")),
    ],
)
def test_what_a_request_asks_for(
    method: str, path: str, query: bytes, expected: tuple[str, ...]
) -> None:
    found = attributes_of(method, path, query)
    fields = ("verb", "namespace", "resource", "name", "subresource")
    assert tuple(getattr(found, field) for field in fields) == expected


def test_refusals_are_in_the_api_server_s_words() -> None:
    wanted = Attributes("get", "/", "g", "v1", "n", "things", "t", "icon")
    assert wanted.refusal("me") == (
        'things.g "t" is forbidden: User "me" cannot get resource "things/icon" '
        'in API group "g" in the namespace "n"'
    )
    assert Attributes("get", "/metrics").refusal("me", "no") == (
        'forbidden: User "me" cannot get path "/metrics": no'
    )
    assert orjson.dumps(wanted.reviewed())


async def test_an_answer_is_asked_for_once_while_it_holds() -> None:
    now, asked = [0.0], []

    async def ask() -> tuple[Any, float]:
        asked.append(now[0])
        return len(asked), 10.0

    remembered: Remembered[Any] = Remembered(lambda: now[0], most=2)
    assert [await remembered.get("a", ask) for _ in range(3)] == [1, 1, 1]
    now[0] = 11.0
    assert await remembered.get("a", ask) == 2
    for key in ("b", "c", "a"):
        await remembered.get(key, ask)
    assert len(asked) == 5
