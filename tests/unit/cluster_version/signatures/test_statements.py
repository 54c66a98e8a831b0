"""Which statements say that an image is a release."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster_version.signatures.errors import SignatureError
from cluster_version.signatures.statements import check_statement
from tests.openpgp import DIGEST, statement


@pytest.mark.parametrize(
    "content",
    [
        statement(),
        statement() + b" and what follows",
        b"\n " + statement(),
        statement(optional=None),
        statement(optional={}),
        statement(optional__timestamp=None),
        statement().replace(b'"critical"', b'"CRITICAL"'),
        statement(critical__identity={"docker-reference": "anything"}),
        b'{"critical": {"type": "other"}, ' + statement()[1:],
    ],
)
def test_a_statement_counts(content: bytes) -> None:
    check_statement(content, DIGEST)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (statement(critical__type="Atomic container signature"), "not the correct type"),
        (b"null", "not the correct type"),
        (b"{}", "not the correct type"),
        (statement(critical__identity={}), "must have an identity"),
        (statement(critical__identity__more=1), "unknown field"),
        (statement(critical__image={}), "digest does not match"),
        (statement(critical__type=1), "type is not"),
        (statement(more=None), "unknown field"),
        (statement(critical__image__more=""), "unknown field"),
        (statement(optional__timestamp="0"), "timestamp is not"),
        (statement(optional__timestamp=1.0), "timestamp is not"),
        (statement(optional__timestamp=2**63), "timestamp is not"),
        (statement(optional__timestamp=False), "timestamp is not"),
        (statement(optional=[]), "an object is wanted"),
        (statement(optional__timestamp=float("nan")), "no JSON"),
        (b"[" * 100_000, "not valid JSON"),
        (statement()[:-1], "not valid JSON"),
        (b"", "not valid JSON"),
    ],
)
def test_a_statement_does_not_count(content: bytes, problem: str) -> None:
    with pytest.raises(SignatureError, match=problem):
        check_statement(content, DIGEST)


def test_the_digest_is_compared_as_a_text() -> None:
    with pytest.raises(SignatureError, match="digest does not match"):
        check_statement(statement(), DIGEST.upper())


@pytest.mark.property
@given(st.binary())
def test_whatever_is_said_it_does_not_count(content: bytes) -> None:
    with pytest.raises(SignatureError):
        check_statement(content, DIGEST)
