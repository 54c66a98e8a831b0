"""Every limit has a flag, the same in both programs, and is told as a hint where it is passed."""

import pytest

from catalogd.settings import parse_settings as catalogd_settings
from olm_runtime.cli.limit_flags import LIMIT_FLAGS
from olm_runtime.images.layers import Entry, Gate, Kind, LayerError, Rules
from olm_runtime.images.limits import BUNDLE_LIMITS, Limits, limit_flag
from operator_controller.settings import parse_settings as controller_settings

CERTIFICATES = ["--tls-cert=/c", "--tls-key=/k"]


def test_the_list_is_complete() -> None:
    assert [flag.field for flag in LIMIT_FLAGS] == list(Limits._fields)


@pytest.mark.parametrize("field", list(Limits._fields))
def test_both_programs_take_it(field: str) -> None:
    given = [f"{limit_flag(field)}=7"]
    assert getattr(catalogd_settings([*CERTIFICATES, *given]).limits, field) == 7
    assert getattr(controller_settings(given).limits, field) == 7


def test_defaults_are_those_of_catalogs_and_of_bundles() -> None:
    assert catalogd_settings(CERTIFICATES).limits == Limits()
    assert controller_settings([]).limits == BUNDLE_LIMITS


@pytest.mark.parametrize(
    ("limits", "entry", "field"),
    [
        (Limits(entries=0), Entry("a", Kind.FILE), "entries"),
        (Limits(file_bytes=1), Entry("a", Kind.FILE, 2), "file_bytes"),
        (Limits(total_bytes=1), Entry("a", Kind.FILE, 2), "total_bytes"),
        (Limits(depth=1), Entry("a/b", Kind.FILE), "depth"),
        (Limits(path_length=1), Entry("ab", Kind.FILE), "path_length"),
    ],
)
def test_what_is_past_a_limit_names_the_flag(limits: Limits, entry: Entry, field: str) -> None:
    with pytest.raises(LayerError) as caught:
        Gate(Rules(limits=limits)).admit(entry)
    assert limit_flag(field) in caught.value.hint
