import pytest

from olm_classic.package_manifests.selection import (
    BadSelectionError,
    ExpiredError,
    by_fields,
    by_labels,
    page,
    select,
)
from tests.unit.olm_classic.package_manifests.catalog import packed

PACKAGES = [packed(name, provider={"name": f"{name} Inc"}) for name in ("a", "b", "c")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", "abc"), ("metadata.name=b", "b"), ("metadata.name==b", "b"), ("metadata.name!=b", "ac"),
     ("metadata.name=b,metadata.name=c", ""), ("metadata.name=", "")],
)  # fmt: skip
def test_field_selectors(text: str, expected: str) -> None:
    assert "".join(each.name for each in select(PACKAGES, by_fields(text))) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [("spec.x=1", "field label not supported: spec.x"),
     ("metadata.namespace=x", "field label not supported: metadata.namespace"),
     ("nonsense", "invalid selector: \"nonsense\"; can't understand \"nonsense\"")],
)  # fmt: skip
def test_field_selectors_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(BadSelectionError) as refused:
        by_fields(text)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", "abc"), ("catalog=operators", "abc"), ("catalog==other", ""), ("catalog!=other", "abc"),
     ("none!=x", "abc"), ("catalog in (operators, other),team=a", "abc"), ("catalog", "abc"),
     ("!catalog", ""), ("none notin (x)", "abc"), ("none in (x)", ""), ("!none", "abc"),
     ("catalog-namespace=olm", "abc"), ("provider-url=", "abc")],
)  # fmt: skip
def test_label_selectors(text: str, expected: str) -> None:
    assert "".join(each.name for each in select(PACKAGES, by_labels(text))) == expected


@pytest.mark.parametrize("text", ["a=b=c", "a in b", "a,", "=b", "!a=b", "a b"])
def test_label_selectors_that_are_refused(text: str) -> None:
    with pytest.raises(BadSelectionError):
        by_labels(text)


def test_pages_show_each_package_once() -> None:
    first = page(PACKAGES, 2, "")
    assert ([each.name for each in first.packages], first.remaining) == (["a", "b"], 1)
    last = page(PACKAGES, 2, first.following)
    assert ([each.name for each in last.packages], last.following) == (["c"], "")


def test_a_page_goes_on_where_it_was_while_packages_come_and_go() -> None:
    following = page(PACKAGES, 2, "").following
    more = [packed("0"), *PACKAGES]
    assert [each.name for each in page(more, 0, following).packages] == ["c"]
    without_it = [PACKAGES[0], PACKAGES[2]]
    assert [each.name for each in page(without_it, 0, following).packages] == []
    with pytest.raises(ExpiredError, match="continue key is not valid"):
        page(PACKAGES, 2, "nonsense")
