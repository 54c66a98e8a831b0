"""Which deprecations concern an extension, one row per sentence."""

import pytest

from olm_content.fbc.model import Deprecation
from operator_controller.resolve.deprecation import DeprecationMessages, concerning

CATALOG = (
    Deprecation("olm.package", "", "the package"),
    Deprecation("olm.channel", "alpha", "alpha"),
    Deprecation("olm.channel", "beta", "beta"),
    Deprecation("olm.bundle", "p.v1", "version 1"),
    Deprecation("olm.bundle", "p.v2", ""),
)
PACKAGE = ("the package",)

ROWS = {
    "without channels all of them count": ((), "", ((PACKAGE), ("alpha", "beta"), ())),
    "only the channels asked for count": (("beta",), "", (PACKAGE, ("beta",), ())),
    "a bundle counts if it is the installed one": (("x",), "p.v1", (PACKAGE, (), ("version 1",))),
    "another bundle does not": (("x",), "p.v3", (PACKAGE, (), ())),
    "an empty message says nothing": (("x",), "p.v2", (PACKAGE, (), ())),
}


@pytest.mark.parametrize(("channels", "bundle", "expected"), ROWS.values(), ids=ROWS.keys())
def test_what_concerns(
    channels: tuple[str, ...], bundle: str, expected: tuple[tuple[str, ...], ...]
) -> None:
    assert concerning(CATALOG, channels=channels, bundle=bundle) == DeprecationMessages(*expected)


def test_messages_are_reported_from_the_whole_to_the_part() -> None:
    reported = concerning(CATALOG, channels=("alpha",), bundle="p.v1")
    assert reported.all == ("the package", "alpha", "version 1")
