"""What catalogs may not do with the texts and pictures that they have."""

import base64
from html.parser import HTMLParser

import pytest

from console.pictures import MAX_ICON_BYTES, picture_of
from console.words import MAX_TEXT, markdown

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 32
VOID = {"br", "hr"}
HARMLESS = {
    *("a", "blockquote", "br", "code", "del", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol"),
    *("p", "pre", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
REL = "noopener noreferrer nofollow"


class _Reader(HTMLParser):
    """Notes what a browser would make of it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: list[dict[str, str | None]] = []
        self.others: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag == "a":
            self.links.append(dict(attrs))
        elif attrs:
            self.others.append(f"{tag} {attrs}")

    def handle_comment(self, data: str) -> None:
        self.others.append(data)


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<svg onload=alert(1)>",
        "<iframe src='https://evil.example'></iframe>",
        "<a href='javascript:alert(1)'>a</a>",
        "<form action='/sign-out' method=post><button>a</button></form>",
        "<style>@import 'https://evil.example'</style>",
        "<meta http-equiv=refresh content='0;https://evil.example'>",
        "<base href='https://evil.example'>",
        "<div hx-get='/' hx-trigger='load'>a</div>",
        "<p data-hx-post='/sign-out' data-hx-trigger='load'>a</p>",
        "<math><mtext><table><mglyph><style><!--</style><img title='--><img src onerror=a()>'>",
        "<!--><script>alert(1)</script>-->",
        "<![CDATA[<script>alert(1)</script>]]>",
        "<<script>script>alert(1)<</script>/script>",
        "a\n\n    <script>alert(1)</script>\n",
        "```<script>\n</code></pre><script>alert(1)</script>\n```",
        "`</code><script>alert(1)</script>`",
        "[a](javascript:alert(1))",
        "[a](JaVaScRiPt:alert(1))",
        "[a](java&#x0A;script:alert(1))",
        "[a](&#106;avascript:alert(1))",
        "[a](\x01javascript:alert(1))",
        "[a](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
        "[a](vbscript:msgbox(1))",
        "[a](file:///etc/passwd)",
        "[a](/sign-out)",
        "[a](//evil.example)",
        "[a](\\\\evil.example)",
        "[a](https://good.example 'x\" onclick=\"alert(1)')",
        '[a](https://good.example"onclick="alert(1))',
        "<javascript:alert(1)>",
        "![a](https://evil.example/seen.png)",
        "![a](javascript:alert(1))",
        "![<script>alert(1)</script>](a)",
        "[![a](a)](javascript:alert(1))",
        "[a]\n\n[a]: javascript:alert(1)",
        "|a|\n|-|\n|<img src=x onerror=alert(1)>|",
        "# <script>alert(1)</script>",
        "h1<h1 onclick=alert(1)>",
        "{{ token }} {% include 'base.html' %}",
        "> " * 5000 + "<script>alert(1)</script>",
        "[" * 2000 + "a](javascript:alert(1))",
        "\x00<scr\x00ipt>alert(1)</script>",
    ],
)
def test_no_markdown_runs_loads_or_leads_astray(text: str) -> None:
    found = _Reader(markdown(text))
    assert found.tags <= HARMLESS
    assert found.others == []
    for link in found.links:
        assert set(link) <= {"href", "rel"}
        assert (link.get("href") or "https://").lower().startswith(("http://", "https://"))
        assert link.get("rel") == REL


def test_markdown_stays_what_it_is() -> None:
    text = markdown("# Title\n\n**bold** and [a link](https://good.example/a?b=c)\n\n- one")
    link = f'<a href="https://good.example/a?b=c" rel="{REL}">a link</a>'
    assert all(part in text for part in ("<h3>Title</h3>", "<strong>bold</strong>", link, "<li>"))


@pytest.mark.parametrize(
    "content",
    [
        b"<html><script>alert(1)</script></html>",
        b"alert(1)",
        b"GIF",
        b"%PDF-1.7 alert(1)",
        b"\xff\xfe<\0s\0c\0r\0i\0p\0t\0>\0",
        b"",
        PNG + b"\0" * MAX_ICON_BYTES,
    ],
    ids=["html", "script", "half a gif", "pdf", "utf-16", "nothing", "huge"],
)
def test_what_is_no_picture_is_none(content: bytes) -> None:
    assert picture_of(base64.b64encode(content).decode()) is None


def test_pictures_are_named_by_their_content() -> None:
    assert picture_of("no base64 !") is None
    found = picture_of(base64.b64encode(PNG).decode())
    assert found is not None
    assert found.media_type == "image/png"
    drawn = picture_of(base64.b64encode(b"<!doctype html><svg><script/></svg>").decode())
    assert drawn is not None
    assert drawn.media_type == "image/svg+xml"


def test_a_text_without_end_is_cut() -> None:
    assert len(markdown("a\n" * MAX_TEXT)) < 2 * MAX_TEXT
