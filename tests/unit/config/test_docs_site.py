"""The site of the documentation: what its links become, and that all of it is there."""

import pytest

from config.docs_site import HOME, ROOT, linked, menu, place, with_links_set


@pytest.mark.parametrize(
    ("page", "text", "set_right"),
    [
        (HOME, "[a](how-to/install.md)", "[a](/how-to/install.md)"),
        (HOME, "[a](../charts/olmv1/README.md#values)", "[a](/charts/olmv1/README.md#values)"),
        ("docs/how-to/install.md", "[a](../README.md)", "[a](/index.md)"),
        ("docs/concepts/x.md", "see [`config/rbac`](../../config/rbac)", "see `config/rbac`"),
        ("CHANGELOG.md", "[a](docs/reference/images.md)", "[a](/reference/images.md)"),
        (HOME, "[a](https://example.com) [b](#here)", "[a](https://example.com) [b](#here)"),
    ],
)
def test_links_are_set_right(page: str, text: str, set_right: str) -> None:
    assert with_links_set(page, text) == set_right


def test_the_menu_has_the_headings_of_the_home_page() -> None:
    made = menu("# D\n\n## One\n\n[a](a.md), [b](../B.md), [c](c.yaml)\n\n## Two\n\n[a](a.md)\n")
    assert made.split() == [
        "```{toctree}",
        ":caption:",
        "One",
        ":hidden:",
        "a.md",
        "B.md",
        "```",
        "```{toctree}",
        ":caption:",
        "Two",
        ":hidden:",
        "a.md",
        "```",
    ]


def test_every_page_is_in_the_menu() -> None:
    pages = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")}
    listed = set(linked(HOME, (ROOT / HOME).read_text())) | {HOME}
    assert {place(page) for page in pages - listed} == set()
