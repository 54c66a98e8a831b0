import gzip

from hypothesis import given
from hypothesis import strategies as st

from olm_runtime import gzip_parts


@given(st.lists(st.binary(max_size=300), max_size=8))
def test_a_member_of_parts_is_the_gzip_of_what_they_are(texts: list[bytes]) -> None:
    parts = [gzip_parts.part(text) for text in texts]
    assert gzip.decompress(gzip_parts.member(parts)) == b"".join(texts)
    assert [part.plain() for part in parts] == texts


def test_parts_may_be_put_together_in_any_order_and_again() -> None:
    first, second = gzip_parts.part(b"a" * 100_000), gzip_parts.part(b"b")
    member = gzip_parts.member([second, first, second])
    assert gzip.decompress(member) == b"b" + b"a" * 100_000 + b"b"
