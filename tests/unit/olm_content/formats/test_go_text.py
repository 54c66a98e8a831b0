"""Values as Go writes them."""

import pytest

from olm_content.formats.go_text import listed, quote


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("plain", '"plain"'),
        ('say "x"\\', '"say \\"x\\"\\\\"'),
        ("a\tb\n\x00\x7f", '"a\\tb\\n\\x00\\x7f"'),
        ("é 世", '"é 世"'),
        ("\u00a0\u200b", '"\\u00a0\\u200b"'),
        ("\U000e0001", '"\\U000e0001"'),
    ],
)
def test_quote(text: str, quoted: str) -> None:
    assert quote(text) == quoted


def test_listed() -> None:
    assert listed(["a", "b"]) == "[a b]"
    assert listed([]) == "[]"
