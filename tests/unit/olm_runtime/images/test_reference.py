"""The grammar of image references."""

import pytest

from olm_runtime.errors import TerminalError
from olm_runtime.images.reference import (
    ImageRef,
    digest_of,
    is_host,
    is_location,
    named_as,
    parse_ref,
    parse_repository,
)

DIGEST = "sha256:" + "ab" * 32


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("quay.io/org/cat:v1", ImageRef("quay.io", "org/cat", "v1")),
        ("localhost:5000/cat:v1", ImageRef("localhost:5000", "cat", "v1")),
        ("localhost/cat:v1", ImageRef("localhost", "cat", "v1")),
        (f"quay.io/org/cat@{DIGEST}", ImageRef("quay.io", "org/cat", "", DIGEST)),
        (f"quay.io/org/cat:v1@{DIGEST}", ImageRef("quay.io", "org/cat", "v1", DIGEST)),
        ("[::1]:5000/a__b/c--d.e:_x", ImageRef("[::1]:5000", "a__b/c--d.e", "_x")),
    ],
)
def test_reads(text: str, expected: ImageRef) -> None:
    assert parse_ref(text) == expected
    assert str(parse_ref(text)) == text


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("cat:v1", "repository name must be canonical"),
        ("org/cat:v1", "repository name must be canonical"),
        ("docker.io/cat:v1", "repository name must be canonical"),
        ("", "repository name must be canonical"),
        ("quay.io/:v1", "repository name must be canonical"),
        ("quay.io/org/cat", "must end with a digest or a tag"),
        ("quay.io/Org/cat:v1", "invalid reference format"),
        ("quay.io/org//cat:v1", "invalid reference format"),
        ("-quay.io/org/cat:v1", "invalid reference format"),
        ("quay.io/org/cat:", "invalid tag format"),
        ("quay.io/org/cat:-v1", "invalid tag format"),
        ("quay.io/org/cat:" + "v" * 129, "invalid tag format"),
        ("quay.io/org/cat@", 'unsupported digest algorithm ""'),
        ("quay.io/org/cat@md5:" + "ab" * 16, 'unsupported digest algorithm "md5"'),
        ("quay.io/org/cat@sha256:abc", "sha256 has 64 lower-case hex characters"),
        ("quay.io/org/cat@sha256:" + "AB" * 32, "sha256 has 64 lower-case hex characters"),
        ("quay.io/org/" + "a" * 256 + ":v1", "must not be more than 255 characters"),
    ],
)
def test_refuses_and_says_why(text: str, fault: str) -> None:
    with pytest.raises(TerminalError) as caught:
        parse_ref(text)
    assert caught.value.message.startswith(f'error parsing image reference "{text}": ')
    assert fault in caught.value.message


def test_canonical_drops_the_tag() -> None:
    assert str(parse_ref("quay.io/org/cat:v1").canonical(DIGEST)) == f"quay.io/org/cat@{DIGEST}"


@pytest.mark.parametrize(
    ("reference", "named"),
    [
        ("quay.io/org/cat:v1", f"quay.io/org/cat:v1@{DIGEST}"),
        (f"quay.io/org/cat:v1@{DIGEST}", f"quay.io/org/cat:v1@{DIGEST}"),
        ("quay.io/org/cat@sha256:" + "cd" * 32, f"quay.io/org/cat@{DIGEST}"),
        ("quay.io/org/other:v1", f"quay.io/org/cat@{DIGEST}"),
        ("quay.io:5000/org/cat", f"quay.io/org/cat@{DIGEST}"),
        ("", f"quay.io/org/cat@{DIGEST}"),
    ],
)
def test_a_digest_keeps_the_tag_that_named_it(reference: str, named: str) -> None:
    assert named_as(f"quay.io/org/cat@{DIGEST}", reference) == named


@pytest.mark.parametrize(
    ("text", "location", "host"),
    [
        ("quay.io", True, True),
        ("localhost", True, True),
        ("quay.io:5000", True, False),
        ("quay.io/org/cat", True, False),
        ("quay.io:5000/org", True, False),
        ("quay.io/", False, False),
        ("quay.io/Org", False, False),
        ("quay.io/org:v1", False, False),
        ("quay.io:v1", False, False),
        ("*.quay.io", False, False),
        ("https://quay.io", False, False),
        ("quay.io ", False, False),
        ("", False, False),
    ],
)
def test_what_references_begin_with(text: str, location: bool, host: bool) -> None:
    assert (is_location(text), is_host(text)) == (location, host)


def test_repositories_have_neither_tag_nor_digest() -> None:
    assert parse_repository("quay.io:5000/org/cat").name == "quay.io:5000/org/cat"
    for text in ("quay.io/cat:v1", f"quay.io/cat@{DIGEST}", "cat", "quay.io/", ""):
        with pytest.raises(TerminalError, match="error parsing repository"):
            parse_repository(text)


def test_the_digest_of_a_reference_and_of_a_digest() -> None:
    assert digest_of(f"quay.io/org/cat@{DIGEST}") == digest_of(DIGEST) == DIGEST
