"""Makes a site with search of docs/: `make docs` writes build/docs, and fails for a broken link.

Sphinx reads one folder, and pages link to files next to docs/ (the chart's values, samples). So all
are copied into one first, with the links set right. The menu is docs/README.md: its headings and
the pages under each.
"""

import os.path
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[1]
PAGES, SITE = ROOT / "build" / "pages", ROOT / "build" / "docs"
HOME = "docs/README.md"
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!\w+:|#)([^)#\s]+)(#[^)]*)?\)")
HEADING = re.compile(r"^## +(.+)$", re.MULTILINE)
OPTIONS = {
    "project": "Operator Lifecycle Manager v1",
    "extensions": "myst_parser",
    "html_theme": "furo",
    "html_title": "Operator Lifecycle Manager v1",
    "html_show_sphinx": "0",
    "html_copy_source": "0",
    "myst_heading_anchors": "4",
}


def place(path: str) -> str:
    """Where a file of the repository is among the pages."""
    return "index.md" if path == HOME else path.removeprefix("docs/")


def target_of(page: str, link: str) -> str:
    """The file of the repository that a page links to."""
    return os.path.normpath(PurePosixPath(page).parent / link)


def linked(page: str, text: str) -> Iterator[str]:
    """The files of the repository that a page links to."""
    for link in LINK.finditer(text):
        yield target_of(page, link[2])


def with_links_set(page: str, text: str) -> str:
    """The text with links as they are among the pages; a folder is no page, only its name."""

    def replaced(link: re.Match[str]) -> str:
        target = target_of(page, link[2])
        if (ROOT / target).is_dir():
            return link[1]
        return f"[{link[1]}](/{place(target)}{link[3] or ''})"

    return LINK.sub(replaced, text)


def menu(text: str) -> str:
    """A hidden table of contents for each heading of the home page."""
    _, *sections = HEADING.split(text)
    return "\n".join(
        "\n".join(
            [
                "```{toctree}",
                f":caption: {title}",
                ":hidden:",
                "",
                *dict.fromkeys(place(page) for page in linked(HOME, body) if page.endswith(".md")),
                "```",
                "",
            ]
        )
        for title, body in zip(sections[::2], sections[1::2], strict=True)
    )


def gather() -> None:
    """Copies every page, and every file that one links to."""
    shutil.rmtree(PAGES, ignore_errors=True)
    waiting = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.*"))]
    seen = set(waiting)
    while waiting:
        page = waiting.pop()
        copy = PAGES / place(page)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not page.endswith(".md"):
            shutil.copyfile(ROOT / page, copy)
            continue
        text = (ROOT / page).read_text()
        new = {each for each in linked(page, text) if (ROOT / each).is_file()} - seen
        seen |= new
        waiting += sorted(new)
        text = with_links_set(page, text) + (f"\n{menu(text)}" if page == HOME else "")
        copy.write_text(text)


def main() -> int:
    """Sphinx's exit code."""
    gather()
    options = [word for name, value in OPTIONS.items() for word in ("-D", f"{name}={value}")]
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-C", *options]
    done = subprocess.run([*command, "-b", "html", str(PAGES), str(SITE)], check=False)
    if done.returncode == 0:
        print(f"{SITE.relative_to(ROOT) / 'index.html'} is written")  # noqa: T201
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
