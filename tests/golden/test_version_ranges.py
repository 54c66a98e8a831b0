"""Every recorded verdict of upstream's two range libraries."""

from collections.abc import Callable
from pathlib import Path

import pytest

from olm_content.ranges import (
    ExtensionRange,
    RangeError,
    SkipRange,
    parse_extension_range,
    parse_loose_version,
    parse_skip_range,
)
from olm_content.versions import Version, parse_version

ParseRange = Callable[[str], ExtensionRange | SkipRange]
ParseVersion = Callable[[str], Version]


def verdict(parse: ParseRange, read: ParseVersion, text: str, version: str) -> str:
    try:
        wanted = parse(text)
    except RangeError:
        return "err"
    return str(wanted.matches(read(version))).lower()


@pytest.mark.corpus
def test_all_verdicts_agree(corpus: Path) -> None:
    lines = (corpus / "goldens/version-ranges.tsv").read_text().splitlines()[1:]
    wrong = []
    for line in lines:
        text, version, extension, skip = line.split("\t")
        ours = (
            verdict(parse_extension_range, parse_loose_version, text, version),
            verdict(parse_skip_range, parse_version, text, version),
        )
        if ours != (extension, skip):
            wrong.append((text, version, ours, (extension, skip)))
    assert not wrong
    assert len(lines) > 2000
