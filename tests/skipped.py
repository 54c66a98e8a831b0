"""What several runs of pytest left out, and why: gathered in a file, printed in a few lines.

`make test` names the file in OLMV1_SKIPPED and prints it at its end with `python -m tests.skipped`.
"""

import os
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

VARIABLE = "OLMV1_SKIPPED"


def note(reasons: Iterable[str]) -> None:
    """Adds to the file, a line each; nothing where no file is named."""
    if path := os.environ.get(VARIABLE):
        with Path(path).open("a", encoding="utf-8") as file:
            file.writelines(f"{' '.join(reason.split())}\n" for reason in reasons)


def summary(reasons: Iterable[str]) -> list[str]:
    """A line for each reason, the most frequent first."""
    counts = Counter(reasons).most_common()
    if not counts:
        return ["nothing was skipped"]
    return ["skipped:", *(f"  {count} x {reason}" for reason, count in counts)]


if __name__ == "__main__":
    [name] = sys.argv[1:]
    lines = Path(name).read_text(encoding="utf-8").splitlines()
    sys.stdout.writelines(f"{line}\n" for line in summary(lines))
