"""What is cached of the content of sets: what it still is, and no more than there is room for."""

from typing import Any

import pytest

from api.objects import KubeObject
from olm_rollout.phases import Phase
from operator_controller.io.contents import ContentCache, StoredContent

WHERE = ("system", "set-1")
CONTENT = StoredContent((Phase("a", ()),))


def of(uid: str, generation: int = 1) -> KubeObject:
    return {"metadata": {"uid": uid, "generation": generation}}


def secret(uid: str, data: str = "1234") -> dict[Any, KubeObject]:
    return {WHERE: {"metadata": {"uid": uid}, "data": {"key": data}}}


@pytest.mark.parametrize(
    ("raw", "secrets", "found"),
    [
        pytest.param(of("a"), secret("s"), True, id="as it was"),
        pytest.param(of("a"), {WHERE: {"metadata": {"uid": "s"}}}, True, id="by metadata alone"),
        pytest.param(of("a"), secret("other"), False, id="a Secret was made anew"),
        pytest.param(of("a"), {}, False, id="a Secret is gone"),
        pytest.param(of("b"), secret("s"), False, id="another set"),
        pytest.param(of("a", 2), secret("s"), False, id="its spec was changed"),
    ],
)
def test_content_is_known_again_by_uids(
    raw: KubeObject, secrets: dict[Any, KubeObject], *, found: bool
) -> None:
    cache = ContentCache()
    cache.keep(of("a"), secret("s"), CONTENT)
    assert cache.find(raw, secrets) is (CONTENT if found else None)


def test_what_was_not_asked_for_longest_gives_way() -> None:
    cache = ContentCache(max_bytes=8)
    cache.keep(of("a"), secret("s"), CONTENT)
    cache.keep(of("b"), secret("s"), CONTENT)
    assert cache.find(of("a"), secret("s"))
    cache.keep(of("c"), secret("s"), CONTENT)
    assert [uid for uid in "abc" if cache.knows(of(uid))] == ["a", "c"]
    cache.keep(of("a"), secret("t"), CONTENT)
    assert [uid for uid in "abc" if cache.knows(of(uid))] == ["a", "c"], "in place of the former"
    cache.keep(of("d"), secret("s", "123456789"), CONTENT)
    assert not any(cache.knows(of(uid)) for uid in "abcd"), "too large to be cached"


def test_what_is_dropped_is_not_known() -> None:
    cache = ContentCache()
    cache.keep(of("a"), secret("s"), CONTENT)
    cache.drop(of("a"))
    cache.drop(of("b"))
    assert not cache.knows(of("a"))
