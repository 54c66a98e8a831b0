"""Which pages belong to parts that a cluster does not have."""

import pytest

from console.parts import PARTS, is_offered

V1 = [each for each in PARTS if each.path not in ("/classic", "/cluster")]


@pytest.mark.parametrize(
    ("path", "offered"),
    [
        ("/", True),
        ("/packages", True),
        ("/packages/a/install", True),
        ("/nothing", True),
        ("/live", True),
        ("/classical", True),
        ("/classic", False),
        ("/classic/plans/a/b", False),
        ("/cluster", False),
        ("/cluster/upgrade", False),
    ],
)
def test_what_is_not_served_is_not_offered(path: str, offered: bool) -> None:
    assert is_offered(path, V1) == offered
    assert is_offered(path, PARTS)
