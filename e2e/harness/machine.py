"""The disk and the clock of one program: a small file system of its own, and libfaketime.

Both can be made to go wrong while the program runs, and put right again. The disk is a tmpfs, which
only root may mount; the clock is that of Debian's package faketime. The monotonic clock is left
alone, as the kernel leaves it alone when somebody sets the time.
"""

import contextlib
import os
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from e2e.harness.faults import Fault

DISK_BYTES = 16 << 20
STEPS = {Fault.CLOCK_BACK: "-3600", Fault.CLOCK_FORTH: "+3600"}
"""Seconds."""


class Machine:
    """What a program runs on. Start it before the program, end it after."""

    def __init__(self, folder: Path) -> None:
        """Nothing is mounted yet."""
        self.disk = folder / "disk"
        self._filler = self.disk / "filler"
        self._clock = folder / "clock"
        self._broken_since: float | None = None

    def __enter__(self) -> Self:
        """Mount the disk and set the clock right."""
        self.disk.mkdir(parents=True)
        self._mount(f"size={DISK_BYTES}")
        self._clock.write_text("+0")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Unmount it, whoever still has files on it open."""
        subprocess.run(["umount", "--lazy", str(self.disk)], check=True)

    @property
    def environment(self) -> dict[str, str]:
        """What a program is started with, so that its clock is ours."""
        return {
            "LD_PRELOAD": str(_library()),
            "FAKETIME_TIMESTAMP_FILE": str(self._clock),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            # Else threads that wait for Python's lock do so in a busy loop.
            "FAKETIME_FORCE_MONOTONIC_FIX": "0",
            "NO_FAKE_STAT": "1",
        }

    def seconds_broken(self) -> float:
        """Since a fault was injected; 0 while it is whole."""
        return 0.0 if self._broken_since is None else time.monotonic() - self._broken_since

    def inject(self, fault: Fault) -> None:
        """Have the disk or the clock go wrong, until it is mended."""
        self._broken_since = time.monotonic()
        match fault:
            case Fault.DISK_FULL:
                self._fill()
            case Fault.DISK_READ_ONLY:
                self._mount("remount,ro")
            case Fault.CLOCK_BACK | Fault.CLOCK_FORTH:
                self._clock.write_text(STEPS[fault])
            case _:
                raise ValueError(f"{fault} is no fault of a machine")

    def mend(self) -> None:
        """Put everything right. Idempotent."""
        if self._broken_since is not None:
            self._mount("remount,rw")
            self._filler.unlink(missing_ok=True)
            self._clock.write_text("+0")
            self._broken_since = None

    def _fill(self) -> None:
        with self._filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(1 << 16))

    def _mount(self, options: str) -> None:
        remount = options.startswith("remount")
        kind = [] if remount else ["-t", "tmpfs", "tmpfs"]
        command = ["mount", "-o", options, *kind, str(self.disk)]
        subprocess.run(command, check=True, capture_output=True)


def what_is_missing() -> str:
    """Why there can be no such machine here; empty if there can."""
    if os.geteuid() != 0:
        return "a disk of one's own takes root"
    if _library() is None:
        return "libfaketime is missing: apt-get install faketime"
    return ""


def _library() -> Path | None:
    return next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
