"""Challenges as servers write them."""

import pytest

from olm_runtime.images.challenges import Challenge, read_challenges

BEARER = Challenge("bearer", {"realm": "https://a.test/token?b=c", "service": "s"})


@pytest.mark.parametrize(
    ("header", "challenges"),
    [
        ("", []),
        ("Basic", [Challenge("basic")]),
        ('Bearer realm="https://a.test/token?b=c",service="s"', [BEARER]),
        ("BEARER Realm=https://a.test/token?b=c , SERVICE = s", [BEARER]),
        (
            'Basic realm="a, b \\"c\\"", , bearer realm="https://a.test/token?b=c",service=s',
            [Challenge("basic", {"realm": 'a, b "c"'}), BEARER],
        ),
        ("Negotiate, NTLM abc==,Basic", [Challenge(n) for n in ("negotiate", "ntlm", "basic")]),
        ('Bearer realm="x",realm="y"', [Challenge("bearer", {"realm": "x"})]),
        ('Bearer realm="x", scope="no end', [Challenge("bearer", {"realm": "x"})]),
        ('Bearer realm="x"y, Basic', [Challenge("bearer")]),
        ('="x"', []),
    ],
)
def test_read_challenges(header: str, challenges: list[Challenge]) -> None:
    assert read_challenges(header) == challenges
