"""Commands of the documentation, as tests run them.

A block ```sh is run as it stands, by a shell of its own in the same folder as the others. A block
```text right after it is what it prints. A block ```console has both: lines after `$ ` are
commands, the lines below each are what it prints. In what is printed `...` stands for anything,
alone on a line for any lines; the length of blanks and ages do not count. A further word says what
a block needs: `pods` that run, a container `engine`, or `minutes`; or that each of its commands
`fails`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
HOW_TO = DOCS / "how-to"

_FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_AGE = re.compile(r"\b\d+[smhd](\d+[smh])?\b")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: the heading it stands under, its line, its language and other words."""

    section: str
    line: int
    info: tuple[str, ...]
    body: str


@dataclass(frozen=True, slots=True)
class Step:
    """Commands, and what they print if the page shows it."""

    section: str
    line: int
    command: str
    expected: str | None
    needs: tuple[str, ...] = ()

    @property
    def fails(self) -> bool:
        """Whether the exit code is not to be 0."""
        return "fails" in self.needs

    @property
    def pods(self) -> bool:
        """Whether pods must run."""
        return "pods" in self.needs

    @property
    def minutes(self) -> bool:
        """Whether it takes too long, or what no test has, to be run as it stands."""
        return not {"engine", "minutes"}.isdisjoint(self.needs)


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page."""
    text = page.read_text()
    found, section, end = [], "", 0
    for fence in _FENCE.finditer(text):
        headings = re.findall(r"^##+ (.+)$", text[end : fence.start()], re.MULTILINE)
        section, end = headings[-1] if headings else section, fence.end()
        line = text.count("\n", 0, fence.start()) + 1
        found.append(Block(section, line, tuple(fence["info"].split()), fence["body"]))
    return found


def steps(page: Path) -> list[Step]:
    """The steps of a page, in order."""
    everything = blocks(page)
    found = []
    for block, after in zip_longest(everything, everything[1:]):
        match block.info[:1]:
            case ("sh",):
                shown = after.body if after and prints(block, after) else None
                found.append(Step(block.section, block.line, block.body, shown, block.info[1:]))
            case ("console",):
                found.extend(_dialogue(block))
    return found


def _dialogue(block: Block) -> Iterator[Step]:
    """The commands of a block ```console; a backslash at the end of one goes on with it."""
    parts = re.split(r"^\$ ((?:.*\\\n)*.*\n)", block.body, flags=re.MULTILINE)
    line = block.line + 1 + parts[0].count("\n")
    for command, printed in zip(parts[1::2], parts[2::2], strict=True):
        yield Step(block.section, line, command, printed or None, block.info[1:])
        line += command.count("\n") + printed.count("\n")


def prints(block: Block, after: Block) -> bool:
    """Whether a block is what the commands of the one before it print."""
    return after.info == ("text",) and _adjoin(block, after)


def _adjoin(first: Block, second: Block) -> bool:
    """Whether nothing but an empty line is between them."""
    return second.line - first.line == first.body.count("\n") + 3


def shows(expected: str, printed: str) -> bool:
    """Whether a command printed what the page shows."""
    pattern = "".join(map(_line_pattern, expected.strip().splitlines()))
    return re.fullmatch(pattern, _AGE.sub("0s", printed.strip()) + "\n") is not None


def _line_pattern(line: str) -> str:
    if line.strip() == "...":
        return r"(?:.*\n)*"
    parts = (_blanks(part) for part in _AGE.sub("0s", line).split("..."))
    return ".*".join(parts) + r" *\n"


def _blanks(text: str) -> str:
    return r" +".join(re.escape(word) for word in re.split(r" +", text))
