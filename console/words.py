"""Texts of catalogs, which anybody may have written, as safe HTML. Pure."""

import re

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup

MAX_TEXT = 64 << 10
"""Characters of Markdown, which take half a second at most; descriptions are a tenth of that."""
_TAGS = {
    *("a", "blockquote", "br", "code", "del", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol"),
    *("p", "pre", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
_HEADING = re.compile(r"(</?h)([1-4])\b")


def markdown(text: str) -> Markup:
    """Markdown as HTML without anything that runs, loads or hides; links leave nothing behind.

    What is longer than MAX_TEXT is cut.
    """
    rendered = MarkdownIt("commonmark", {"html": False}).enable(["table"]).render(text[:MAX_TEXT])
    lowered = _HEADING.sub(lambda match: f"{match[1]}{int(match[2]) + 2}", rendered)
    return Markup(  # noqa: S704 - cleaned here
        nh3.clean(
            lowered,
            tags=_TAGS,
            attributes={"a": {"href"}},
            attribute_filter=_outward,
            url_schemes={"http", "https"},
            link_rel="noopener noreferrer nofollow",
        )
    )


def _outward(_tag: str, attribute: str, value: str) -> str | None:
    """Links of a catalog lead out: one to a page of ours could look like a button of it."""
    outward = value.lower().startswith(("http://", "https://"))
    return value if attribute == "rel" or (attribute == "href" and outward) else None
