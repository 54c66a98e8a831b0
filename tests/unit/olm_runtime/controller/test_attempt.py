"""Errors of any kind become outcomes, and errors of the disk say what to do."""

import asyncio
import errno
import logging
from pathlib import Path

import pytest

from olm_runtime.controller.attempt import attempt
from olm_runtime.disk import DiskError, disk_errors
from olm_runtime.errors import TerminalError, TransientError, WaitingError
from olm_runtime.outcome import Blocked, Outcome, Retry, Wait
from tests.cycles import never_looked_for

SEE = "see the log of the controller"


async def raising(error: BaseException) -> Outcome:
    raise error


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (TransientError("no", hint="do"), Retry("no\nhint: do")),
        (WaitingError("soon", seconds=3.0), Wait(3.0, "soon")),
        (TerminalError("never", reason="Broken"), Blocked("Broken", "never")),
        (ValueError("a secret"), Retry(f"internal error (ValueError); {SEE}")),
        (
            OSError(errno.ENOSPC, "No space left on device", "/cache/x"),
            Retry("No space left on device: /cache/x"),
        ),
        (OSError("without a number"), Retry(f"internal error (OSError); {SEE}")),
    ],
)
async def test_what_becomes_of_an_error(error: Exception, outcome: Outcome) -> None:
    assert await attempt(raising(error), "this") == outcome


async def test_an_error_is_gone_once_it_is_an_outcome() -> None:
    class HeldError(TransientError):
        """Held by a frame that it is raised in."""

    async def fail() -> Outcome:
        errors = [HeldError("no")]
        raise errors[0]

    with never_looked_for() as more_of:
        assert await attempt(fail(), "this") == Retry("no")
        assert more_of(HeldError) == []


async def test_only_errors_that_are_none_of_ours_are_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    await attempt(raising(TransientError("ours")), "this")
    assert not caplog.records
    await attempt(raising(ValueError("a bug")), "this")
    [record] = caplog.records
    assert (record.levelno, record.exc_info and str(record.exc_info[1])) == (logging.ERROR, "a bug")


async def test_the_end_of_the_program_gets_through() -> None:
    begun = asyncio.Event()

    async def endless() -> None:
        begun.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(attempt(endless(), "this"))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize(
    ("number", "hint"),
    [
        (errno.ENOSPC, "free space on the volume of /cache, or enlarge it"),
        (errno.EDQUOT, "free space on the volume of /cache, or enlarge it"),
        (errno.EROFS, "make /cache writable for the user that this program runs as"),
        (errno.EACCES, "make /cache writable for the user that this program runs as"),
        (errno.EIO, "check the volume of /cache"),
    ],
)
def test_what_to_do_about_an_error_of_the_disk(number: int, hint: str) -> None:
    with pytest.raises(DiskError) as raised, disk_errors("write it", Path("/cache")):
        raise OSError(number, "What It Was")
    assert (raised.value.message, raised.value.hint) == (
        "cannot write it: what it was: /cache",
        hint,
    )


def test_an_error_of_the_disk_names_the_path_that_the_system_names(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    with pytest.raises(DiskError, match=f"{missing}$"), disk_errors("read it", tmp_path):
        missing.read_bytes()
