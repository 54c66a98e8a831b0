"""Which versions of OpenShift a bundle's properties permit, and what a revision notes of them."""

import pytest

from olm_content.bundle.properties import (
    NOTED_LENGTH,
    MinorVersion,
    PropertiesError,
    max_openshift_version,
    noted,
)

MAX = "olm.maxOpenShiftVersion"


def listed(*values: str) -> str:
    """Properties with these values, JSON text each, between others."""
    others = '{"type":"olm.gvk","value":{"kind":"K"}}'
    named = (f'{{"type":"{MAX}","value":{value}}}' for value in values)
    return f"[{','.join([others, *named])}]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None),
        ("null", None),
        ("[]", None),
        (listed(), None),
        (listed('"4.18"'), (4, 18)),
        (listed('"4.8"'), (4, 8)),
        (listed('" 4.18 "'), (4, 18)),
        (listed('"04.018"'), (4, 18)),
        (listed("4.18"), (4, 18)),
        (listed("4.10"), (4, 10)),
        (listed("5.0"), (5, 0)),
        (f'[{{"TYPE":"{MAX}","Value":"4.18"}}]', (4, 18)),
        ('[null, 1, "x"]', None),
    ],
)
def test_what_is_permitted(text: str, expected: tuple[int, int] | None) -> None:
    assert max_openshift_version(text) == expected


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ('"4.18.0"', '"4.18.0"'),
        ('"v4.18"', '"v4.18"'),
        ('"4"', '"4"'),
        ('"4.18-rc.1"', '"4.18-rc.1"'),
        ('"4.x"', '"4.x"'),
        ('""', '""'),
        ('"٤.١٨"', '"٤.١٨"'),
        ("4", "4"),
        ("5.00", "5.00"),
        ("4.19e1", "4.19e1"),
        ("-4.18", "-4.18"),
        ("null", "null"),
        ("true", "true"),
        ('["4.18"]', '["4.18"]'),
        (f'"{"9" * 5000}.1"', f'"{"9" * 98}…'),
    ],
)
def test_a_value_that_is_no_minor_version_is_shown(value: str, shown: str) -> None:
    with pytest.raises(PropertiesError) as caught:
        max_openshift_version(listed(value))
    expected = f'{MAX} is {shown}, and should be MAJOR.MINOR, such as "4.18"'
    assert str(caught.value) == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (listed('"4.18"', '"4.19"'), f"more than one {MAX}"),
        (listed('"4.18"', '"4.18"'), f"more than one {MAX}"),
        (f'[{{"type":"{MAX}"}}]', f"{MAX} is null"),
        ("{", "its properties are no JSON"),
        ("[" * 100_000, "its properties are no JSON"),
        ('{"type": "x"}', "its properties are no list"),
    ],
)
def test_what_cannot_be_determined_is_an_error(text: str, problem: str) -> None:
    with pytest.raises(PropertiesError, match=problem):
        max_openshift_version(text)


def test_versions_compare_by_number() -> None:
    assert MinorVersion(4, 9) < MinorVersion(4, 10) < MinorVersion(5, 0)
    assert str(MinorVersion(4, 10)) == "4.10"


def test_properties_of_usual_length_are_noted_as_they_are() -> None:
    text = listed('"4.18"') + " " * (NOTED_LENGTH - len(listed('"4.18"')))
    assert noted(text) == text


@pytest.mark.parametrize("values", [(), ('"4.18"',), ("4.10",)])
def test_of_properties_that_are_too_long_the_version_is_noted(values: tuple[str, ...]) -> None:
    text = listed(*values)[:-1] + f',{{"type":"other","value":"{"x" * NOTED_LENGTH}"}}]'
    assert len(noted(text)) < 100
    assert max_openshift_version(noted(text)) == max_openshift_version(text)


@pytest.mark.parametrize(
    "values",
    [(f'"{"4" * NOTED_LENGTH}"',), ('"4.18"',) * NOTED_LENGTH, ("5.00", " " * NOTED_LENGTH + "1")],
)
def test_what_cannot_be_read_and_is_too_long_stays_unreadable(values: tuple[str, ...]) -> None:
    text = listed(*values)
    assert len(text) > NOTED_LENGTH
    assert len(noted(text)) < 300
    with pytest.raises(PropertiesError):
        max_openshift_version(noted(text))
