"""Whatever is read line by line says what libyaml's events say of it.

Documents are grown from a seed rather than drawn piece by piece: many more in the same time.
"""

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from olm_content.formats.yaml_blocks import load_blocks
from olm_content.formats.yaml_errors import YamlError
from olm_content.formats.yaml_events import EventReader
from tests.property.scale import cases

pytestmark = pytest.mark.property

thorough = settings(max_examples=cases(2500), deadline=None, print_blob=True)
SEEDS = st.integers(0, 2**64)
DOCUMENTS_A_SEED = 5

KEYS = ("a", "b", "c", "d/e.f-g", "_x", "$ref")
ODD_KEYS = ("a ", "a:b", "on", "y", "null", "<<", "1", "'a'", '"a"', "? a", "é", "x#y", "- a", "")
SCALARS = (
    *(
        "text",
        "two words",
        "a  b",
        "yes",
        "12",
        "1.50",
        "~",
        "-1",
        "--flag",
        "a:b",
        "a#c",
        "é",
        "=",
    ),
    *("x y # c", "$(A)", "<<", "/a", "a 'b'", "a,b", "1_0", "0x1", "2001-01-01", "a\\b", "it's"),
    *("'it''s'", "''", "' x '", "'a' # c", "'a: b'", "'# a'", "'\\n'", "'\"'", "'中 😀'"),
    *('"a b"', '""', '"\\n\\t\\""', '"\\u00e9"', '"\\\\"', '"a: #b"', '"\\U0001F600"', '"\'"'),
    *("{}", "[]", "[] # c", "{}  ", "[a, b]", "[ 1,yes , '', \"*, [\" ] # c", "[/a-b.c]"),
)
LONG_SCALARS = (
    *("a{0}b", "a  {0}b {0}c", "- a{0}- b", "'a{0}b'", "'a \n\n{0}b'", "' {0} a'", "'a\nb'"),
    *('"a{0}b"', '"a \n \n{0}b"', '"a\\{0}b"', '"a\\\n\n{0}\\ b"', '"\\n{0}\\n"'),
    *("|{0}a", "|-{0}a", "|{0}a{0}  b{0}c", "|{0}a\n\n{0}b\n\n", "|-{0}a\n \n{0}# b\n     \n"),
    *("|{0}  a\n   \n{0}  b", "|{0}- a{0}b: c{0}'"),
)
ODD_SCALARS = (
    *(".nan", "1e999", "-", "?", ":", "a: b", "a:", "a :b", "#c", "a\tb", "a\u2028b", "\u00a0a"),
    *(
        "'x'#c",
        "'x' y",
        "'open",
        "end'",
        "'''",
        '"\\ud800"',
        '"\\x41"',
        '"\\q"',
        '"\\/"',
        '"\\',
        '"',
    ),
    *(
        *("[a", "[a b]", "[a,]", "[a,,b]", "[a: b]", "[-1]", "[a #b]", "['a''b']", "[[a]]", "[a]b"),
        "{a: b}",
        "{",
        "}",
        "&a b",
        "*a",
        "!!str 1",
        "@",
        "`",
        "%",
        ",",
        "|+",
        "|2",
        ">",
        ">-",
    ),
    *("| # c{0}a", "|{0}a\n b", "a\n\n{0}b", "a\n# c\n{0}b", "a{0}b: c", "a{0}# b{0}c", "'a{0}---"),
    *(
        "|\n\n{0}a",
        "|\n  {0}\n{0}a",
        ">{0}a",
        "|",
        "|-",
        "'a\n...\nb'",
        "a\n  b",
        "|\n  a",
        "|\n a",
    ),
)
FILLERS = ("", "", "", "", "\n", " ", "  ", "\n# c", "\n  # c", " # c", "\n   ", "\n\n \n")
REPLACEMENTS = (
    "",
    " ",
    "  ",
    "\n",
    "\n\n",
    "-",
    "- ",
    "'",
    '"',
    ":",
    ": ",
    "#",
    " #",
    "\\",
    "|",
    "a",
)


def document(random: Random) -> str:
    """Lines of a mapping, sometimes with a letter replaced."""
    text = "\n".join(mapping(random, "", 0))
    if random.random() < 0.3:
        at = random.randrange(len(text))
        text = text[:at] + random.choice(REPLACEMENTS) + text[at + random.randint(0, 2) :]
    return text + random.choice(("\n", "\n", "\n", "", "\n\n", "\n# c\n", " "))


def mapping(random: Random, indent: str, depth: int) -> Iterator[str]:
    for _ in range(random.choice((1, 1, 2, 3))):
        key = random.choice(KEYS if random.random() < 0.97 else ODD_KEYS)
        kind = random.random()
        if depth > 3 or kind < 0.6:
            gap = random.choice((" ", " ", " ", "  ", "\t" if kind < 0.01 else " "))
            yield f"{indent}{key}:{gap}{scalar(random, indent)}"
            continue
        yield f"{indent}{key}:{random.choice(FILLERS)}"
        begin = random.choice(("  ", "  ", "    ", " ", ""))
        if kind < 0.8:
            yield from mapping(random, indent + (begin or "  "), depth + 1)
        else:
            yield from sequence(random, indent + begin, depth + 1)


def sequence(random: Random, indent: str, depth: int) -> Iterator[str]:
    dash = "- " if random.random() < 0.97 else random.choice(("-   ", "-", "- - "))
    for _ in range(random.choice((1, 2, 3))):
        if random.random() < 0.5:
            yield f"{indent}{dash}{scalar(random, indent)}"
            continue
        first, *others = mapping(random, f"{indent}  ", depth + 1)
        yield f"{indent}{dash}{first[len(indent) + 2 :]}"
        yield from others


def scalar(random: Random, indent: str) -> str:
    kind = random.random()
    if kind < 0.1:
        return ""
    forms = SCALARS if kind < 0.7 else LONG_SCALARS if kind < 0.97 else ODD_SCALARS
    deeper = "\n" + indent + random.choice(("  ", "   ", "    ", "    ", " "))
    return random.choice(forms).replace("{0}", deeper) + random.choice(FILLERS)


@thorough
@given(SEEDS)
def test_what_is_read_line_by_line_is_what_the_events_say(seed: int) -> None:
    random = Random(seed)
    for _ in range(DOCUMENTS_A_SEED):
        compare(document(random))


def compare(text: str) -> None:
    quick = load_blocks(text.encode())
    event("unusual" if quick is None else "read line by line")
    if quick is None:
        return
    try:
        value = EventReader(text.encode(), unique_keys=False).load()
    except YamlError as error:
        pytest.fail(f"{text!r} is read as {quick!r}, and it is wrong: {error}")
    assert repr(quick) == repr(value), text  # types and order, too
