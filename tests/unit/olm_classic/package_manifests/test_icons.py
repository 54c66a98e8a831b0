import pytest

from olm_classic.package_manifests.icons import DEFAULT_TYPE, Icon, icon_of, is_known


def test_an_icon_is_what_it_says() -> None:
    assert icon_of("image/png", "QUJ\nD", "p.c.v") == Icon("image/png", b"ABC", '"p.c.v"')


@pytest.mark.parametrize(
    ("media_type", "data"),
    [("image/png", ""), ("image/png", "*"), ("text/html", "QUJD"), ("", "QUJD"),
     ("image/png\r\nx: y", "QUJD")],
)  # fmt: skip
def test_what_is_no_image_gives_the_default(media_type: str, data: str) -> None:
    assert icon_of(media_type, data, "p").media_type == DEFAULT_TYPE


@pytest.mark.parametrize(
    ("asked", "version", "known"),
    [('"p"', "1", True), ('W/"p"', "1", True), ('"o", "p"', "1", True), ("*", "1", True),
     ('"p"', "", False), ("", "1", False), ('"q"', "1", False)],
)  # fmt: skip
def test_an_icon_is_known_by_its_tag_and_only_with_a_version(
    asked: str, version: str, known: bool
) -> None:
    assert is_known(icon_of("image/png", "QUJD", "p"), asked, version) is known
