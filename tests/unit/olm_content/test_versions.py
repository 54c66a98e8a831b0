"""Versions and releases of bundles: what is read, how it orders, how it is written."""

import pytest

from olm_content.versions import VersionError, floor, parse_bundle_version, parse_version

LONG = "9" * 5000
"""More digits than Python makes a number of."""

FAULTS = {
    "": "Version string empty",
    "1": "No Major.Minor.Patch elements found",
    "1.2": "No Major.Minor.Patch elements found",
    "v1.2.3": 'Invalid character(s) found in major number "v1"',
    "1.2.3.4": 'Invalid character(s) found in patch number "3.4"',
    "01.2.3": 'Major number must not contain leading zeroes "01"',
    "1..3": 'strconv.ParseUint: parsing "": invalid syntax',
    "1.2.18446744073709551616": (
        'strconv.ParseUint: parsing "18446744073709551616": value out of range'
    ),
    "1.2.3-": "Prerelease is empty",
    "1.2.3-01": 'Numeric PreRelease version must not contain leading zeroes "01"',
    "1.2.3-a_b": 'Invalid character(s) found in prerelease "a_b"',
    "1.2.3-99999999999999999999": (
        'strconv.ParseUint: parsing "99999999999999999999": value out of range'
    ),
    f"1.2.3-{LONG}": f'strconv.ParseUint: parsing "{LONG}": value out of range',
    "1.2.3+": "Build meta data is empty",
    "1.2.3+a b": 'Invalid character(s) found in build meta data "a b"',
}


@pytest.mark.parametrize(("text", "message"), FAULTS.items())
def test_fault_of_a_version(text: str, message: str) -> None:
    with pytest.raises(VersionError) as raised:
        parse_version(text)
    assert raised.value.message == message


def test_precedence_is_that_of_semver_11() -> None:
    ordered = [
        "0.9.9", "1.0.0-0", "1.0.0-2", "1.0.0-11", "1.0.0-alpha", "1.0.0-alpha.1",
        "1.0.0-alpha.beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.10.0",
    ]  # fmt: skip
    assert sorted(ordered, key=lambda text: parse_version(text).key) == ordered


def test_floor_lies_below_every_prerelease() -> None:
    assert parse_version("1.2.99").key < floor(1, 3) < parse_version("1.3.0-0").key


RELEASES = {
    "build metadata reads as release": ("1.0.0+2", ("2",), "1.0.0+2"),
    "a release has several identifiers": ("1.0.0-rc.1+2.a", ("2", "a"), "1.0.0-rc.1+2.a"),
    "a leading zero is no release": ("1.0.0+01", (), "1.0.0+01"),
    "over twenty characters is no release": ("1.0.0+" + "a" * 21, (), "1.0.0+" + "a" * 21),
    "over 64 bits is no release": ("1.0.0+99999999999999999999", (), "1.0.0+99999999999999999999"),
    "no build is no release": ("1.0.0", (), "1.0.0"),
}


@pytest.mark.parametrize(("text", "release", "written"), RELEASES.values(), ids=RELEASES.keys())
def test_release(text: str, release: tuple[str, ...], written: str) -> None:
    version = parse_bundle_version(text)
    assert (version.release, str(version)) == (release, written)


def test_an_explicit_release_leaves_build_metadata_alone() -> None:
    version = parse_bundle_version("1.0.0+build", release="2")
    assert (str(version), version.release) == ("1.0.0+build", ("2",))
    assert parse_bundle_version("1.0.0+2", release="").release == ()


def test_an_explicit_release_has_to_be_one() -> None:
    with pytest.raises(VersionError, match=r'invalid release "a_b"'):
        parse_bundle_version("1.0.0", release="a_b")


def test_releases_order_after_the_version() -> None:
    ordered = ["1.0.0-rc.1+9", "1.0.0", "1.0.0+2", "1.0.0+11", "1.0.0+a", "1.0.0+a.1", "1.0.1"]
    assert sorted(ordered, key=lambda text: parse_bundle_version(text).key) == ordered


def test_build_metadata_that_is_no_release_does_not_order() -> None:
    assert parse_bundle_version("1.0.0+01").key == parse_bundle_version("1.0.0").key
