"""Memory goes back to the system."""

from pathlib import Path

from olm_runtime.memory import return_unused


def anonymous() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))


def test_what_was_freed_is_given_back() -> None:
    parts = [b"x" * 60_000 for _ in range(1000)]  # written to: zeros may take no memory
    full = anonymous()
    last = parts[-1]  # keeps the end of the heap, so that freeing alone gives nothing back
    del parts
    return_unused()
    assert anonymous() < full - 40_000
    assert last
